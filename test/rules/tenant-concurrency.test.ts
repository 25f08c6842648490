import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { newToken } from '@itsm-api/server/auth/accounts/token.ts';
import { newKey } from '@itsm-api/server/auth/api-keys/key-format.ts';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, expect } from 'vitest';
import { type Answer, type Api, errorOf, startApi } from '../support/api.ts';
import { execute } from '../support/database.ts';
import { api, itWithApi } from '../support/fixture.ts';
import { openBrowser, signIn } from '../support/visitor.ts';
import { requestsWaiting } from '../support/waiting.ts';
import { createWorkspace, ticket, type Workspace } from '../support/workspace.ts';

/** Tests the concurrency limits, which prevent one tenant from using all database connections. */
const logged: Record<string, unknown>[] = [];
let greedy: Workspace;
let other: Workspace;
let lock: pg.Client;

const it = itWithApi.extend(
  'options',
  { scope: 'file' },
  {
    env: {
      DATABASE_POOL_SIZE: '8',
      TENANT_CONCURRENCY_SHARE: '0.25',
      TENANT_CONCURRENCY_QUEUE: '3',
      TENANT_CONCURRENCY_WAIT_MS: '1500',
      TENANT_UNREAD_BYTES: '1000000',
    },
    logger: pino({ level: 'warn' }, { write: (line) => logged.push(JSON.parse(line)) }),
  },
);
it.beforeAll(async () => {
  [greedy, other] = [await createWorkspace(api), await createWorkspace(api)];
  await greedy.createTicket();
  await other.createTicket();
  lock = new pg.Client({ connectionString: api.databaseUrl });
  await lock.connect();
});
afterAll(async () => {
  await lock.end();
});

/** Locks the row that the tenant needs to create a ticket, and runs `work` while the row is locked. */
async function whileCreatesWait<Result>({ tenantId }: Workspace, work: () => Promise<Result>): Promise<Result> {
  await lock.query('BEGIN');
  await lock.query('SELECT FROM ticket_sequences WHERE tenant_id = $1 FOR UPDATE', [tenantId]);
  try {
    return await work();
  } finally {
    await lock.query('ROLLBACK');
  }
}

/**
 * Locks tables against reads, and runs `work` while the tables are locked. Waiting requests continue when `work` ends.
 */
async function whileLocked<Result>(tables: string, work: () => Promise<Result>): Promise<Result> {
  await lock.query('BEGIN');
  await lock.query(`LOCK TABLE ${tables} IN ACCESS EXCLUSIVE MODE`);
  try {
    return await work();
  } finally {
    await lock.query('ROLLBACK');
  }
}

const endSessions = ({ tenantId }: Workspace) =>
  api.prisma.session.updateMany({ where: { tenantId }, data: { endedAt: new Date() } });

/** Requests `count` pages of tickets on one connection without reading the responses. */
async function requestUnread({ app }: Api, { key }: Workspace, count: number): Promise<Socket> {
  await app.listen({ port: 0, host: '127.0.0.1' });
  return leaveUnread(app, `GET /api/public/v1/tickets?perPage=100 HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}`, count);
}

/**
 * Sends a request `count` times on one connection without reading the responses.
 * @param request the request without its last line break
 */
function leaveUnread({ server }: Api['app'], request: string, count: number): Socket {
  const { port } = server.address() as AddressInfo;
  const client = connect(port, '127.0.0.1').pause();
  client.write(`${request}\r\n\r\n`.repeat(count));
  return client;
}

const create = (workspace: Workspace) => workspace.call('POST', '/tickets', ticket);

it('rejects a queued request if its API key is revoked or loses the required scope', async () => {
  const keys = [await greedy.createKey(), await greedy.createKey()];
  const ids = (
    await api.prisma.apiKey.findMany({ where: { tenantId: greedy.tenantId }, orderBy: { id: 'desc' } })
  ).slice(0, 2);
  const answers = await whileLocked('tickets', async () => {
    const holding = [greedy.call('GET', '/tickets'), greedy.call('GET', '/tickets')];
    await expect.poll(() => requestsWaiting(api)).toBe(2);
    const waiting = keys.map((key) => api.call({ method: 'GET', path: '/api/public/v1/assets', key }));
    await sleep(100);
    await api.prisma.apiKey.updateMany({ where: { id: ids[1]?.id ?? 0n }, data: { revokedAt: new Date() } });
    await api.prisma.apiKey.updateMany({ where: { id: ids[0]?.id ?? 0n }, data: { scopes: ['users:read'] } });
    await sleep(800);
    return [...holding, ...waiting];
  });
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 401, 403]);
});

