import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { findWrongTotals } from '@itsm-api/server/resources/tickets/counters-check.ts';
import { afterEach, expect, it } from 'vitest';
import { processCommandLine, spawnCommand } from '../../cli/itsm.ts';
import type { Answer } from '../../support/api.ts';
import { query, withDatabase } from '../../support/database.ts';
import { openDatabase, openInstallation } from '../../support/installation.ts';
import { steadyPort } from '../../support/postgres-server.ts';
import { eventually, startReceiver } from '../../support/receiver.ts';
import { spawnServer } from '../../support/server-process.ts';
import { addWorkspace, subscribe } from '../../support/subscribed-workspaces.ts';
import { skipUnlessHaproxy, startCellsHaproxy } from './haproxy.ts';

/* Moves a tenant to another cell behind HAProxy while clients use it, and kills each of the commands once. */

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const host = 'acme.example';

interface Response {
  status: number;
  etag: string | undefined;
  body: Answer['body'];
}

/** Returns a function that sends requests through the proxy, and repeats them while the tenant is in maintenance. */
function clientOf(port: number, key: string) {
  const send = async (method: string, path: string, body?: object, more: object = {}): Promise<Response> => {
    const headers = {
      host,
      authorization: `Bearer ${key}`,
      ...(body && { 'content-type': 'application/json' }),
      ...more,
    };
    const sent = request({ port, host: '127.0.0.1', method, path: `/api/public/v1${path}`, headers });
    sent.end(body && JSON.stringify(body));
    const [response] = await once(sent, 'response');
    const content = await text(response);
    const status = response.statusCode ?? 0;
    if (status === 503 && response.headers['retry-after'] === '30') {
      await sleep(50);
      return send(method, path, body, more);
    }
    return { status, etag: response.headers.etag, body: JSON.parse(content) };
  };
  return send;
}

interface WrittenTicket {
  id: number;
  etag: string | undefined;
  title: string;
  idempotencyKey: string;
}

/** Creates and updates tickets until `isStopped` returns true. Returns the acknowledged tickets. */
async function write(
  send: ReturnType<typeof clientOf>,
  name: string,
  isStopped: () => boolean,
): Promise<WrittenTicket[]> {
  const written: WrittenTicket[] = [];
  for (let count = 0; !isStopped(); count++) {
    const [title, idempotencyKey] = [`${name} ${count}`, `${name}-${count}`];
    const created = await send('POST', '/tickets', ticketOf(title), { 'idempotency-key': idempotencyKey });
    expect(created, title).toMatchObject({ status: 201 });
    const { id } = created.body.data;
    const updated = await send('PATCH', `/tickets/${id}`, { priority: 'HIGH' }, { 'if-match': created.etag });
    expect(updated, title).toMatchObject({ status: 200 });
    written.push({ id, etag: updated.etag, title, idempotencyKey });
  }
  return written;
}

function ticketOf(title: string) {
  return { title, description: 'x', type: 'INCIDENT', category: 'SOFTWARE' };
}

/** Follows the changes until `isStopped` returns true. Adds the tickets to `copy`. Returns the first cursor. */
async function follow(
  send: ReturnType<typeof clientOf>,
  copy: Map<number, { etag: string }>,
  isStopped: () => boolean,
) {
  const cursors: string[] = [];
  while (!isStopped()) {
    const query = cursors.length === 0 ? '' : `&cursor=${cursors.at(-1)}`;
    const { status, body } = await send('GET', `/tickets/changes?perPage=100${query}`);
    expect(status).toBe(200);
    for (const ticket of body.data) copy.set(ticket.id, ticket);
    cursors.push(body.meta.nextCursor);
    if (!body.meta.hasMore) await sleep(50);
  }
  return cursors[0];
}

