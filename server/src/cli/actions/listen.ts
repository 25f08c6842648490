import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { integerFromText, NewWebhook } from '@itsm-api/contract';
import type { Command } from 'commander';
import * as z from 'zod';
import type { Runtime } from '../../process/runtime.ts';
import { activeTenantContext, tenantContext } from '../../resources/tenants/queries.ts';
import { createWebhook, deleteWebhook } from '../../resources/webhooks/webhook-management.ts';
import { detailsOf } from '../../shared/validation.ts';
import { newSecret } from '../../webhooks/secrets/new-secret.ts';
import { CommandError, UsageError } from '../lib/cli-errors.ts';
import { eventList } from '../lib/event-list.ts';
import { programName, shell } from '../lib/help.ts';
import { formatReceived, isSigned, parseBody, type ReceivedWebhook } from '../lib/received-webhook.ts';
import { withRuntime } from '../lib/run-command.ts';

const Options = z
  .strictObject({
    subscribe: eventList.optional(),
    tenant: z.string().optional(),
    url: NewWebhook.shape.url.optional(),
    port: integerFromText(z.int().min(1).max(65_535)).optional(),
    secret: NewWebhook.shape.secret.optional(),
    body: z.boolean().default(false),
    json: z.boolean().default(false),
  })
  .refine(({ subscribe, tenant }) => subscribe === undefined || tenant !== undefined, {
    path: ['tenant'],
    message: 'is required with --subscribe',
  });
type Options = z.output<typeof Options>;

/** Receives webhooks until the process gets a signal. */
export async function run(this: Command): Promise<void> {
  const options = Options.safeParse(this.opts());
  if (!options.success) throw new UsageError(detailsOf(options.error.issues, 'is unknown'));
  await listenUntilInterrupted(options.data);
}

async function listenUntilInterrupted(options: Options): Promise<void> {
  const { subscribe, tenant } = options;
  const interrupt = new AbortController();
  const end = () => interrupt.abort();
  // The terminal and the package manager can both send the same signal. With `once`, the second one would end the
  // process.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end);
  // If a reader such as `head` closes stdout, deactivates the subscription before the process exits.
  process.stdout.removeAllListeners('error').on('error', end);

  const secret = options.secret ?? (subscribe === undefined ? undefined : newSecret());
  const { server, url } = await receive({ ...options, secret });
  try {
    if (subscribe === undefined || tenant === undefined || secret === undefined) {
      writeLine(`Listening for webhooks on ${url}. Press Ctrl-C to stop.`);
      await untilAborted(interrupt.signal);
      return;
    }
    const webhook = { url: options.url ?? url, secret, events: subscribe };
    const id = await withRuntime((runtime) => register(runtime, tenant, webhook));
    writeLine(`Subscription ${id} sends ${subscribe.join(', ')} of ${tenant} to ${webhook.url}. Press Ctrl-C to stop.`);
    writeLine(`To send an example event: ${programName} ${shell`webhooks test ${id} --tenant ${tenant}`}`);
    await untilAborted(interrupt.signal);
    await deactivateSubscription(tenant, id);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

async function receive({ port, subscribe, secret, json, body }: Options): Promise<{ server: Server; url: string }> {
  const server = createServer(async (request, response) => {
    // Ignores a request if the client closes the connection before sending the whole body.
    const received = await text(request).catch(() => undefined);
    if (received === undefined) return;
    response.end();
    const headers = request.headers as Record<string, string>;
    const verified = secret === undefined ? null : isSigned(secret, headers, received);
    const arrival: ReceivedWebhook = { at: new Date().toISOString(), verified, headers, body: parseBody(received) };
    process.stdout.write(json ? `${JSON.stringify(arrival)}\n` : formatReceived(arrival, { body }));
  });
  server.listen(port ?? (subscribe === undefined ? 4000 : 0), '127.0.0.1');
  await once(server, 'listening').catch((error) => {
    throw error.code === 'EADDRINUSE'
      ? new CommandError(`--port: ${port ?? 4000} is in use. Choose a different port`)
      : error;
  });
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

async function register(runtime: Runtime, tenant: string, webhook: NewWebhook): Promise<number> {
  const context = await activeTenantContext(runtime, tenant);
  if (!context.targets.allowPrivate && webhook.url.startsWith('http://127.0.0.1:')) {
    throw new CommandError(
      'The server sends webhooks to public hosts only. Use --url with a public URL that forwards to --port, or set ' +
        'WEBHOOK_ALLOW_PRIVATE_TARGETS=true for the server and this command',
    );
  }
  return (await createWebhook(context, webhook)).id;
}

async function deactivateSubscription(tenant: string, id: number): Promise<void> {
  try {
    await withRuntime(async (runtime) => deleteWebhook(await tenantContext(runtime, tenant), id));
    writeLine(`\nDeactivated the subscription ${id}.`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const call = shell`webhooks deactivate ${id} --tenant ${tenant}`;
    throw new CommandError(
      `The subscription ${id} is still active: ${reason}. To deactivate it, run ${programName} ${call}`,
    );
  }
}

function untilAborted(signal: AbortSignal): Promise<unknown> {
  return signal.aborted ? Promise.resolve() : once(signal, 'abort');
}

function writeLine(line: string): void {
  process.stderr.write(`${line}\n`);
}
