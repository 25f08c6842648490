import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathPrefix } from '@itsm-api/contract';
import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { type Answer, answerOf, errorOf, startApi } from '../../support/api.ts';
import { compiled } from '../../support/compiled.ts';
import { cloneDatabase, execute, query } from '../../support/database.ts';
import { openInstallation } from '../../support/installation.ts';
import { isNightly } from '../../support/nightly.ts';
import { pnpmCommand } from '../../support/pnpm.ts';
import { steadyPort } from '../../support/postgres-server.ts';
import { startReceiver } from '../../support/receiver.ts';
import { type ServerProcess, spawnServer } from '../../support/server-process.ts';
import { skipUnlessLinux } from '../../support/skip-unless.ts';
import { addWorkspace } from '../../support/subscribed-workspaces.ts';
import { createWorkspace, ticket, webhook } from '../../support/workspace.ts';

/**
 * Tests how a server process reports that it isn't ready, and how it exits while clients, webhook receivers or
 * PostgreSQL are slow.
 */
const root = join(import.meta.dirname, '../../..');
const WEBHOOK_SECRET_KEY = Buffer.alloc(32, 1).toString('base64');
/** The maximum time in seconds from the signal to the exit of a process that has the default DRAIN_SECONDS. */
const maxSeconds = 25;

/** Cleanup functions, which run in reverse order after each test. */
const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

interface Server extends ServerProcess {
  url: string;
  operationsUrl: string;
}

/** Starts a server process on two free ports. */
async function start(env: Record<string, string>): Promise<Server> {
  const [port, operationsPort] = [await steadyPort(), await steadyPort()];
  const server = spawnServer({
    WEBHOOK_SECRET_KEY,
    WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
    ...env,
    PORT: String(port),
    OPERATIONS_PORT: String(operationsPort),
  });
  stops.push(async () => {
    server.child.kill('SIGKILL');
    await server.exited;
  });
  return { ...server, url: `http://127.0.0.1:${port}`, operationsUrl: `http://127.0.0.1:${operationsPort}` };
}

/** Creates a database with an API key that has all scopes. */
async function database(): Promise<{ url: string; key: string }> {
  const { url, drop } = await cloneDatabase();
  stops.push(drop);
  const api = await startApi({ databaseUrl: url });
  const { key } = await createWorkspace(api);
  await api.close();
  return { url, key };
}

/** Opens a database connection that closes when the test ends. */
async function client(url: string): Promise<pg.Client> {
  const opened = new pg.Client({ connectionString: url });
  await opened.connect();
  stops.push(() => opened.end());
  return opened;
}

async function request(url: string, options?: RequestInit): Promise<Answer> {
  return answerOf(await fetch(url, { ...options, signal: AbortSignal.timeout(30_000) }));
}

/** Sends a signal to a process. Returns the exit code and the time in seconds until the process exited. */
async function end({ child, exited }: ServerProcess, signal: NodeJS.Signals = 'SIGTERM') {
  const since = performance.now();
  child.kill(signal);
  await exited;
  return { code: child.exitCode, seconds: (performance.now() - since) / 1000 };
}

/** Opens a TCP connection and sends only the given text. */
async function connection(url: string, text = ''): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => undefined).resume();
  await once(socket, 'connect');
  if (text !== '') socket.write(text);
  stops.push(() => socket.destroy());
  return socket;
}

