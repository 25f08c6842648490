import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { integerFromText, NewWebhook } from '@itsm-api/contract';
import type { Command } from 'commander';
import * as z from 'zod';
import { detailsOf } from '../validation.ts';
import { signatureHeaders } from '../webhooks/sign.ts';
import { CommandError, UsageError } from './errors.ts';
import { examples } from './help.ts';

const Options = z.strictObject({
  port: integerFromText(z.int().min(1).max(65_535)),
  secret: NewWebhook.shape.secret.optional(),
  json: z.boolean().optional(),
});

/** What arrived, and whether its signatures are right; null where there is no secret to tell by. */
interface Arrival {
  at: string;
  verified: boolean | null;
  headers: Record<string, string>;
  body: unknown;
}

/** A receiver for trying webhooks out: prints each delivery and says whether its signatures are right. */
export function addListen(program: Command): void {
  program
    .command('listen')
    .description('Receive webhooks on this machine, verify their signatures and print them')
    .option('--port <port>', 'the port to listen on', '4000')
    .option('--secret <secret>', 'the secret of the subscription; without it nothing can be verified')
    .option('--json', 'print a JSON document per delivery')
    .addHelpText('after', examples('listen --port 4000 --secret a-secret-of-24-characters'))
    .action(async (given) => {
      const options = Options.safeParse(given);
      if (!options.success) throw new UsageError(detailsOf(options.error.issues, 'is unknown'));
      await listen(options.data);
    });
}

async function listen({ port, secret, json = false }: z.output<typeof Options>): Promise<void> {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    response.end();
    const headers = request.headers as Record<string, string>;
    const verified = secret === undefined ? null : isSigned(secret, headers, body);
    print({ at: new Date().toISOString(), verified, headers, body: parsed(body) }, json);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening').catch((error) => {
    throw error.code === 'EADDRINUSE' ? new CommandError(`--port: ${port} is in use; give another one`) : error;
  });
  const { port: listening } = server.address() as AddressInfo;
  process.stderr.write(`Listening on http://127.0.0.1:${listening}/ for webhooks. Ctrl-C ends it.\n`);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      server.close();
      server.closeAllConnections();
    });
  }
  await once(server, 'close');
}

/** Whether both signatures are what the secret makes of these bytes. */
function isSigned(secret: string, headers: Record<string, string>, body: string): boolean {
  const timestamp = new Date(Number(headers['webhook-timestamp']) * 1000);
  if (Number.isNaN(timestamp.getTime())) return false;
  const right = signatureHeaders(secret, { id: headers['webhook-id'] ?? '', timestamp, body });
  return ['x-service-signature', 'webhook-signature'].every((name) => same(headers[name] ?? '', right[name] ?? ''));
}

function same(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

function print(arrival: Arrival, json: boolean): void {
  const { at, verified, headers, body } = arrival;
  if (json) {
    process.stdout.write(`${JSON.stringify(arrival)}\n`);
    return;
  }
  const verdict = verified === null ? 'not verified: no --secret' : verified ? 'signatures right' : 'SIGNATURE WRONG';
  process.stdout.write(
    `\n${at}  ${headers['x-service-event'] ?? 'no event'}  attempt ${headers['x-service-attempt'] ?? '?'}  ${verdict}\n` +
      `webhook-id ${headers['webhook-id'] ?? '-'}\n${typeof body === 'string' ? body : JSON.stringify(body, undefined, 2)}\n`,
  );
}
