import { randomUUID } from 'node:crypto';
import { createKey } from '@itsm-api/server/auth/api-keys/api-keys.ts';
import { measureChanges } from '@itsm-api/server/operations/metrics/change-metrics.ts';
import { measureDatabases } from '@itsm-api/server/operations/metrics/database-metrics.ts';
import { measureDeliveries } from '@itsm-api/server/operations/metrics/delivery-metrics.ts';
import { measureKeys } from '@itsm-api/server/operations/metrics/key-metrics.ts';
import { addMetricsRoutes, createMetrics, type Metrics } from '@itsm-api/server/operations/metrics/metrics.ts';
import { createTenantUsage } from '@itsm-api/server/operations/metrics/tenant-usage.ts';
import { toTenantId } from '@itsm-api/server/shared/tenant-id.ts';
import { readBacklog } from '@itsm-api/server/webhooks/maintenance/backlog.ts';
import { findOldestDue } from '@itsm-api/server/webhooks/outbox/pending.ts';
import { startWebhooks } from '@itsm-api/server/webhooks/start-webhooks.ts';
import Fastify from 'fastify';
import pg from 'pg';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { type Api, type ApiOptions, startApi } from '../support/api.ts';
import { startReceiver } from '../support/receiver.ts';
import { eventually, startSender } from '../support/sender.ts';
import { createWorkspace, ticket, type Workspace } from '../support/workspace.ts';
import { type Scraped, scraped } from './scraped.ts';

/** The cleanup functions, which run in reverse order. */
const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

interface Measured {
  api: Api;
  metrics: Metrics;
  scrape(): Promise<Scraped>;
  tenants(): Promise<Record<string, { tenantId: number; requests: number }[]>>;
}

/** Starts an API with the same metrics as a server process. */
async function startMeasuredApi(options: ApiOptions = {}): Promise<Measured> {
  const metrics = createMetrics([]);
  const api = await startApi({ ...options, metrics });
  stops.push(() => api.close());
  measureDatabases(metrics, api.databases);
  return { api, metrics, ...serveMetrics(metrics) };
}

