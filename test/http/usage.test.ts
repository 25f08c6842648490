import { pathPrefix } from '@itsm-api/contract';
import { bucketOf, latencyBounds, latencyBuckets, outcomes, percentile } from '@itsm-api/server/usage/dimensions.ts';
import { pruneUsage } from '@itsm-api/server/usage/usage-retention.ts';
import pg from 'pg';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { type Api, type ApiOptions, startApi } from '../support/api.ts';
import { cloneDatabase, query } from '../support/database.ts';
import { requestsWaiting } from '../support/waiting.ts';
import { createWorkspace, ticket, type Workspace } from '../support/workspace.ts';

/** Tests the usage counts that the server stores in the database. */
const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function start(options: ApiOptions = {}): Promise<Api> {
  const api = await startApi(options);
  stops.push(() => api.close());
  return api;
}

interface Row {
  keyId: string;
  at: Date;
  endpoint: string;
  outcome: string;
  requests: number;
  latencies: number[];
  globalPeak: number;
  groupPeak: number;
}

const readRows = ({ databaseUrl }: Pick<Api, 'databaseUrl'>, { tenantId }: Workspace, table = 'usage_minutes') =>
  query<Row>(
    databaseUrl,
    `SELECT key_id AS "keyId", at, endpoint, outcome, requests, latencies, global_peak AS "globalPeak",
       group_peak AS "groupPeak" FROM ${table} WHERE tenant_id = $1 ORDER BY at, key_id, endpoint, outcome`,
    [tenantId],
  );

it('counts requests per minute and per hour by API key, endpoint and outcome', async () => {
  let now = new Date('2026-11-22T09:59:30Z');
  const api = await start({ now: () => now });
  const workspace = await createWorkspace(api);
  const keyId = String(workspace.context.keyId);
  const other = await workspace.createKey({ scopes: ['tickets:read'] });

  const { id } = await workspace.createTicket();
  const { etag = '' } = (await workspace.call('GET', `/tickets/${id}`)).headers;
  await workspace.call('GET', `/tickets/${id}`);
  await workspace.call('GET', `/tickets/${id}`, undefined, { 'if-none-match': etag });
  await workspace.call('GET', '/tickets/2147483647');
  now = new Date('2026-11-22T10:00:10Z');
  await workspace.call('GET', `/tickets/${id}`);
  await api.call({ method: 'POST', path: `${pathPrefix}/tickets`, key: other, body: ticket });
  // Usage excludes requests to unknown paths and public endpoints, and requests with an invalid API key.
  await workspace.call('GET', '/nowhere');
  await api.call({ method: 'GET', path: `${pathPrefix}/tickets`, key: 'itsm_unknown' });
  await workspace.call('GET', '/ping');
  await api.usage.flush();
  await workspace.call('GET', `/tickets/${id}`);
  await api.usage.flush();

  const [otherId] = (await readRows(api, workspace))
    .map((row) => row.keyId)
    .filter((row) => row !== '0' && row !== keyId);
  const short = ({ keyId, at, endpoint, outcome, requests }: Row) =>
    `${at.toISOString().slice(11, 16)} ${keyId === '0' ? 'all' : keyId === otherId ? 'other' : 'key'} ${endpoint} ${outcome} ${requests}`;
  const minutes = await readRows(api, workspace);
  expect(minutes.map(short)).toEqual([
    '09:59 all tickets_create SUCCESSFUL 1',
    '09:59 all tickets_get CLIENT_ERROR 1',
    '09:59 all tickets_get REDIRECTION 1',
    '09:59 all tickets_get SUCCESSFUL 2',
    '09:59 key tickets_create SUCCESSFUL 1',
    '09:59 key tickets_get CLIENT_ERROR 1',
    '09:59 key tickets_get REDIRECTION 1',
    '09:59 key tickets_get SUCCESSFUL 2',
    '10:00 all tickets_create CLIENT_ERROR 1',
    '10:00 all tickets_get SUCCESSFUL 2',
    '10:00 key tickets_get SUCCESSFUL 2',
    '10:00 other tickets_create CLIENT_ERROR 1',
  ]);
  const hours = await readRows(api, workspace, 'usage_hours');
  expect(hours.map(short)).toEqual(minutes.map((row) => short(row).replace('09:59', '09:00')));
  for (const { requests, latencies } of [...minutes, ...hours]) {
    expect(latencies).toHaveLength(latencyBuckets);
    expect(latencies.reduce((sum, count) => sum + count)).toBe(requests);
  }
});