describe('a server process', () => {
  it('responds to /livez but is not ready during the database migration', async () => {
    const { url, drop } = await cloneDatabase();
    stops.push(drop);
    await execute(url, 'DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    const other = await client(url);
    await other.query('SELECT pg_advisory_lock(1769239405, 3)');

    const server = await start({ DATABASE_URL: url });
    await expect
      .poll(() =>
        request(`${server.url}/readyz`).then(
          ({ text }) => text,
          () => '',
        ),
      )
      .toBe('migrating');
    expect(await request(`${server.url}/readyz`)).toMatchObject({ status: 503 });
    expect(await request(`${server.url}/livez`)).toMatchObject({ status: 200, text: 'ok' });
    const tickets = await request(`${server.url}${pathPrefix}/tickets`);
    expect(tickets.status).toBe(503);
    expect(tickets.headers['retry-after']).toBe('5');
    const detail = await request(`${server.operationsUrl}/readyz`);
    expect(detail.status).toBe(503);
    expect(JSON.parse(detail.text)).toMatchObject({ status: 'migrating', checks: { migrations: { ok: false } } });

    await other.query('SELECT pg_advisory_unlock(1769239405, 3)');
    await server.ready;
    expect(await request(`${server.url}/readyz`)).toMatchObject({ status: 200, text: 'ok' });
    expect(await request(`${server.url}${pathPrefix}/ping`)).toMatchObject({ status: 200 });
    // The listeners for PostgreSQL notifications connect shortly after the start.
    const health = () => request(`${server.operationsUrl}/readyz`).then(({ text }) => JSON.parse(text));
    await expect.poll(health).toMatchObject({ status: 'ok' });
    expect(Object.keys((await health()).checks).sort()).toEqual(
      ['database', 'keyListener', 'migrations', 'rateLimitStore', 'wakeListener', 'workerLoops'].sort(),
    );
    expect((await end(server)).code).toBe(0);
  });

  it('reports a PostgreSQL outage on the operations port, but stays ready', async () => {
    const { postgres, env } = await openInstallation(stops as (() => Promise<unknown>)[]);
    const server = await start(env);
    await server.ready;
    const thaw = await postgres.freeze();
    try {
      expect(await request(`${server.url}/readyz`)).toMatchObject({ status: 200, text: 'ok' });
      const detail = await request(`${server.operationsUrl}/readyz`);
      expect(detail.status).toBe(200);
      expect(JSON.parse(detail.text)).toMatchObject({ status: 'degraded', checks: { database: { ok: false } } });
    } finally {
      thaw();
    }
  });

  it('treats a full disk as a database outage in responses, health checks and logs', async () => {
    const { url, key } = await database();
    const reason = 'could not extend file "base/5/16384": No space left on device';
    await execute(
      url,
      `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN RAISE EXCEPTION '${reason}' USING ERRCODE = 'disk_full'; END $$;
       CREATE TRIGGER full_disk BEFORE INSERT ON tickets FOR EACH ROW EXECUTE FUNCTION fail();
       CREATE TRIGGER full_disk BEFORE INSERT ON assets FOR EACH ROW EXECUTE FUNCTION fail()`,
    );
    const server = await start({ DATABASE_URL: url, DRAIN_SECONDS: '0', LOG_LEVEL: 'warn' });
    let logged = '';
    server.child.stdout?.on('data', (chunk: Buffer) => {
      logged += chunk;
    });
    await server.ready;
    const post = (path: string, body: object) =>
      request(`${server.url}${pathPrefix}/${path}`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const answers = [
      ...(await Promise.all(Array.from({ length: 9 }, () => post('tickets', ticket)))),
      await post('assets', { name: 'Laptop', assetTag: 'LT-1', type: 'LAPTOP' }),
    ];
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 500, headers: { 'retry-after': expect.stringMatching(/^[1-5]$/) } });
      expect(errorOf(answer).message).toMatch(/^The database is unavailable\. Retry in \d seconds?\.$/);
    }
    const detail = await request(`${server.operationsUrl}/readyz`);
    expect(JSON.parse(detail.text)).toMatchObject({
      status: 'degraded',
      checks: { database: { ok: false, error: expect.stringContaining(reason) } },
    });
    expect((await request(`${server.url}/readyz`)).text).toBe('ok');
    expect((await end(server)).code).toBe(0);
    const lines = logged
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.filter(({ msg }) => msg === 'failed because the database is unavailable')).toMatchObject([
      { failed: { requests: 10 } },
    ]);
    expect(lines.filter(({ msg }) => msg === 'request failed')).toEqual([]);
  });

  it('serves requests for DRAIN_SECONDS after SIGTERM, but is no longer ready', async () => {
    const { url, key } = await database();
    const server = await start({ DATABASE_URL: url, DRAIN_SECONDS: '2' });
    await server.ready;
    const before = await request(`${server.url}${pathPrefix}/tickets`, { headers: { 'x-api-key': key } });
    expect(before.headers.connection).toBe('keep-alive');

    const ended = end(server);
    await expect.poll(() => server.output()).toContain('Stopping');
    await sleep(500);
    const during = await request(`${server.url}${pathPrefix}/tickets`, { headers: { 'x-api-key': key } });
    expect(during.status).toBe(200);
    expect(during.headers.connection).toBe('close');
    expect(await request(`${server.url}/readyz`)).toMatchObject({ status: 503, text: 'stopping' });
    expect(await request(`${server.url}/livez`)).toMatchObject({ status: 200, text: 'ok' });
    expect(JSON.parse((await request(`${server.operationsUrl}/readyz`)).text)).toMatchObject({ status: 'stopping' });
    const { code, seconds } = await ended;
    expect(code).toBe(0);
    expect(seconds).toBeGreaterThan(2);
    expect(seconds).toBeLessThan(8);
    // At exit, the process writes its usage counts. The counts include the last request.
    expect(await query(url, 'SELECT sum(requests)::int AS requests FROM usage_hours WHERE key_id <> 0')).toEqual([
      { requests: 2 },
    ]);
  });

  it("serves requests and exits with code 0 if the server can't write its log", async () => {
    const { url, key } = await database();
    const port = await steadyPort();
    const child = spawn(process.execPath, [join(root, 'server/src/main.ts')], {
      env: {
        PATH: process.env.PATH,
        ...compiled,
        DATABASE_URL: url,
        WEBHOOK_SECRET_KEY,
        PORT: String(port),
        DRAIN_SECONDS: '3',
        LOG_LEVEL: 'trace',
      },
      // Standard output goes to a full disk, and standard error goes to a closed pipe.
      stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
    });
    child.stderr?.destroy();
    stops.push(() => child.kill('SIGKILL'));
    const exited = once(child, 'exit');
    const status = (path: string) =>
      request(`http://127.0.0.1:${port}${path}`, { headers: { 'x-api-key': key } }).then(
        ({ status }) => status,
        () => 0,
      );
    await expect.poll(() => status('/readyz')).toBe(200);
    for (let requests = 0; requests < 20; requests++) expect(await status(`${pathPrefix}/tickets`)).toBe(200);
    child.kill('SIGTERM');
    await expect.poll(() => status('/readyz')).toBe(503);
    expect(await status(`${pathPrefix}/tickets`)).toBe(200);
    expect(await exited).toEqual([0, null]);
  });

  const endings: [string, (terminal: ChildProcess) => unknown][] = [
    ['Ctrl-C', ({ stdin }) => stdin?.write('\x03')],
    ['a closed terminal', (terminal) => terminal.kill('SIGKILL')],
  ];
  it.each(isNightly ? endings : endings.slice(0, 1))(
    'exits without draining after %s, if `npx pnpm start` started it',
    skipUnlessLinux(),
    async (_, end) => {
      const { url } = await database();
      const [port, operationsPort] = [await steadyPort(), await steadyPort()];
      // npx runs pnpm in a shell, which also gets the signals of the terminal.
      const command = `${pnpmCommand.map((word) => `'${word}'`).join(' ')} start; true`;
      const terminal = spawn('script', ['-qefc', command, '/dev/null'], {
        cwd: root,
        env: {
          ...process.env,
          DATABASE_URL: url,
          WEBHOOK_SECRET_KEY,
          PORT: String(port),
          OPERATIONS_PORT: String(operationsPort),
          // A process that drains would exit after the poll has failed.
          DRAIN_SECONDS: '300',
        },
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      stops.push(() => terminal.kill('SIGKILL'));
      const status = (path: string) =>
        request(`http://127.0.0.1:${port}${path}`).then(
          (response) => response.status,
          () => 0,
        );
      await expect.poll(() => status('/readyz')).toBe(200);
      end(terminal);
      await expect.poll(() => status('/livez')).toBe(0);
    },
  );

  it('responds to complete requests and closes all other connections before it exits', async () => {
    const { url, key } = await database();
    const server = await start({ DATABASE_URL: url, ROLES: 'api' });
    await server.ready;
    const locking = await client(url);
    await locking.query('BEGIN; LOCK TABLE assets IN ACCESS EXCLUSIVE MODE');
    const asked = request(`${server.url}${pathPrefix}/assets`, { headers: { 'x-api-key': key } });
    const open = [
      await connection(server.url),
      await connection(server.url, 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'),
      await connection(server.url, `GET ${pathPrefix}/tickets HTTP/1.1\r\nHost: x\r\n`),
      await connection(
        server.url,
        `POST ${pathPrefix}/tickets HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"title"`,
      ),
    ];
    const closed = open.map((socket) => once(socket, 'close'));
    await sleep(500);
    const ended = end(server);
    await Promise.all(closed);
    expect(server.child.exitCode).toBeNull();
    await locking.query('ROLLBACK');
    expect((await asked).status).toBe(200);
    const { code, seconds } = await ended;
    expect(code).toBe(0);
    expect(seconds).toBeLessThan(10);
  });

  it('exits within 25 seconds while a webhook receiver or PostgreSQL hangs', async () => {
    // Each process takes the maximum time to exit, so the test stops both processes concurrently.
    const [hung, frozen] = await Promise.all([endWhileReceiverHangs(), endWhilePostgresIsFrozen()]);
    console.log(`Ended after ${hung.seconds.toFixed(1)} s (a receiver), ${frozen.seconds.toFixed(1)} s (PostgreSQL).`);
    expect(hung.code).toBe(0);
    expect(hung.seconds).toBeLessThan(maxSeconds);
    expect(frozen.seconds).toBeLessThan(maxSeconds);
  });
});

async function endWhileReceiverHangs() {
  const { url, key } = await database();
  const receiver = await startReceiver(() => undefined);
  stops.push(receiver.close);
  const server = await start({ DATABASE_URL: url, DRAIN_SECONDS: '5' });
  await server.ready;
  const post = (path: string, body: object) =>
    request(server.url + pathPrefix + path, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  expect(await post('/webhooks', { ...webhook, url: receiver.url })).toMatchObject({ status: 201 });
  expect(await post('/tickets', ticket)).toMatchObject({ status: 201 });
  await expect.poll(() => receiver.received.length).toBe(1);
  return await end(server);
}

async function endWhilePostgresIsFrozen() {
  const { postgres, runtime, env } = await openInstallation(stops as (() => Promise<unknown>)[]);
  const { key } = await addWorkspace(runtime, 'First');
  const server = await start({ ...env, DRAIN_SECONDS: '5' });
  await server.ready;
  const listTickets = () =>
    request(`${server.url}${pathPrefix}/tickets`, { headers: { 'x-api-key': key } }).then(
      ({ status }) => status,
      () => undefined,
    );
  expect(await listTickets()).toBe(200);
  stops.push(await postgres.freeze());
  const requests = [listTickets(), listTickets(), listTickets()];
  await sleep(200);
  const ended = await end(server);
  await Promise.all(requests);
  return ended;
}