function serveMetrics(metrics: Metrics): Pick<Measured, 'scrape' | 'tenants'> {
  const server = Fastify();
  addMetricsRoutes(server, metrics);
  stops.push(() => server.close());
  return {
    async scrape() {
      const { statusCode, body, headers } = await server.inject('/metrics');
      expect([statusCode, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
      return scraped(body);
    },
    tenants: async () => (await server.inject('/tenants')).json(),
  };
}

describe('metrics of requests', () => {
  it('exports the number of requests that the request log dropped', async () => {
    const { api, scrape } = await startMeasuredApi({ env: { REQUEST_LOG_SUCCESSES: '1000' } });
    const { tenantId } = await createWorkspace(api);
    const { tenantId: other } = await createWorkspace(api);
    const request = { keyId: 1n, requestId: 'r', method: 'GET', url: '/', status: 200, errorCode: null };
    for (let i = 0; i < 1003; i++) {
      api.requestLog.record({ ...request, tenantId: i % 2 === 0 ? tenantId : other, milliseconds: 1, address: '' });
    }
    expect((await scrape()).value('itsm_request_log_dropped_total')).toBe(3);
  });

  it('exports the number and duration of requests by route and status', async () => {
    const { api, scrape } = await startMeasuredApi();
    const workspace = await createWorkspace(api);
    const { id } = await workspace.createTicket();
    for (const path of [`/tickets/${id}`, `/tickets/${id}`, '/tickets/99999999', '/tickets?status=NONE', '/nothing']) {
      await workspace.call('GET', path);
    }
    await api.call({ method: 'GET', path: '/api/public/v1/tickets' });
    // The server doesn't count health checks as API requests.
    await api.call({ method: 'GET', path: '/readyz' });

    const { value, values } = await scrape();
    const counted = (method: string, route: string, status: number) =>
      value('itsm_http_requests_total', { method, route, status: String(status) });
    expect(counted('POST', '/api/public/v1/tickets', 201)).toBe(1);
    expect(counted('GET', '/api/public/v1/tickets/:id', 200)).toBe(2);
    expect(counted('GET', '/api/public/v1/tickets/:id', 404)).toBe(1);
    expect(counted('GET', '/api/public/v1/tickets', 400)).toBe(1);
    expect(counted('GET', '/api/public/v1/tickets', 401)).toBe(1);
    expect(counted('GET', 'unknown', 404)).toBe(1);
    const byId = { method: 'GET', route: '/api/public/v1/tickets/:id' };
    expect(value('itsm_http_request_duration_seconds_count', byId)).toBe(3);
    const seconds = value('itsm_http_request_duration_seconds_sum', byId);
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThan(10);
    expect(values('itsm_http_requests_total').reduce((sum, each) => sum + each, 0)).toBe(7);
  });

  it('does not add time series for each tenant, API key, path or method', async () => {
    const { api, scrape, tenants } = await startMeasuredApi();
    const sendRequests = async (workspace: Workspace) => {
      const { id } = await workspace.createTicket();
      const keys = await Promise.all([1, 2, 3].map(() => workspace.createKey()));
      for (const key of [workspace.key, ...keys, 'itsm_unknown']) {
        const request = { key, path: `/api/public/v1/tickets/${id}` };
        for (const method of ['GET', 'PATCH']) await api.call({ ...request, method, body: { title: 'Another' } });
        for (const method of ['GET', 'PROPFIND', 'LOCK', 'COPY', 'MKCOL']) {
          await api.call({ ...request, method, path: `/${randomUUID()}` });
        }
      }
      return workspace;
    };
    const first = await sendRequests(await createWorkspace(api));
    const before = await scrape();
    const others = [];
    for (let i = 0; i < 20; i++) others.push(await sendRequests(await createWorkspace(api)));
    const after = await scrape();

    const ownSeries = (names: string[]) => names.filter((name) => name.startsWith('itsm_'));
    expect(ownSeries(after.series)).toEqual(ownSeries(before.series));
    expect(after.value('itsm_http_requests_total', { method: 'OTHER', route: 'unknown', status: '404' })).toBe(21 * 20);
    for (const { key } of [first, ...others]) expect(after.text).not.toContain(key);
    const labels = [...after.types.keys()].flatMap((name) =>
      ['', '_bucket'].flatMap((suffix) => [...after.labelsOf(name + suffix)]),
    );
    const boundedLabels = ['method', 'route', 'status', 'pool', 'window', 'reason', 'le'];
    const nodeLabels = ['version', 'major', 'minor', 'patch', 'kind', 'space', 'type'];
    expect([...new Set(labels)].filter((label) => ![...boundedLabels, ...nodeLabels].includes(label))).toEqual([]);

    const { requests } = await tenants();
    expect(requests).toHaveLength(10);
    for (const each of requests ?? []) expect(each.requests).toBe(1 + 4 * 2);
  });

  it('counts global and group rate limit rejections separately', async () => {
    const { api, scrape } = await startMeasuredApi({ env: { RATE_LIMIT_GLOBAL: '5', RATE_LIMIT_GROUP: '3' } });
    const { call } = await createWorkspace(api);
    const getRejections = async () => {
      const { value } = await scrape();
      return ['global', 'group'].map((window) => value('itsm_rate_limit_rejections_total', { window }));
    };
    expect(await getRejections()).toEqual([0, 0]);
    for (let i = 0; i < 5; i++) await call('GET', '/tickets');
    expect(await getRejections()).toEqual([0, 2]);
    for (let i = 0; i < 3; i++) await call('GET', '/users');
    expect(await getRejections()).toEqual([1, 2]);
    await call('GET', '/tickets');
    expect(await getRejections()).toEqual([2, 3]);
  });

  it('counts the requests that the concurrency limit delays or rejects', async () => {
    const { api, scrape, tenants } = await startMeasuredApi({
      env: {
        DATABASE_POOL_SIZE: '4',
        TENANT_CONCURRENCY_SHARE: '0.25',
        TENANT_CONCURRENCY_QUEUE: '1',
        TENANT_CONCURRENCY_WAIT_MS: '1500',
      },
    });
    const workspace = await createWorkspace(api);
    await workspace.createTicket();
    const lock = new pg.Client({ connectionString: api.databaseUrl });
    await lock.connect();
    stops.push(() => lock.end());
    const whileCreatesWait = async (work: () => Promise<void>) => {
      await lock.query('BEGIN');
      await lock.query('SELECT FROM ticket_sequences WHERE tenant_id = $1 FOR UPDATE', [workspace.tenantId]);
      await work();
      await lock.query('ROLLBACK');
    };
    const create = () => workspace.call('POST', '/tickets', ticket);
    const requests: ReturnType<typeof create>[] = [];
    const getRejections = async () => {
      const { value } = await scrape();
      return ['queue', 'wait', 'unread', 'keys'].map((reason) =>
        value('itsm_tenant_concurrency_rejections_total', { reason }),
      );
    };

    await whileCreatesWait(async () => {
      requests.push(create(), create());
      await eventually(async () => expect((await scrape()).value('itsm_tenant_concurrency_waiting')).toBe(1));
      const { value } = await scrape();
      expect(value('itsm_database_connections_in_use', { pool: 'requests' })).toBe(1);
      expect((await create()).status).toBe(429);
      expect(await getRejections()).toEqual([1, 0, 0, 0]);
      await eventually(async () => expect(await getRejections()).toEqual([1, 1, 0, 0]));
    });
    await Promise.all(requests);
    await whileCreatesWait(async () => {
      requests.push(create(), create());
      await eventually(async () => expect((await scrape()).value('itsm_tenant_concurrency_waiting')).toBe(1));
    });
    expect((await Promise.all(requests)).map(({ status }) => status)).toEqual([201, 429, 201, 201]);
    const { value } = await scrape();
    expect(value('itsm_tenant_concurrency_waiting')).toBe(0);
    expect(value('itsm_tenant_concurrency_wait_seconds_count')).toBe(1);

    const [highest] = (await tenants()).connectionMs ?? [];
    expect(highest).toMatchObject({ tenantId: Number(workspace.tenantId), requests: 6 });
    expect(highest).toHaveProperty(
      'connectionMs',
      expect.toSatisfy((spent: number) => spent > 1500),
    );
  });
});

it('exports metrics of database connections and prepared statements', async () => {
  const { api, scrape } = await startMeasuredApi({ env: { DATABASE_POOL_SIZE: '3' } });
  const workspace = await createWorkspace(api);
  await workspace.createTicket();
  await workspace.call('GET', '/tickets');

  const { value } = await scrape();
  const requests = { pool: 'requests' };
  expect(value('itsm_database_connections_max', requests)).toBe(3);
  expect(value('itsm_database_connections_max', { pool: 'keys' })).toBe(2);
  expect(value('itsm_database_connections_in_use', requests)).toBe(0);
  expect(value('itsm_database_connections_idle', requests)).toBeGreaterThan(0);
  expect(value('itsm_database_connections_waiting', requests)).toBe(0);
  expect(value('itsm_database_connection_wait_seconds_count', requests)).toBeGreaterThanOrEqual(2);
  expect(value('itsm_database_connection_wait_seconds_count', { pool: 'keys' })).toBeGreaterThanOrEqual(1);
  const { rows } = await api.databases.requests.pool.lend((connection) =>
    connection.query("SELECT count(*)::int AS count FROM pg_prepared_statements WHERE name <> 'itsm_set_tenant'"),
  );
  expect(value('itsm_database_prepared_statements', requests)).toBe(rows[0].count);
});

it('reports no waiting queries while a connection is idle', async () => {
  const api = await startApi();
  stops.push(() => api.close());
  const run = async () => ({ ok: (await api.databases.system.pool.query('SELECT 1')).rowCount === 1 });
  const metrics = createMetrics([{ name: 'database', run }]);
  measureDatabases(metrics, api.databases);
  const { scrape } = serveMetrics(metrics);
  await scrape();
  expect((await scrape()).value('itsm_database_connections_waiting', { pool: 'system' })).toBe(0);
});

it('exports the outcomes, the latency and the backlog of deliveries', async () => {
  const sender = await startSender();
  stops.push(() => sender.close());
  const { api, workspace } = sender;
  const { prisma: system } = api.databases.system;
  const [good, bad] = [await startReceiver(), await startReceiver((_, response) => response.writeHead(500).end())];
  stops.push(() => Promise.all([good.close(), bad.close()]));
  expect(await readBacklog(system)).toMatchObject({ due: 0, waiting: 0, oldestDueSeconds: 0 });

  const { id: deliverable } = await workspace.createWebhook({ url: good.url });
  const { id: failing } = await workspace.createWebhook({ url: bad.url });
  const { id: off } = await workspace.createWebhook({ url: good.url });
  for (let i = 0; i < 3; i++) await workspace.createTicket();
  await api.prisma.webhookSubscription.updateMany({ where: { id: off }, data: { active: false } });
  await sender.age(120_000);
  const backlog = await readBacklog(system);
  expect(backlog).toMatchObject({ due: 6, waiting: 3, jobs: { 'webhook-dispatch': 3, 'webhook-retention': 0 } });
  expect(backlog.oldestDueSeconds).toBeGreaterThanOrEqual(120);
  expect(backlog.oldestDueSeconds).toBeLessThan(140);

  const metrics = createMetrics([]);
  const { scrape, tenants } = serveMetrics(metrics);
  const observer = measureDeliveries(metrics, system);
  const stop = await startWebhooks({ ...api, logger: pino({ level: 'silent' }), observer });
  stops.push(stop);
  await sender.settled(deliverable);
  await eventually(async () => {
    const { value } = await scrape();
    expect(value('itsm_deliveries_total', { outcome: 'delivered' })).toBe(3);
    expect(value('itsm_deliveries_total', { outcome: 'failed' })).toBe(3);
    expect(value('itsm_delivery_attempts_in_flight')).toBe(0);
  });
  const { email: user } = await workspace.createUser();
  const key = { user, name: 'x', scopes: ['tickets:read' as const] };
  for (const expiresInDays of [1, 30, 31]) await createKey(workspace.context, { ...key, expiresInDays });
  measureKeys(metrics, system);
  const first = await scrape();
  expect(first.value('itsm_api_keys_expiring')).toBe(2);
  expect(first.value('itsm_delivery_receipt_seconds_count')).toBe(3);
  expect(first.value('itsm_delivery_receipt_seconds_sum')).toBeGreaterThanOrEqual(3 * 120);
  expect(first.value('itsm_deliveries_total', { outcome: 'exhausted' })).toBe(0);
  expect(first.value('itsm_deliveries_due')).toBeDefined();
  expect(first.value('itsm_jobs_waiting', { queue: 'webhook-dispatch' })).toBeDefined();
  expect((await tenants()).deliveries).toMatchObject([{ tenantId: Number(workspace.tenantId), deliveries: 6 }]);

  // The ticket was just created, so the measured time is the normal delivery latency.
  await workspace.createTicket();
  await eventually(() => expect(good.received).toHaveLength(4));
  await eventually(async () => expect((await scrape()).value('itsm_delivery_receipt_seconds_count')).toBe(4));
  const sums = [first, await scrape()].map(({ value }) => value('itsm_delivery_receipt_seconds_sum') ?? 0);
  expect((sums[1] ?? 0) - (sums[0] ?? 0)).toBeGreaterThan(0);
  expect((sums[1] ?? 0) - (sums[0] ?? 0)).toBeLessThan(5);

  // While the circuit is open, failed deliveries are not due, even if their next attempt time has passed.
  await stop();
  await api.prisma.webhookSubscription.updateMany({
    where: { id: failing },
    data: { openUntil: new Date(Date.now() + 3_600_000) },
  });
  await sender.age(1_000_000);
  await api.prisma.webhookSubscription.updateMany({
    where: { id: failing },
    data: { openUntil: new Date(Date.now() + 3_600_000) },
  });
  const left = await api.prisma.delivery.count({ where: { state: 'PENDING' } });
  expect(left).toBeGreaterThanOrEqual(3);
  expect(await readBacklog(system)).toMatchObject({ due: 0, waiting: left, oldestDueSeconds: 0 });
});

it('counts only one due delivery for a half-open circuit', async () => {
  const { api, workspace, ...sender } = await startSender();
  stops.push(() => sender.close());
  const { prisma } = api.databases.system;
  const system = prisma;
  const { id } = await workspace.createWebhook();
  for (let i = 0; i < 3; i++) await workspace.createTicket();
  await sender.age(3_600_000);
  expect(await readBacklog(system)).toMatchObject({ due: 3, waiting: 0 });

  const openUntil = new Date(Date.now() - 5000);
  await api.prisma.webhookSubscription.updateMany({ where: { id }, data: { openUntil } });
  const backlog = await readBacklog(system);
  expect(backlog).toMatchObject({ due: 1, waiting: 2 });
  const oldest = await findOldestDue(prisma);
  for (const seconds of [backlog.oldestDueSeconds, oldest?.seconds]) {
    expect(seconds).toBeGreaterThanOrEqual(5);
    expect(seconds).toBeLessThan(30);
  }
});

it("omits the delivery backlog without delaying the scrape if the database doesn't respond in time", async () => {
  const sender = await startSender();
  stops.push(() => sender.close());
  const metrics = createMetrics([]);
  const { scrape } = serveMetrics(metrics);
  measureDeliveries(metrics, sender.api.databases.system.prisma);
  const lock = new pg.Client({ connectionString: sender.api.databaseUrl });
  await lock.connect();
  stops.push(() => lock.end());
  await lock.query('BEGIN; LOCK TABLE deliveries IN ACCESS EXCLUSIVE MODE');
  // The lock lasts until the end of the test, so a scrape that waited for it would never respond.
  const { value } = await scrape();
  expect(value('itsm_deliveries_due')).toBeUndefined();
  expect(value('itsm_deliveries_total', { outcome: 'delivered' })).toBe(0);
});

describe('usage per tenant', () => {
  it('exports the tenants with the highest usage in the last five minutes', () => {
    let now = 0;
    const { add, top } = createTenantUsage(() => now);
    for (let id = 1; id <= 12; id++) add(toTenantId(id), 'requests', id);
    add(toTenantId(1), 'connectionMs', 1234.4);
    expect(top().requests.map(({ tenantId }) => tenantId)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
    expect(top().connectionMs).toEqual([{ tenantId: 1, requests: 1, connectionMs: 1234, deliveries: 0 }]);
    expect(top().deliveries).toEqual([]);

    now = 4 * 60_000;
    add(toTenantId(1), 'requests', 100);
    expect(top().requests[0]).toMatchObject({ tenantId: 1, requests: 101 });
    now = 6 * 60_000;
    expect(top().requests).toEqual([{ tenantId: 1, requests: 100, connectionMs: 0, deliveries: 0 }]);
  });

  it('keeps the tenants with the highest usage when 59,000 other tenants are active', () => {
    const { add, top } = createTenantUsage(() => 0);
    add(toTenantId(1), 'connectionMs', 60_000);
    add(toTenantId(2), 'requests', 500);
    for (let id = 1000; id < 60_000; id++) add(toTenantId(id), 'requests', 1);
    add(toTenantId(70_000), 'deliveries', 7);
    expect(top().connectionMs.map(({ tenantId }) => tenantId)).toEqual([1]);
    expect(top().requests[0]).toMatchObject({ tenantId: 2, requests: 500 });
    expect(top().deliveries).toMatchObject([{ tenantId: 70_000, deliveries: 7 }]);
  });
});

describe('metrics of the change feed', () => {
  it('exports the age of the oldest writing transaction as change feed lag', async () => {
    const { api, metrics, scrape } = await startMeasuredApi();
    let now = 0;
    measureChanges(metrics, api.databases.system.prisma, () => now);
    const lag = async () => (await scrape()).value('itsm_changes_lag_seconds');
    const lagAfter = async (milliseconds: number) => {
      now += milliseconds;
      await createWorkspace(api);
      return lag();
    };
    await lag();
    const open = new pg.Client({ connectionString: api.databaseUrl });
    await open.connect();
    await open.query('BEGIN; SELECT pg_current_xact_id()');
    // Tests in other databases of the PostgreSQL server can briefly have an open transaction.
    try {
      await lagAfter(5000);
      await expect.poll(() => lagAfter(0)).toBe(0);
      const first = (await lagAfter(5000)) ?? 0;
      expect(first).toBeGreaterThanOrEqual(5);
      expect(await lagAfter(60_000)).toBe(first + 60);
    } finally {
      // An open transaction would hold back the change feeds of all later tests.
      await open.end();
    }
    await expect.poll(() => lagAfter(1000)).toBeLessThan(60);
  });
});