it('records the rejections and the peak usage of each rate limit', async () => {
  const api = await start({ env: { RATE_LIMIT_GLOBAL: '10', RATE_LIMIT_GROUP: '4', TENANT_CONCURRENCY_QUEUE: '0' } });
  const workspace = await createWorkspace(api);
  for (let i = 0; i < 5; i++) await workspace.call('GET', '/assets');
  for (const path of ['/users', '/users', '/users', '/projects', '/projects', '/projects', '/webhooks']) {
    await workspace.call('GET', path);
  }
  await api.usage.flush();
  const ofKey = (await readRows(api, workspace, 'usage_hours')).filter(({ keyId }) => keyId !== '0');
  const facts = ofKey.map(({ endpoint, outcome, requests, globalPeak, groupPeak }) => {
    return [endpoint, outcome, requests, globalPeak, groupPeak];
  });
  expect(facts).toEqual([
    ['assets_list', 'GROUP_LIMIT', 1, 40, 100],
    ['assets_list', 'SUCCESSFUL', 4, 40, 100],
    ['projects_list', 'SUCCESSFUL', 3, 100, 75],
    ['users_list', 'SUCCESSFUL', 3, 70, 75],
    ['webhooks_list', 'GLOBAL_LIMIT', 1, 100, 0],
  ]);
});

it('records concurrency limit rejections separately from rate limit rejections', async () => {
  const api = await start({ env: { TENANT_CONCURRENCY_SHARE: '0.125', TENANT_CONCURRENCY_QUEUE: '0' } });
  const workspace = await createWorkspace(api);
  await workspace.createTicket();
  const lock = new pg.Client({ connectionString: api.databaseUrl });
  await lock.connect();
  await lock.query('BEGIN');
  await lock.query('SELECT FROM ticket_sequences WHERE tenant_id = $1 FOR UPDATE', [workspace.tenantId]);
  const waiting = workspace.call('POST', '/tickets', ticket);
  await expect.poll(() => requestsWaiting(api)).toBe(1);
  expect((await workspace.call('GET', '/assets')).status).toBe(429);
  await lock.end();
  await waiting;
  await api.usage.flush();
  const rejected = (await readRows(api, workspace)).filter(({ endpoint }) => endpoint === 'assets_list');
  expect(new Set(rejected.map(({ outcome }) => outcome))).toEqual(new Set(['CONCURRENCY_LIMIT']));
});

it('adds up the usage counts of concurrent processes', async () => {
  const now = () => new Date('2026-11-22T12:00:00Z');
  const first = await start({ now });
  const others = [await start({ now }), await start({ now })];
  const workspace = await createWorkspace(first);
  const { key } = workspace;
  for (let round = 0; round < 5; round++) {
    const served = [first, ...others].map(async (api) => {
      await Promise.all(
        ['/assets', '/users', '/assets'].map((path) => api.call({ method: 'GET', path: pathPrefix + path, key })),
      );
      await api.usage.flush();
    });
    await Promise.all(served);
  }
  for (const table of ['usage_minutes', 'usage_hours']) {
    const rows = await readRows(first, workspace, table);
    expect(rows.map(({ endpoint, requests }) => [endpoint, requests])).toEqual([
      ['assets_list', 30],
      ['users_list', 15],
      ['assets_list', 30],
      ['users_list', 15],
    ]);
    for (const { requests, latencies } of rows) expect(latencies.reduce((sum, count) => sum + count)).toBe(requests);
  }
});

