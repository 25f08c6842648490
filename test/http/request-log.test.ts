import { pathPrefix } from '@itsm-api/contract';
import { listRequests } from '@itsm-api/server/resources/requests/queries.ts';
import { toLoggedPath } from '@itsm-api/server/usage/logged-path.ts';
import { pruneRequestLog } from '@itsm-api/server/usage/usage-retention.ts';
import { pino } from 'pino';
import { afterAll, afterEach, describe, expect } from 'vitest';
import { type Api, startApi } from '../support/api.ts';
import { execute, query } from '../support/database.ts';
import { api, itWithApi } from '../support/fixture.ts';
import { createWorkspace, ticket, type Workspace } from '../support/workspace.ts';

/** Tests which requests the server writes to the request log. */
const logged: string[] = [];
const logger = pino({ level: 'warn' }, { write: (line) => logged.push(JSON.parse(line).msg) });
const env = { REQUEST_LOG_SUCCESSES: '3', REQUEST_LOG_ERRORS: '4', RATE_LIMIT_GROUP: '20', TRUST_PROXY: 'loopback' };
let now = new Date('2026-11-22T09:59:30Z');
let other: Api;

const it = itWithApi.extend('options', { scope: 'file' }, { ownDatabase: true, env, logger, now: () => now });
it.beforeAll(async () => {
  other = await startApi({ databaseUrl: api.databaseUrl, env, now: () => now });
});
afterAll(async () => {
  await other.close();
});
afterEach(() => {
  now = new Date(now.getTime() + 600_000);
});

async function readLog({ context }: Workspace, filter: Parameters<typeof listRequests>[1] = {}) {
  await api.requestLog.flush();
  return (await listRequests(context, filter, { take: 1000 })).data;
}

const readCounts = ({ tenantId }: Workspace) =>
  query(
    api.databaseUrl,
    `SELECT successes, errors, rate_limited AS "rateLimited" FROM request_log_minutes WHERE tenant_id = $1 ORDER BY at`,
    [tenantId],
  );

