import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { unwrap } from '@itsm-api/client/webhooks';
import { EventType } from '@itsm-api/contract';
import { requestHeaders } from '@itsm-api/server/webhooks/delivery/attempt.ts';
import { afterAll, afterEach, expect } from 'vitest';
import { api, it, workspace } from '../support/fixture.ts';
import { pnpm } from '../support/pnpm.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { eventually } from '../support/sender.ts';

/** Runs the command `listen` of `@itsm-api/client` against a server without workers, so only the program sends events. */
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
let receiver: Receiver;
let baseUrl: string;
let status = 204;
const running: ChildProcess[] = [];

it.beforeAll(async () => {
  receiver = await startReceiver((_, response) => {
    // The program must ignore this response, which it didn't request.
    response.writeContinue();
    response.writeHead(status).end('Ignored.');
  });
  baseUrl = await api.app.listen({ port: 0, host: '127.0.0.1' });
});
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});
afterAll(async () => {
  await receiver.close();
});

function run(args: string[], env: Record<string, string> = {}) {
  const file = fileURLToPath(new URL('../../client/bin/itsm-client.ts', import.meta.url));
  const child = spawn(process.execPath, [file, ...args], {
    env: { ...process.env, ITSM_URL: baseUrl, WEBHOOK_SECRET: secret, ...env },
  });
  running.push(child);
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    exit: new Promise<number | null>((resolve) => child.on('close', resolve)),
  };
}

/** Starts the program with a key that has only the scope `webhooks:manage`, and waits until it forwards events. */
async function listen(env: Record<string, string> = {}) {
  const key = await workspace.createKey({ scopes: ['webhooks:manage'] });
  const program = run(['listen', '--forward-to', receiver.url, '--interval', '0.05'], { ITSM_KEY: key, ...env });
  await eventually(() => expect(program.stderr()).toContain('Press Ctrl-C to stop.'));
  return program;
}

const activeWebhooks = async () => (await workspace.call('GET', '/webhooks')).body.data;

it('forwards events with the signatures and headers of the server, and deactivates its webhook on SIGTERM', async () => {
  const program = await listen();
  expect(program.stderr()).toContain('about 25 events per minute');
  expect(program.stderr()).not.toContain(secret);
  const [webhook, ...others] = await activeWebhooks();
  expect(others).toEqual([]);
  expect(webhook).toMatchObject({ events: EventType.options, health: 'PAUSED' });
  expect(new URL(webhook.url).hostname).toMatch(/\.invalid$/);

  const created = await workspace.createTicket({ title: 'Ärger mit dem VPN' });
  await eventually(() => expect(receiver.received).toHaveLength(1));
  status = 500;
  await workspace.call('PATCH', `/tickets/${created.id}`, { priority: 'CRITICAL' });
  await eventually(() => expect(program.stdout().match(/\n/g)).toHaveLength(2));

  const events = await Promise.all(receiver.received.map(({ body, headers }) => unwrap(body, headers, secret)));
  expect(events).toMatchObject([
    { type: 'ticket.created', ticket: { id: created.id, title: created.title } },
    { type: 'ticket.updated', changes: { priority: { from: 'MEDIUM', to: 'CRITICAL' } } },
  ]);
  const { data: deliveries } = (await workspace.call('GET', `/webhooks/${webhook.id}/deliveries`)).body;
  for (const [index, { id, eventId, event }] of deliveries.reverse().entries()) {
    const { headers = {}, body = '' } = receiver.received[index] ?? {};
    const timestamp = new Date(Number(headers['webhook-timestamp']) * 1000);
    const fields = { id, attempt: 1, body, eventId, eventType: event };
    expect(headers).toMatchObject(requestHeaders(fields, { secret, previous: [] }, timestamp));
  }
  const lines = program.stdout().trim().split('\n');
  expect(lines).toEqual([
    expect.stringMatching(/^\d{4}-\S+Z ticket\.created evt_\w+ → 204 \(\d+ ms\)$/),
    expect.stringMatching(/^\d{4}-\S+Z ticket\.updated evt_\w+ → 500 \(\d+ ms\)$/),
  ]);

  program.child.kill('SIGTERM');
  expect(await program.exit, program.stderr()).toBe(0);
  expect(await activeWebhooks()).toEqual([]);
});

