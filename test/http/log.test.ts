import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '@itsm-api/server/http/logging/logger.ts';
import { listRequests } from '@itsm-api/server/resources/requests/queries.ts';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { startApi } from '../support/api.ts';
import { cloneDatabase } from '../support/database.ts';
import { requestsWaiting } from '../support/waiting.ts';
import { createWorkspace, ticket, webhook } from '../support/workspace.ts';

/** Creates a stream that collects log lines. */
function captureLog() {
  let log = '';
  const stream = new Writable({
    write(chunk, _, done) {
      log += chunk;
      done();
    },
  });
  const lines = () => {
    const texts = log.trim().split('\n');
    return texts.filter(Boolean).map((line) => JSON.parse(line));
  };
  return { stream, lines, text: () => log };
}

it.each([
  ['is set', { TRUST_PROXY: '10.0.0.0/8' }],
  ['is empty', {}],
])('warns once about forwarded headers from an untrusted proxy if TRUST_PROXY %s', async (_, env) => {
  const { stream, ...log } = captureLog();
  const api = await startApi({ env, logger: createLogger('warn', stream) });
  for (let i = 0; i < 2; i++) {
    await api.call({ method: 'GET', path: '/livez', headers: { 'x-forwarded-for': '203.0.113.7' } });
  }
  await api.close();
  expect(log.lines()).toMatchObject([
    { header: 'x-forwarded-for', from: '127.0.0.1', msg: expect.stringContaining('set TRUST_PROXY to') },
  ]);
});

it('does not warn about forwarded headers from a trusted proxy', async () => {
  const { stream, ...log } = captureLog();
  const api = await startApi({ env: { TRUST_PROXY: 'loopback' }, logger: createLogger('warn', stream) });
  await api.call({ method: 'GET', path: '/livez', headers: { 'x-forwarded-for': '203.0.113.7' } });
  await api.close();
  expect(log.text()).toBe('');
});

it('logs every request without its API key, body, query or secrets', async () => {
  const { stream, ...log } = captureLog();
  const database = await cloneDatabase();
  const api = await startApi({ databaseUrl: database.url, logger: createLogger('trace', stream) });
  const workspace = await createWorkspace(api);
  const secrets = { secret: 'a-secret-of-this-test', title: 'a title of this test', email: 'a-person@example.com' };

  await workspace.call('POST', '/webhooks', { ...webhook, secret: secrets.secret });
  await workspace.call('POST', '/tickets', { ...ticket, title: secrets.title });
  await workspace.call('GET', `/users?email=${secrets.email}`);
  await workspace.call('GET', '/tickets', undefined, { 'x-api-key': workspace.key, 'x-request-id': 'my-own-id' });
  // The error message of PostgreSQL contains the rejected row, which includes the secret title.
  await api.prisma.$executeRaw`ALTER TABLE tickets ADD CHECK (title <> 'a title of this test') NOT VALID`;
  const rejected = await workspace.call('POST', '/tickets', { ...ticket, title: secrets.title });
  expect(rejected.status).toBe(500);
  // A retry would fail again, so the response has no Retry-After header.
  expect(rejected.headers).not.toHaveProperty('retry-after');
  await database.drop();
  const failed = await workspace.call('POST', '/tickets', { ...ticket, title: secrets.title });
  expect(failed.status).toBe(500);
  await api.close();

  for (const text of [workspace.key, ...Object.values(secrets)]) expect(log.text()).not.toContain(text);
  const lines = log.lines();
  expect(lines).toContainEqual(
    expect.objectContaining({
      requestId: 'my-own-id',
      method: 'GET',
      route: '/api/public/v1/tickets',
      status: 200,
      tenantId: String(workspace.tenantId),
    }),
  );
  expect(lines).toContainEqual(
    expect.objectContaining({
      requestId: failed.headers['x-request-id'],
      msg: 'request failed',
      err: expect.anything(),
    }),
  );
});