describe('an entry of the request log', () => {
  it('contains method, path, status, error code, request id, latency, address and time, but no bodies', async () => {
    const workspace = await createWorkspace(api);
    const headers = { 'x-request-id': 'failed-1', 'x-forwarded-for': '203.0.113.9' };
    await workspace.call('POST', '/tickets', { ...ticket, title: '' }, headers);
    await workspace.call('GET', '/tickets?q=Ada%20Lovelace&status=OPEN&%71=secret', undefined, headers);
    expect(await readLog(workspace)).toEqual([
      {
        ...{ at: now.toISOString(), requestId: 'failed-1', keyId: Number(workspace.context.keyId), method: 'GET' },
        path: `${pathPrefix}/tickets?q=…&status=OPEN&q=…`,
        ...{ status: 400, errorCode: 'VALIDATION_ERROR', milliseconds: expect.any(Number), address: '203.0.113.9' },
      },
      expect.objectContaining({ method: 'POST', path: `${pathPrefix}/tickets`, status: 400 }),
    ]);
    const [table] = await query(api.databaseUrl, 'SELECT string_agg(r::text, $1) AS text FROM request_log r', ['']);
    expect(table?.text).not.toMatch(/Lovelace|secret/);
  });

  it('has the request id of the response', async () => {
    const workspace = await createWorkspace(api);
    const { headers, body } = await workspace.call('GET', '/tickets/2147483647');
    const [entry] = await readLog(workspace);
    expect(entry).toMatchObject({ requestId: headers['x-request-id'], errorCode: 'NOT_FOUND', status: 404 });
    expect(body.error.requestId).toBe(entry?.requestId);
    expect(entry?.requestId).toMatch(/^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
  });

  it('exists only for requests with a valid API key to an endpoint that needs one', async () => {
    const workspace = await createWorkspace(api);
    await workspace.call('GET', '/nowhere');
    await workspace.call('GET', '/ping');
    await api.call({ method: 'GET', path: `${pathPrefix}/tickets`, key: 'itsm_unknown' });
    expect(await readLog(workspace)).toEqual([]);
  });

  it('contains nothing that looks like an API key', async () => {
    const workspace = await createWorkspace(api);
    const { key } = workspace;
    const path = `/tickets/${key}?status=${key}&${key}=1&externalId=${key}`;
    const { headers } = await workspace.call('GET', path, undefined, { 'x-request-id': key });
    expect(headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/);
    expect(await readLog(workspace)).toEqual([
      expect.objectContaining({
        requestId: headers['x-request-id'],
        path: `${pathPrefix}/tickets/…?status=…&…=1&externalId=…`,
      }),
    ]);
  });

  it.each([
    ['/tickets?status=OPEN,PENDING&priority=HIGH&sort=-id&page=3&perPage=500', undefined],
    ['/tickets/INC-17/comments?perPage=100', undefined],
    ['/tickets?assigneeId=me,none,7&parentId=PRB-3&overdue=true', undefined],
    ['/tasks/17', undefined],
    ['/deliveries/9/replay', undefined],
    [
      '/tickets?createdSince=2026-01-01T00%3A00%3A00Z&dueBefore=2026-01-01T00:00:00.5%2B01:00',
      '/tickets?createdSince=2026-01-01T00:00:00Z&dueBefore=2026-01-01T00:00:00.5+01:00',
    ],
    ['/tickets/%31%37?st%61tus=OPEN', '/tickets/17?status=OPEN'],
    ['/tickets?status=Ada,OPEN&page=-1&perPage=1e3', '/tickets?status=…,OPEN&page=…&perPage=…'],
    ['/tickets?q=&q=Ada+L&%71=OPEN&q=4915112345678', '/tickets?q=&q=…&q=…&q=…'],
    ['/users?%65mail=ada%40acme.example&role=AGENT', '/users?email=…&role=AGENT'],
    ['/assets?externalId=ada@acme.example,17', '/assets?externalId=…'],
    ['/tickets?assigneeId=ada@acme.example,me,17', '/tickets?assigneeId=…,me,17'],
    ['/articles?category=Ada', '/articles?category=…'],
    ['/tickets/38/attachments?name=Ada.pdf', '/tickets/38/attachments?name=…'],
    ['/tickets?Ada=1&customFields[site]=Bonn&Lovelace', '/tickets?…=1&customFields[…]=…&…'],
    ['/tickets?q=%ff&status=%&%zz=OPEN', '/tickets?q=…&status=…&…=OPEN'],
    ['/tickets/Ada%20Lovelace', '/tickets/…'],
    ['/tickets/17/Ada/comments/18', '/tickets/…/…/comments/…'],
    ['/tickets/17%2Fcomments', '/tickets/…'],
    [`/tickets?status=${'A'.repeat(50)}`, '/tickets?status=…'],
  ])('contains the path %s without names and values that the contract does not define', (path, expected = path) => {
    expect(toLoggedPath(pathPrefix + path)).toBe(pathPrefix + expected);
  });

  it('contains a path of at most 1,000 characters', () => {
    expect(toLoggedPath(`${pathPrefix}/tickets?status=${'OPEN,'.repeat(400)}`)).toHaveLength(1000);
  });
});

describe('the request log', () => {
  it('logs only the first successes and errors of a workspace and minute in all processes, and counts the rest', async () => {
    const workspace = await createWorkspace(api);
    const neighbour = await createWorkspace(api);
    const send = (to: Api, path: string) => to.call({ method: 'GET', path: pathPrefix + path, key: workspace.key });
    for (const to of [api, other, api, other]) {
      for (const path of ['/users', '/assets/2147483647']) await send(to, path);
      await to.requestLog.flush();
    }
    for (let i = 0; i < 3; i++) await send(other, '/assets/2147483647');
    await other.requestLog.flush();
    expect((await readLog(workspace)).map(({ status }) => status).sort()).toEqual([200, 200, 200, 404, 404, 404, 404]);
    await neighbour.call('GET', '/users');
    expect(await readLog(neighbour)).toHaveLength(1);
    now = new Date(now.getTime() + 60_000);
    await send(api, '/users');
    expect(await readLog(workspace)).toHaveLength(8);
    expect(await readCounts(workspace)).toEqual([
      { successes: 4, errors: 7, rateLimited: 0 },
      { successes: 1, errors: 0, rateLimited: 0 },
    ]);
  });

  it("counts requests with the status 429, but doesn't log them", async () => {
    const workspace = await createWorkspace(api);
    for (let i = 0; i < 25; i++) await workspace.call('GET', '/webhooks');
    expect((await readLog(workspace)).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await readCounts(workspace)).toEqual([{ successes: 20, errors: 0, rateLimited: 5 }]);
  });
});

describe('a failed write', () => {
  it('keeps 1,000 requests for the next write, and counts the dropped requests', async () => {
    const workspace = await createWorkspace(api);
    await execute(
      api.databaseUrl,
      `INSERT INTO tenants (id, name, name_key, updated_at)
       SELECT id, id::text, id::text, now()
       FROM generate_series(${workspace.tenantId} + 1000000, ${workspace.tenantId} + 1000000000, 1000000) AS id`,
    );
    const record = (count: number) => {
      const request = { keyId: 1n, requestId: 'r', method: 'GET', url: '/', milliseconds: 1, address: '' };
      for (let i = 0; i < count; i++) {
        // Each request has its own minute and workspace, so that the limits keep all of them.
        const tenantId = (workspace.tenantId + BigInt(i) * 1_000_000n) as Workspace['tenantId'];
        api.requestLog.record({ ...request, tenantId, status: 200, errorCode: null });
      }
    };
    await api.requestLog.flush();
    const before = api.requestLog.dropped;
    await api.prisma.$executeRaw`ALTER TABLE request_log RENAME TO request_log_away`;
    record(400);
    await api.requestLog.flush();
    expect(logged).toEqual(['request log not written']);
    record(1000);
    expect(api.requestLog.dropped - before).toBe(400);
    await api.prisma.$executeRaw`ALTER TABLE request_log_away RENAME TO request_log`;
    await api.requestLog.flush();
    const [found] = await query(api.databaseUrl, `SELECT count(*)::int AS count FROM request_log WHERE path = '/'`);
    expect(found).toEqual({ count: 1000 });
    expect(await readCounts(workspace)).toEqual([{ successes: 2, errors: 0, rateLimited: 0 }]);
  });
});

describe('pruneRequestLog', () => {
  it('deletes requests and counts after the given number of days', async () => {
    const { tenantId } = await createWorkspace(api);
    await query(
      api.databaseUrl,
      `WITH ages AS (SELECT now() - days * interval '1 day' AS at FROM unnest(ARRAY[1, 6.9, 7.1, 30]) AS days),
         minutes AS (INSERT INTO request_log_minutes SELECT $1, at, 1, 0, 0 FROM ages)
       INSERT INTO request_log (tenant_id, at, key_id, milliseconds, status, method, request_id, path, address)
       SELECT $1, at, key, 1, 200, 'GET', 'r', '/', '' FROM ages, generate_series(1, 3) AS key`,
      [tenantId],
    );
    await query(api.databaseUrl, `DELETE FROM request_log WHERE tenant_id <> $1`, [tenantId]);
    expect(await pruneRequestLog(api.databases.system.prisma, 7, 2)).toBe(6);
    const left = `SELECT (SELECT count(*)::int FROM request_log WHERE tenant_id = $1) AS requests,
      (SELECT count(*)::int FROM request_log_minutes WHERE tenant_id = $1) AS minutes`;
    expect(await query(api.databaseUrl, left, [tenantId])).toEqual([{ requests: 6, minutes: 2 }]);
  });
});