it('reuses the webhook of a killed run, and forwards only new events', async () => {
  status = 204;
  const killed = await listen();
  const [webhook] = await activeWebhooks();
  killed.child.kill('SIGKILL');
  await killed.exit;
  await workspace.createTicket({ title: 'Earlier' });
  receiver.received.length = 0;

  const program = await listen({ WEBHOOK_SECRET: '' });
  expect((await activeWebhooks()).map(({ id }: { id: number }) => id)).toEqual([webhook.id]);
  const generated = /^Signing secret: (whsec_\S+)$/m.exec(program.stderr())?.[1] ?? '';
  await workspace.createTicket({ title: 'Later' });
  await eventually(() => expect(receiver.received).toHaveLength(1));
  const { headers = {}, body = '' } = receiver.received[0] ?? {};
  expect(await unwrap(body, headers, generated)).toMatchObject({ ticket: { title: 'Later' } });
  program.child.kill('SIGINT');
  expect(await program.exit, program.stderr()).toBe(0);
  expect(await activeWebhooks()).toEqual([]);
});

it('waits longer after each failed request while the server is unavailable', async () => {
  const failedAt: number[] = [];
  const unavailable = createServer(({ method, url = '' }, response) => {
    if (url.includes('/deliveries')) {
      failedAt.push(performance.now());
      response.writeHead(503).end('Bad gateway.');
      return;
    }
    const data = method === 'POST' ? { id: 1 } : [];
    response.end(JSON.stringify({ success: true, data, meta: { page: 1, perPage: 100, totalCount: 0 } }));
  });
  await new Promise<void>((resolve) => unavailable.listen(0, '127.0.0.1', resolve));
  const program = await listen({ ITSM_URL: `http://127.0.0.1:${(unavailable.address() as AddressInfo).port}` });
  await eventually(() => expect(failedAt.length).toBeGreaterThanOrEqual(4));
  const [, , third = 0, fourth = 0] = failedAt;
  expect(fourth - third).toBeGreaterThanOrEqual(999);
  expect(program.stderr()).toMatch(/: UNEXPECTED_ANSWER; retrying in \d\.\d s$/m);
  unavailable.closeAllConnections();
  unavailable.close();
});

it('starts with the command of the README', async () => {
  const { stdout } = await pnpm(['listen', '--help'], fileURLToPath(new URL('../..', import.meta.url)));
  expect(stdout).toContain('Usage: npx --no @itsm-api/client listen --forward-to <url>');
});

it('reports a wrong command, option or API key without a stack trace', async () => {
  const [command, without, invalid, wrong, missing] = await Promise.all(
    [
      run([]),
      run(['listen']),
      run(['listen', '--forward-to', 'localhost:4000']),
      run(['listen', '--forward-to', receiver.url], { ITSM_KEY: 'itsm_wrong' }),
      run(['listen', '--forward-to', receiver.url], { ITSM_KEY: '' }),
    ].map(async (program) => [await program.exit, program.stderr()] as const),
  );
  expect(command).toEqual([2, expect.stringMatching(/^The command must be `listen` or `types`\.\n\nUsage: /)]);
  expect(without).toEqual([2, expect.stringContaining('--forward-to must be a URL')]);
  expect(invalid).toEqual([2, expect.stringContaining('--forward-to must be a URL')]);
  expect(wrong).toEqual([1, expect.stringMatching(/^The API key is invalid.*\(INVALID_API_KEY, request \w+\)\n$/)]);
  expect(missing).toEqual([2, expect.stringMatching(/^apiKey is invalid.* Set ITSM_URL and ITSM_KEY\.\n$/)]);
});