it('logs status 200 for a download if the client closes the connection after the last byte', async () => {
  const { stream, lines } = captureLog();
  const api = await startApi({ logger: createLogger('trace', stream) });
  const workspace = await createWorkspace(api);
  const port = Number(new URL(await api.app.listen({ port: 0, host: '127.0.0.1' })).port);
  for (const size of [6, 200_000]) {
    const content = 'x'.repeat(size);
    const { id } = await workspace.createAttachment(undefined, { content });
    const path = `/api/public/v1/attachments/${id}/content`;
    const download = () =>
      new Promise<void>((resolve, reject) => {
        const socket = connect(port, '127.0.0.1');
        socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${workspace.key}\r\n\r\n`);
        let received = '';
        socket.on('data', (chunk) => {
          received += chunk;
          if (received.endsWith(`\r\n\r\n${content}`)) socket.destroy();
        });
        socket.on('error', reject).on('close', () => resolve());
      });
    for (let round = 0; round < 20; round++) await download();
    const statuses = () =>
      lines().flatMap(({ route, status }) => (route === '/api/public/v1/attachments/:id/content' ? [status] : []));
    await expect.poll(() => statuses().length).toBe(size === 6 ? 20 : 40);
    expect(new Set(statuses())).toEqual(new Set([200]));
  }
  await api.close();
});

it('logs status 499 for a request if the client disconnects before the response', async () => {
  const { stream, lines } = captureLog();
  const api = await startApi({ logger: createLogger('trace', stream), ownDatabase: true });
  const workspace = await createWorkspace(api);
  await workspace.createTicket();
  const port = Number(new URL(await api.app.listen({ port: 0, host: '127.0.0.1' })).port);
  const lock = new pg.Client({ connectionString: api.databaseUrl });
  await lock.connect();
  await lock.query('BEGIN; LOCK TABLE tickets IN ACCESS EXCLUSIVE MODE');
  const request = (path: string) =>
    `GET /api/public/v1/${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${workspace.key}\r\n\r\n`;
  const socket = connect(port, '127.0.0.1', () => socket.write(request('tickets') + request('tickets?perPage=1')));
  socket.on('error', () => undefined);
  await expect.poll(() => requestsWaiting(api)).toBe(2);
  socket.destroy();
  const abandoned = () => lines().filter(({ status }) => status === 499);
  await expect.poll(() => abandoned().length).toBe(2);
  expect(abandoned()[0]).toMatchObject({
    route: '/api/public/v1/tickets',
    tenantId: String(workspace.tenantId),
    level: 30,
  });
  await lock.end();
  await expect.poll(() => requestsWaiting(api)).toBe(0);
  await api.usage.flush();
  const counted = await api.prisma.usageMinute.findMany({ where: { tenantId: workspace.tenantId, keyId: 0n } });
  const lists = counted.filter(({ endpoint }) => endpoint === 'tickets_list');
  expect(lists.map(({ outcome, requests }) => [outcome, requests])).toEqual([['CLIENT_ERROR', 2]]);
  await api.requestLog.flush();
  const { data } = await listRequests(workspace.context, { error: 'CLIENT_DISCONNECTED' }, { take: 10 });
  const abortedList = { path: '/api/public/v1/tickets', status: 499, address: '127.0.0.1' };
  expect(data).toEqual(expect.arrayContaining([expect.objectContaining(abortedList)]));
  expect(data).toHaveLength(2);
  await api.close();
  expect(
    lines()
      .filter(({ msg }) => msg === 'request')
      .map(({ status }) => status),
  ).toEqual([201, 499, 499]);
});

it('logs no error when a client disconnects', async () => {
  const { stream, lines } = captureLog();
  const api = await startApi({ logger: createLogger('trace', stream) });
  const { key } = await createWorkspace(api);
  const port = Number(new URL(await api.app.listen({ port: 0, host: '127.0.0.1' })).port);
  const head = `Host: x\r\nAuthorization: Bearer ${key}\r\n`;
  const broken = [
    `POST /api/public/v1/tickets HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"title":`,
    `POST /api/public/v1/tickets HTTP/1.1\r\n${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"a`,
    `GET /api/public/v1/tickets HTTP/1.1\r\n${head}\r\n`,
    'GET /api/public/v1/tick',
  ];
  for (const text of broken) {
    for (const end of ['destroy', 'resetAndDestroy'] as const) {
      const socket = connect(port, '127.0.0.1', () => socket.write(text));
      socket.on('error', () => undefined);
      const [served] = (await once(api.app.server, 'connection')) as [Socket];
      await expect.poll(() => served.bytesRead).toBe(text.length);
      // After 100 ms, the server has looked up the API key and waits for the rest of the body.
      await sleep(100);
      socket[end]();
      await expect.poll(() => served.destroyed).toBe(true);
    }
  }
  await sleep(100);
  await api.close();
  expect(lines().filter(({ level }) => level > 30)).toEqual([]);
});

describe('a log on standard output', () => {
  const logger = JSON.stringify(new URL('../../server/src/http/logging/logger.ts', import.meta.url).href);

  /** Spawns a process that runs a script with a logger. If the script completes, the process exits with code 3. */
  function spawnLogger(script: string, stdout: number | 'pipe' = 'pipe') {
    const source = `
      import { createLogger } from ${logger};
      import { setTimeout as sleep } from 'node:timers/promises';
      const log = createLogger('info');
      ${script}
      process.exit(3);`;
    const args = ['--input-type=module', '--eval', source];
    return spawn(process.execPath, args, { stdio: ['pipe', stdout, 'inherit'] });
  }

  it('writes all log lines before exit, even if the reader of stdout is slow', async () => {
    const child = spawnLogger("for (let number = 1; number <= 5000; number++) log.info({ number }, 'a'.repeat(100));");
    await sleep(500);
    const [written] = await Promise.all([text(child.stdout as NonNullable<typeof child.stdout>), once(child, 'exit')]);
    const numbers = written.split('\n').map((line) => /"number":(\d+)/.exec(line)?.[1]);
    expect(
      numbers
        .filter(Boolean)
        .map(Number)
        .sort((a, b) => a - b),
    ).toEqual(Array.from({ length: 5000 }, (_, i) => i + 1));
  });

  it.each([
    ['a line at exit', "log.info('left');"],
    ['lines before the exit', "for (let i = 0; i < 3; i++) { log.info('a'.repeat(5000)); await sleep(150); }"],
  ])("continues without blocking when the log can't be written to a full disk, with %s", async (_, script) => {
    const child = spawnLogger(script, openSync('/dev/full', 'w'));
    expect(await once(child, 'exit')).toEqual([3, null]);
  });

  it.each([
    [
      'a line at exit',
      "process.stdin.once('end', () => { log.info('left'); process.exit(3); }).resume(); await sleep(60_000);",
    ],
    ['lines before the exit', "for (let i = 0; i < 10; i++) { log.info('a'.repeat(5000)); await sleep(150); }"],
  ])('continues without blocking when stdout has no reader, with %s', async (_, script) => {
    const child = spawnLogger(script);
    child.stdout?.destroy();
    child.stdin?.end();
    expect(await once(child, 'exit')).toEqual([3, null]);
  });

  it("limits the memory for log lines that can't be written", async () => {
    const script = `
      for (let i = 0; i < 100_000; i++) log.info('a'.repeat(1000));
      const { heapUsed, external } = process.memoryUsage();
      if (heapUsed + external > 60e6) process.exit(4);`;
    const child = spawnLogger(script, openSync('/dev/full', 'w'));
    expect(await once(child, 'exit')).toEqual([3, null]);
  });
});