it('loses no write, event or change if a tenant moves to another cell while clients use it', {
  timeout: 180_000,
  ...skipUnlessHaproxy(),
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'itsm-move-'));
  stops.push(() => rm(folder, { recursive: true }));
  const limits = { STATEMENT_TIMEOUT_MS: '4000', CELL: '0' };
  const source = await openInstallation(stops, {}, limits);
  await query(source.postgres.url, 'CREATE DATABASE cell_1');
  const WEBHOOK_SECRET_KEY = `${Buffer.alloc(32, 1).toString('base64')},${source.env.WEBHOOK_SECRET_KEY}`;
  const targetUrl = withDatabase(source.postgres.url, 'cell_1');
  const target = await openDatabase(targetUrl, stops, { ...limits, CELL: '1', WEBHOOK_SECRET_KEY });
  const ports = [await steadyPort(), await steadyPort()] as const;
  const processes = [source, target].map(({ env }, cell) => spawnServer({ ...env, PORT: String(ports[cell]) }));
  stops.push(() => {
    for (const { child } of processes) child.kill('SIGTERM');
    return Promise.all(processes.map(({ exited }) => exited));
  });
  const haproxy = await startCellsHaproxy(folder, [`127.0.0.1:${ports[0]}`, `127.0.0.1:${ports[1]}`]);
  stops.push(haproxy.stop);
  const receiver = await startReceiver();
  stops.push(receiver.close);

  // A tenant and a key of the target have the same ids as in the source, where possible.
  await addWorkspace(target.runtime, 'Other');
  const acme = await addWorkspace(source.runtime, 'Acme');
  await subscribe(acme, { name: 'hook', url: receiver.url, events: ['ticket.created'] });
  // These rows are many, so that the test can kill the commands while they run.
  await query(
    source.postgres.url,
    `INSERT INTO audit_entries (tenant_id, action, address, user_agent)
       SELECT $1, 'test', '', repeat('x', 300) FROM generate_series(1, 60000)`,
    [acme.tenantId],
  );
  await Promise.all(processes.map(({ ready }) => ready));

  let isStopped = false;
  const copy = new Map<number, { etag: string }>();
  const send = clientOf(haproxy.port, acme.key);
  const writers = Promise.all(['a', 'b', 'c'].map((name) => write(send, name, () => isStopped)));
  let isFollowed = false;
  const following = follow(send, copy, () => isFollowed);
  await sleep(1500);

  const [atSource, atTarget] = [source, target].map(({ env }) => processCommandLine(env.DATABASE_URL ?? '', env));
  const moved = join(folder, 'moved');
  const succeed = async (run: typeof atSource, command: string) =>
    expect(await run?.(command)).toMatchObject({ code: 0 });
  const kill = async ({ env }: typeof target, command: string, isDue: (output: string) => boolean) => {
    const child = spawnCommand(command.split(' '), env.DATABASE_URL ?? '', env);
    let output = '';
    child.stderr.on('data', (chunk) => {
      output += chunk;
    });
    while (!isDue(output) && child.exitCode === null) await sleep(2);
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    expect([command, child.signalCode], output).toEqual([command, 'SIGKILL']);
  };

  const since = performance.now();
  await succeed(atSource, 'tenants maintenance Acme read-only');
  // Shortens the wait, because all processes get the notification at once and no request takes seconds.
  await query(source.postgres.url, "UPDATE tenants SET maintenance_since = maintenance_since - interval '18 seconds'");
  const isPartial = (name: string) =>
    name.startsWith('moved.') && existsSync(join(folder, name, 'audit_entries.jsonl'));
  await kill(source, `tenants export Acme ${moved}`, () => readdirSync(folder).some(isPartial));
  expect(existsSync(moved)).toBe(false);
  await succeed(atSource, `tenants export Acme ${moved}`);

  await kill(target, `tenants import ${moved}`, (output) => output.includes('audit_entries: '));
  expect(await atTarget?.('tenants maintenance Acme off')).toMatchObject({ code: 1 });
  await succeed(atTarget, 'tenants delete Acme --yes');
  await succeed(atTarget, `tenants import ${moved}`);
  const unavailableSince = performance.now();
  await succeed(atSource, 'tenants maintenance Acme on');
  await haproxy.route(host, 'cell-1');
  const [writesMs, readsMs] = [since, unavailableSince].map((began) => Math.round(performance.now() - began));
  await query(source.postgres.url, "UPDATE tenants SET unavailable_since = unavailable_since - interval '18 seconds'");

  await kill(source, `tenants delete Acme --moved ${moved} --yes`, (output) => output.includes(': deleted '));
  await succeed(atSource, `tenants delete Acme --moved ${moved} --yes`);
  await sleep(1000);
  isStopped = true;
  const written = (await writers).flat();
  console.log(`${written.length} tickets; writes were interrupted for ${writesMs} ms, reads for ${readsMs} ms`);

  // The copy of the client that followed the changes has every acknowledged state.
  await eventually(() => {
    expect(written.filter(({ id, etag }) => copy.get(id)?.etag !== etag)).toEqual([]);
  });
  isFollowed = true;
  const firstCursor = await following;
  const tickets = await query<{ id: string; number: number }>(
    targetUrl,
    'SELECT id, number FROM tickets WHERE tenant_id = $1 ORDER BY number',
    [acme.tenantId],
  );
  expect(tickets.map(({ id }) => Number(id)).sort()).toEqual(written.map(({ id }) => id).sort());
  expect(tickets.map(({ number }) => number)).toEqual(tickets.map((_, index) => index + 1));
  expect(await findWrongTotals(target.runtime.databases.options)).toEqual([]);

  // The receiver gets the event of each ticket, with the same id as in the database.
  const events = await query<{ id: string }>(targetUrl, 'SELECT public_id AS id FROM events WHERE tenant_id = $1', [
    acme.tenantId,
  ]);
  expect(events).toHaveLength(written.length);
  await eventually(() => {
    const received = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
    expect(events.filter(({ id }) => !received.has(id))).toEqual([]);
  }, 20_000);

  // The target returns the stored response for a request that was sent to the source.
  const [{ title, idempotencyKey, id } = { title: '', idempotencyKey: '', id: 0 }] = written;
  const repeated = await send('POST', '/tickets', ticketOf(title), { 'idempotency-key': idempotencyKey });
  expect([repeated.status, repeated.body.data.id]).toEqual([201, id]);
  // A cursor of the source returns all rows again.
  const again = await send('GET', `/tickets/changes?perPage=100&cursor=${firstCursor}`);
  expect(again.body.data).toHaveLength(Math.min(100, written.length));

  const [remaining] = await query(
    source.postgres.url,
    'SELECT name, completed_at IS NOT NULL AS done FROM deleted_tenants',
  );
  expect(remaining).toEqual({ name: 'Acme', done: true });
  expect(await query(source.postgres.url, 'SELECT FROM tickets')).toEqual([]);
});
