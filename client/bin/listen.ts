import { randomBytes } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Delivery, isItsmError } from '@itsm-api/client';
import { eventTypes, signDelivery } from '@itsm-api/client/webhooks';
import { createClient, describeError, log } from './program.ts';

/*
 * The command `listen`. It forwards the events of a workspace to a receiver on this machine, without a public address.
 * The command registers a paused webhook, reads its pending deliveries, signs them, and sends them to the
 * receiver.
 */

const usage = `Usage: npx --no @itsm-api/client listen --forward-to <url> [--interval <seconds>]

Forwards the events of an ITSM workspace to a webhook receiver on your machine until you press Ctrl-C.
To write the types of custom fields, run \`npx --no @itsm-api/client types --help\`.

Options:
  --forward-to <url>    the URL of your receiver, such as http://localhost:4000/hook
  --interval <seconds>  the time between two checks for new events (default: 4)

Environment variables:
  ITSM_KEY        an API key with the scope webhooks:manage
  ITSM_URL        the URL of the server (default: http://127.0.0.1:3000)
  WEBHOOK_SECRET  the secret that signs the forwarded events (default: a new secret, which the program prints)
`;

/** The receiver must respond within the time that the server allows. */
const attemptTimeoutMs = 15_000;

/** Maximum wait for a rate limit before the deactivation of the webhook. The windows of the API last one minute. */
const maxDeactivationWaitMs = 65_000;

const options = readOptions();
const { ITSM_URL = 'http://127.0.0.1:3000', WEBHOOK_SECRET } = process.env;
const secret = WEBHOOK_SECRET || `whsec_${randomBytes(32).toString('base64')}`;
const client = createClient('listen', ITSM_URL);
const end = new AbortController();
const { signal } = end;
/** The options of the requests that continue during an outage of the server. */
const untilAvailable = { signal, maxRetries: Number.POSITIVE_INFINITY, maxWaitMs: Number.POSITIVE_INFINITY };
// The terminal and npx can both send the same signal. With `once`, the second signal would end the process.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => end.abort());
process.stdout.on('error', () => end.abort());

try {
  const webhook = await openWebhook();
  log(
    `Forwarding events of ${ITSM_URL} to ${options.forwardTo}. With the default rate limits, the program forwards about ` +
      `25 events per minute. Press Ctrl-C to stop.\nSigning secret: ${WEBHOOK_SECRET ? 'WEBHOOK_SECRET' : secret}`,
  );
  try {
    await forwardUntilAborted(webhook);
  } finally {
    log('Deactivating the webhook.');
    await client.webhooks.delete(webhook.id, { maxWaitMs: maxDeactivationWaitMs });
  }
} catch (error) {
  if (!isItsmError(error)) throw error;
  if (error.code !== 'ABORTED') {
    log(describeError(error));
    process.exitCode = 1;
  }
}

function readOptions(): { forwardTo: string; intervalMs: number } {
  try {
    const { positionals, values } = parseArgs({
      allowPositionals: true,
      options: {
        'forward-to': { type: 'string' },
        interval: { type: 'string', default: '4' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) {
      process.stdout.write(usage);
      process.exit();
    }
    if (positionals.join(' ') !== 'listen') throw new TypeError('The command must be `listen` or `types`.');
    const { 'forward-to': forwardTo = '', interval } = values;
    if (!/^https?:\/\//.test(forwardTo) || !URL.canParse(forwardTo)) {
      throw new TypeError('--forward-to must be a URL such as http://localhost:4000/hook');
    }
    if (!(Number(interval) > 0)) throw new TypeError('--interval must be a positive number of seconds');
    return { forwardTo, intervalMs: Number(interval) * 1000 };
  } catch (error) {
    log(`${(error as Error).message}\n\n${usage}`);
    process.exit(2);
  }
}

/** A webhook of this program. */
interface OpenWebhook {
  id: number;
  /** The id of the newest delivery of an earlier run, or 0. The program doesn't forward deliveries up to this id. */
  lastId: number;
}

/**
 * Creates a paused webhook, or reuses the webhook of an earlier run that was killed. The URL identifies the webhook.
 * The server never calls the URL, because the webhook stays paused, and no host name ends with `.invalid` (RFC 2606).
 */
async function openWebhook(): Promise<OpenWebhook> {
  const target = encodeURIComponent(options.forwardTo);
  const url = `https://itsm-listen.invalid/${encodeURIComponent(hostname())}?forward-to=${target}`;
  const settings = { secret, events: [...eventTypes], paused: true };
  for await (const webhook of client.webhooks.list({}, { signal })) {
    if (webhook.url !== url) continue;
    await client.webhooks.update(webhook.id, settings, { signal });
    const { data } = await client.deliveries.list(webhook.id, { perPage: 1 }, { signal });
    return { id: webhook.id, lastId: data[0]?.id ?? 0 };
  }
  // Without a signal: if the call were aborted, the server could still create the webhook.
  const { id } = await client.webhooks.create({ url, ...settings });
  return { id, lastId: 0 };
}

/** Forwards new deliveries, oldest first. */
async function forwardUntilAborted(webhook: OpenWebhook): Promise<void> {
  const forwarded = new Set<number>();
  while (!signal.aborted) {
    for (const delivery of await listNew(webhook, forwarded)) {
      await forward(delivery);
      forwarded.add(delivery.id);
    }
    await sleep(options.intervalMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Returns the pending deliveries that the program hasn't forwarded yet, oldest first. */
async function listNew({ id, lastId }: OpenWebhook, forwarded: ReadonlySet<number>): Promise<Delivery[]> {
  const found: Delivery[] = [];
  for await (const { data } of client.deliveries.list(id, { state: 'PENDING' }, untilAvailable).pages()) {
    const fresh = data.filter((delivery) => delivery.id > lastId && !forwarded.has(delivery.id));
    found.push(...fresh);
    if (fresh.length < data.length) break;
  }
  return found.reverse();
}

/** Sends a delivery to the receiver once, and prints the result. */
async function forward({ id, eventId, event }: Delivery): Promise<void> {
  const { body } = await client.deliveries.get(id, untilAvailable);
  const headers = await signDelivery({ body, id: eventId, type: event, deliveryId: id }, secret);
  const startedAt = performance.now();
  const result = await post({ 'user-agent': 'itsm-webhooks/1.0', ...headers }, body).catch(
    ({ cause, code, message }: Error & { code?: string }) => (cause instanceof Error ? cause.message : code || message),
  );
  const elapsedMs = Math.round(performance.now() - startedAt);
  process.stdout.write(`${new Date().toISOString()} ${event} ${eventId} → ${result} (${elapsedMs} ms)\n`);
}

/**
 * Sends a POST request to the receiver, and resolves to the status. Doesn't use `fetch`, which rejects if the receiver
 * sends a `100 Continue`.
 */
function post(headers: Record<string, string>, body: string): Promise<number | undefined> {
  const { request } = options.forwardTo.startsWith('https:') ? https : http;
  const attemptSignal = AbortSignal.any([signal, AbortSignal.timeout(attemptTimeoutMs)]);
  return new Promise((resolve, reject) => {
    request(options.forwardTo, { method: 'POST', headers, agent: false, signal: attemptSignal }, (response) => {
      resolve(response.statusCode);
      response.destroy();
    })
      .on('error', reject)
      // After a 101, Node.js closes the connection without an error.
      .on('close', () => reject(new Error('The receiver sent no final response.')))
      .end(body);
  });
}