it("serves requests while usage can't be written, and writes the usage later or on close", async () => {
  const logged: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line) => logged.push(JSON.parse(line).msg) });
  const { url, drop } = await cloneDatabase();
  stops.push(drop);
  const api = await startApi({ databaseUrl: url, logger });
  const workspace = await createWorkspace(api);
  await api.prisma.$executeRaw`ALTER TABLE usage_minutes RENAME TO usage_away`;
  expect((await workspace.call('GET', '/assets')).status).toBe(200);
  await api.usage.flush();
  expect((await workspace.call('GET', '/assets')).status).toBe(200);
  await api.usage.flush();
  expect(logged).toEqual(['usage not written', 'usage not written']);
  await api.prisma.$executeRaw`ALTER TABLE usage_away RENAME TO usage_minutes`;
  expect((await workspace.call('GET', '/assets')).status).toBe(200);
  await api.close();
  const rows = await readRows({ databaseUrl: url }, workspace, 'usage_hours');
  expect(rows.map(({ requests }) => requests)).toEqual([3, 3]);
});

it('limits the memory for unwritten usage counts', async () => {
  const logged: Record<string, unknown>[] = [];
  const logger = pino({ level: 'warn' }, { write: (line) => logged.push(JSON.parse(line)) });
  const { url, drop } = await cloneDatabase();
  stops.push(drop);
  const api = await startApi({ databaseUrl: url, logger });
  stops.push(() => api.close());
  const { tenantId } = await createWorkspace(api);
  const served = { tenantId, kind: 0, milliseconds: 1, globalShare: 0, groupShare: 0 };
  for (let id = 1; id <= 10_050; id++) api.usage.record({ ...served, keyId: BigInt(id) });
  for (let i = 0; i < 7; i++) api.usage.record({ ...served, keyId: 1n });
  await api.usage.flush();
  expect(logged).toMatchObject([{ requests: 50, msg: expect.stringMatching(/usage not counted/) }]);
  const [sum] = await query(url, 'SELECT sum(requests)::int AS sum FROM usage_minutes WHERE key_id <> 0');
  expect(sum).toEqual({ sum: 10_007 });
});

it('deletes usage counts per minute after 3 hours and per hour after 8 days', async () => {
  const api = await start({ ownDatabase: true });
  const workspace = await createWorkspace(api);
  const ages = [1, 2, 4, 8 * 24 - 1, 8 * 24 + 1];
  for (const table of ['usage_minutes', 'usage_hours']) {
    await query(
      api.databaseUrl,
      `INSERT INTO ${table} (tenant_id, at, key_id, endpoint, outcome, requests, latencies, global_peak, group_peak)
       SELECT $1, now() - hours * interval '1 hour', key, 'tickets_list', 'SUCCESSFUL', 1, '{1}', 0, 0
       FROM unnest($2::int[]) AS hours, generate_series(0, 2) AS key`,
      [workspace.tenantId, ages],
    );
  }
  expect(await pruneUsage(api.databases.system.prisma, 2)).toBe(9 + 3);
  const readAges = async (table: string) => {
    const rows = await readRows(api, workspace, table);
    return [...new Set(rows.map(({ at }) => Math.round((Date.now() - at.getTime()) / 3_600_000)))];
  };
  expect(await readAges('usage_minutes')).toEqual([2, 1]);
  expect(await readAges('usage_hours')).toEqual([191, 4, 2, 1]);
});

describe('latencies', () => {
  it('counts a latency in the smallest bucket that includes it', () => {
    expect([0, 1, 1.01, 2, 99, 10_000, 10_001, 1e9].map(bucketOf)).toEqual([0, 0, 1, 1, 11, 22, 23, 23]);
    expect(latencyBounds).toHaveLength(latencyBuckets - 1);
    expect(outcomes).toHaveLength(7);
  });

  it('interpolates latency percentiles within a bucket', () => {
    const latencies = Array<number>(latencyBuckets).fill(0);
    expect(percentile(latencies, 0.5)).toBeUndefined();
    latencies[bucketOf(60)] = 100;
    expect(percentile(latencies, 0.5)).toBe(60);
    expect(percentile(latencies, 0.95)).toBeCloseTo(69);
    latencies[bucketOf(20_000)] = 100;
    expect(percentile(latencies, 0.95)).toBe(10_000);
  });
});