it("counts CSV exports toward the tenant's concurrency limit", async () => {
  const visitor = await signIn(api, greedy);
  const files = await whileLocked('projects', async () => {
    const files = Array.from({ length: 4 }, () => visitor.get('/developer/projects/export'));
    await expect.poll(() => requestsWaiting(api)).toBe(2);
    for (let i = 0; i < 20; i++) expect((await other.call('GET', '/tickets')).status).toBe(200);
    expect(await requestsWaiting(api)).toBe(2);
    return files;
  });
  expect((await Promise.all(files)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
});

it("aborts a CSV export when the user's session ends", async () => {
  const visitor = await signIn(api, greedy);
  await greedy.createProject();
  const { asked } = await whileLocked('projects', async () => {
    const asked = visitor.get('/developer/projects/export').then(
      ({ text }) => text,
      () => 'broken off',
    );
    await expect.poll(() => requestsWaiting(api)).toBe(1);
    await endSessions(greedy);
    return { asked };
  });
  expect(await asked).toBe('broken off');
});

it('shows a new API key even if the first request for the page returned 429', async () => {
  const visitor = await signIn(api, greedy);
  const fields = { name: 'Kept', expiresInDays: 30, scopes: 'tickets:read' };
  const { headers } = await visitor.submit('/developer/keys/new', 'create', fields);
  const page = async () => {
    const { status, text } = await visitor.get(String(headers.location));
    return { status, hasKey: /itsm_[\w-]{20}/.test(text) };
  };
  const { creates } = await whileCreatesWait(greedy, async () => {
    const creates = Array.from({ length: 5 }, () => create(greedy));
    await expect.poll(() => requestsWaiting(api)).toBe(2);
    await expect.poll(page).toEqual({ status: 429, hasKey: false });
    return { creates };
  });
  await Promise.all(creates);
  expect([await page(), await page()]).toEqual([
    { status: 200, hasKey: true },
    { status: 200, hasKey: false },
  ]);
});

it('shows a form again with the entered values after a 429 response', async () => {
  const visitor = await signIn(api, greedy);
  const token = await visitor.tokenOf('/developer/keys/new');
  const { creates, sent } = await whileCreatesWait(greedy, async () => {
    const creates = Array.from({ length: 5 }, () => create(greedy));
    await expect.poll(() => requestsWaiting(api)).toBe(2);
    await sleep(50);
    const fields = { name: 'No room', expiresInDays: 30, scopes: 'tickets:read' };
    const refused = logged.length;
    const sent = visitor.submit('/developer/keys/new', 'create', fields, token);
    await expect.poll(() => logged.length).toBeGreaterThan(refused);
    return { creates, sent };
  });
  await Promise.all(creates);
  const { status, headers, text } = await sent;
  expect([status, headers['retry-after']]).toEqual([429, '1']);
  expect(text).toContain('Too many concurrent requests for this workspace');
  expect(text).toContain('value="No room"');
  expect(await api.prisma.apiKey.count({ where: { tenantId: greedy.tenantId, name: 'No room' } })).toBe(0);
});

it('rejects a queued form if its session ends', async () => {
  const visitor = await signIn(api, greedy);
  const token = await visitor.tokenOf('/developer/keys/new');
  const { creates, sent } = await whileCreatesWait(greedy, async () => {
    const creates = [create(greedy), create(greedy)];
    await expect.poll(() => requestsWaiting(api)).toBe(2);
    const fields = { name: 'Late', expiresInDays: 30, scopes: 'tickets:read' };
    const sent = visitor.submit('/developer/keys/new', 'create', fields, token);
    await sleep(200);
    await endSessions(greedy);
    return { creates, sent };
  });
  await Promise.all(creates);
  expect(await sent).toMatchObject({ status: 303, headers: { location: expect.stringMatching(/sign-in/) } });
  expect(await api.prisma.apiKey.count({ where: { tenantId: greedy.tenantId, name: 'Late' } })).toBe(0);
});

it('serves other tenants while one tenant uses all of its database connections', async () => {
  const creates = await whileCreatesWait(greedy, async () => {
    const creates = Array.from({ length: 5 }, () => create(greedy));
    await expect.poll(() => requestsWaiting(api)).toBe(2);
    for (let i = 0; i < 20; i++) expect((await other.call('GET', '/tickets')).status).toBe(200);
    expect((await create(other)).status).toBe(201);
    expect(await requestsWaiting(api)).toBe(2);
    return creates;
  });
  // The queued requests run as soon as the lock is released.
  expect((await Promise.all(creates)).map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
});

it("returns 429 if the tenant's queue is full or a request waits too long", async () => {
  logged.length = 0;
  const answers = await whileCreatesWait(greedy, async () => {
    const first = Array.from({ length: 2 }, () => create(greedy));
    await expect.poll(() => requestsWaiting(api)).toBe(2);
    const waited = Array.from({ length: 3 }, () => create(greedy));
    await sleep(50);
    const tooMany = await create(greedy);
    return { first, waited: await Promise.all(waited), tooMany };
  });
  const refused = [...answers.waited, answers.tooMany];
  for (const answer of refused) {
    expect(answer.status).toBe(429);
    expect(answer.headers['retry-after']).toBe('1');
    expect(errorOf(answer)).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds: 1 });
    expect(errorOf(answer).message).toMatch(
      /^Too many concurrent requests for this workspace: .*\. Reduce concurrency and retry in 1 second\.$/,
    );
  }
  expect((await Promise.all(answers.first)).map(({ status }) => status)).toEqual([201, 201]);
  const refusals = logged.filter(({ msg }) => String(msg).includes('rejected by a tenant limit'));
  expect(refusals.map(({ tenantId }) => tenantId)).toEqual(refused.map(() => String(greedy.tenantId)));
});

it('does not count a request toward the rate limits if the concurrency limit rejects it', async () => {
  const remaining = ({ headers }: Answer) => Number(headers['x-ratelimit-remaining']);
  const before = remaining(await greedy.call('GET', '/tickets'));
  await whileCreatesWait(greedy, async () => {
    const first = Array.from({ length: 5 }, () => create(greedy));
    await sleep(50);
    for (const answer of await Promise.all([create(greedy), create(greedy)])) {
      expect(answer.status).toBe(429);
    }
    void first;
    await lock.query('ROLLBACK');
    await Promise.all(first);
  });
  expect(remaining(await greedy.call('GET', '/tickets'))).toBe(before - 6);
});

it('looks up recently used API keys before unknown keys', async () => {
  const list = (key: string) => api.call({ method: 'GET', path: '/api/public/v1/tickets', key });
  const known = await other.createKey();
  expect((await list(known)).status).toBe(200);

  const order: number[] = [];
  const request = async (key: string) => order.push((await list(key)).status);
  const { asked } = await whileLocked('api_keys', async () => {
    const unknown = Array.from({ length: 300 }, () => request(newKey()));
    // Clears the API key cache, so the server looks up the known API key again.
    await execute(api.databaseUrl, 'NOTIFY api_keys');
    await expect.poll(() => order.length).toBeGreaterThan(50);
    await sleep(200);
    const asked = [...unknown, request(known)];
    await sleep(200);
    return { asked };
  });
  await Promise.all(asked);

  const [turnedAway, lookedUp] = [order.filter((status) => status === 429), order.filter((status) => status !== 429)];
  expect(turnedAway.length).toBeGreaterThan(50);
  // The request with the known API key is sent last, but finishes before most other requests.
  expect(lookedUp.indexOf(200)).toBeLessThan(lookedUp.length / 4);
  expect(lookedUp.filter((status) => status === 401)).toHaveLength(lookedUp.length - 1);
});

it('looks up API keys while many invitation pages wait for the database', async () => {
  const list = async (key: string) => (await api.call({ method: 'GET', path: '/api/public/v1/tickets', key })).status;
  const key = await other.createKey();
  const visitor = openBrowser(api);
  const { opened } = await whileLocked('invitations, sessions, passwords', async () => {
    const opened = Array.from({ length: 20 }, () =>
      visitor.get(`/developer/join?token=${newToken(other.tenantId).text}`),
    );
    await sleep(200);
    expect(await list(key)).toBe(200);
    return { opened };
  });
  await Promise.all(opened);
});

it("keeps a tenant's cached API keys when another tenant's keys change", async () => {
  const list = async ({ key }: Workspace) =>
    (await api.call({ method: 'GET', path: '/api/public/v1/tickets', key })).status;
  const bothAnswered = async () => expect([await list(greedy), await list(other)]).toEqual([200, 200]);
  await bothAnswered();
  await bothAnswered();
  await api.prisma.user.updateMany({ where: { tenantId: greedy.tenantId }, data: { active: true } });
  await sleep(500);

  const { asked } = await whileLocked('api_keys', async () => {
    const asked = list(greedy);
    expect(await list(other)).toBe(200);
    expect(await Promise.race([asked, sleep(300)])).toBeUndefined();
    return { asked };
  });
  expect(await asked).toBe(200);
});

it("returns 429 while a tenant's clients have too many unread response bytes", async () => {
  const slow = await createWorkspace(api);
  for (let i = 0; i < 100; i++) await slow.createTicket({ description: 'x'.repeat(50_000) });
  // The responses are larger than the socket buffers of the client and the server combined.
  const client = await requestUnread(api, slow, 6);

  const status = async (workspace: Workspace) => (await workspace.call('GET', '/tickets?perPage=1')).status;
  await expect.poll(() => status(slow)).toBe(429);
  expect(await status(other)).toBe(200);
  client.destroy();
  await expect.poll(() => status(slow)).toBe(200);
});

it('counts unread developer area pages toward the limit for unread response bytes', async () => {
  const env = { TENANT_CONCURRENCY_QUEUE: '1000', TENANT_CONCURRENCY_WAIT_MS: '60000', TENANT_UNREAD_BYTES: '1000000' };
  const own = await startApi({ env, logger: pino({ level: 'silent' }) });
  const slow = await createWorkspace(own);
  // The page is four times as long as the description, because the server escapes each character.
  const { id } = await slow.createTicket({ description: '<'.repeat(65_000) });
  const visitor = await signIn(own, slow);
  const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  await own.app.listen({ port: 0, host: '127.0.0.1' });
  const request = `GET /developer/tickets/${id}?whole=description HTTP/1.1\r\nHost: localhost\r\nCookie: ${cookie}`;
  const clients: Socket[] = [];
  const status = () => {
    // The network stack takes some megabytes of pages first, and the server closes unread connections after 30 seconds.
    clients.push(leaveUnread(own.app, request, 60));
    // A request that arrives before the pages can wait behind them in the queue.
    return Promise.race([visitor.get('/developer/keys').then(({ status }) => status), sleep(5000)]);
  };
  await expect.poll(status, { interval: 1000, timeout: 240_000 }).toBe(429);
  for (const client of clients) client.destroy();
  await expect.poll(async () => (await visitor.get('/developer/keys')).status).toBe(200);
  await own.close();
});

it('counts unread bytes of a CSV export until the client reads the bytes or disconnects', async () => {
  const env = { TENANT_UNREAD_BYTES: '1000000' };
  const own = await startApi({ env, logger: pino({ level: 'silent' }) });
  const slow = await createWorkspace(own);
  const description = 'x'.repeat(60_000);
  const data = Array.from({ length: 500 }, (_, i) => ({ key: `P${i}`, name: 'Large', description }));
  for (let i = 0; i < 500; i += 100) {
    const some = data.slice(i, i + 100).map((each) => ({ ...each, tenantId: slow.tenantId }));
    await own.prisma.project.createMany({ data: some });
  }
  const visitor = await signIn(own, slow);
  const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  await own.app.listen({ port: 0, host: '127.0.0.1' });
  const request = () =>
    leaveUnread(own.app, `GET /developer/projects/export HTTP/1.1\r\nHost: localhost\r\nCookie: ${cookie}`, 1);
  const status = async () => (await visitor.get('/developer/keys')).status;

  const read = request();
  await expect.poll(status).toBe(429);
  let bytes = 0;
  read.on('data', ({ length }) => (bytes += length)).resume();
  await expect.poll(() => bytes).toBeGreaterThan(500 * description.length);
  await expect.poll(status).toBe(200);
  read.destroy();

  const left = request();
  await expect.poll(status).toBe(429);
  left.destroy();
  await expect.poll(status).toBe(200);
  await own.close();
});

it('returns 429 if a client does not read the large responses to its concurrent requests', async () => {
  const env = { DATABASE_POOL_SIZE: '8', TENANT_CONCURRENCY_SHARE: '0.25', TENANT_UNREAD_BYTES: '1000000' };
  const own = await startApi({ env, logger: pino({ level: 'silent' }) });
  const slow = await createWorkspace(own);
  for (let i = 0; i < 40; i++) await slow.createTicket({ description: 'x'.repeat(50_000) });
  const client = await requestUnread(own, slow, 40);
  await expect.poll(async () => (await slow.call('GET', '/tickets?perPage=1')).status).toBe(429);
  await sleep(500);

  let text = '';
  client.setEncoding('latin1').on('data', (data) => (text += data));
  const statuses = () => text.match(/HTTP\/1\.1 \d+/g)?.map((line) => line.slice(9)) ?? [];
  client.resume();
  await expect.poll(() => statuses().length).toBe(40);
  // The server completes the requests that had started before the tenant reached the limit. It rejects later requests.
  expect(statuses().filter((status) => status === '200').length).toBeLessThan(8);
  client.destroy();
  await own.close();
});

it('returns all rows of a list with many large tickets', async () => {
  const workspace = await createWorkspace(api);
  const description = 'ü – "quoted"\n'.repeat(3000);
  for (let i = 0; i < 30; i++) await workspace.createTicket({ title: `Ticket ${i}`, description });
  const { text, headers, body } = await workspace.call('GET', '/tickets?perPage=100');
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  expect(headers['content-length']).toBe(String(Buffer.byteLength(text)));
  expect(body).toMatchObject({ success: true, meta: { page: 1, perPage: 100, totalCount: 30 } });
  const tickets = (body as { data: { title: string; description: string }[] }).data;
  expect(tickets.map(({ title }) => title)).toEqual(Array.from({ length: 30 }, (_, i) => `Ticket ${29 - i}`));
  expect(new Set(tickets.map((ticket) => ticket.description))).toEqual(new Set([description]));
});
