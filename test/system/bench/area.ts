import { buildApp } from '@itsm-api/server/app.ts';
import { readSettings } from '@itsm-api/server/config/env.ts';
import { createLogger } from '@itsm-api/server/http/logger.ts';
import { migrateDatabase } from '@itsm-api/server/process/ensure-schema.ts';
import { openRuntime, type Runtime } from '@itsm-api/server/process/runtime.ts';
import type { Context } from '@itsm-api/server/resources/shared/context.ts';
import { tenantContext } from '@itsm-api/server/resources/tenants/queries.ts';
import { createWebhook } from '@itsm-api/server/resources/webhooks/queries.ts';
import { toTenantId } from '@itsm-api/server/shared/tenant-id.ts';
import type { FastifyInstance } from 'fastify';
import pg from 'pg';
import type { Api } from '../../support/api.ts';
import { median, type Percentiles, percentiles } from '../../support/percentiles.ts';
import { preview, signIn, type Visitor } from '../../support/visitor.ts';
import { loadData } from './api/data.ts';
import { fillUsage } from './usage.ts';

/** The latency of the developer area's pages in a workspace with many rows. */
export interface AreaResult {
  tickets: number;
  deliveries: number;
  /**
   * For each page, the response time in milliseconds (measured without a network) and the response size in bytes. The
   * percentiles are medians of the rounds.
   */
  pages: Record<string, Measured>;
}

type Measured = Pick<Percentiles, 'p50' | 'p95' | 'max'> & { bytes: number };

interface AreaOptions {
  dataDir: string;
  tickets: number;
  deliveries: number;
  rounds: number;
  onProgress: (text: string) => void;
}

const webhooks = 50;
/**
 * The number of measured requests per page and round. An additional first request is not measured, because it prepares
 * the SQL statements.
 */
const perRound = 25;

const assets = 20_000;
const projects = 500;
const articles = 2000;
const auditEntries = 200_000;
const loggedRequests = 500_000;

/** The maximum p95 latency of a page in milliseconds. */
const maxP95 = 100;

/**
 * Measures the latency of the developer area's pages for an administrator of a large workspace. Requests every page,
 * and the delivery list with every filter. The workspace has half of the loaded tickets, as well as assets, projects,
 * articles, a thousand API keys with a week of usage and requests, an audit log, invited users, and 30 days of
 * deliveries to 50 webhooks, of which ten fail. Two of the event types are frequent, and one is rare. Half of the
 * deliveries of the most frequent type are exhausted.
 */
export async function benchArea(options: AreaOptions): Promise<{ table: string; result: AreaResult; good: boolean }> {
  const { dataDir, tickets, deliveries, rounds, onProgress } = options;
  const settings = readSettings({ DATA_DIR: dataDir, LOG_LEVEL: 'silent', RATE_LIMIT_PAGES: '1000000' });
  const runtime = await openRuntime(settings, {
    holder: { type: 'command' },
    worker: false,
    prepare: migrateDatabase,
    onConnectionError: () => undefined,
  });
  const { databases, services } = runtime;
  const app = await buildApp({ databases, services, settings, logger: createLogger('silent') });
  try {
    const { ticketIds } = await loadData(runtime.databaseUrl, tickets, onProgress);
    onProgress(`loading ${deliveries} deliveries`);
    const context = await tenantContext(runtime, '1');
    const webhook = await load(runtime, context, deliveries);
    const visitor = await signIn({ databases, call: callsOf(app) }, { tenantId: toTenantId(1), userId: 1 });
    // The CSV file has as many rows as an import allows.
    const lines = Array.from({ length: 5000 }, (_, n) => `Laptop ${n},NEW-${n},LAPTOP\n`);
    await preview(visitor, '/developer/assets/import', `name,assetTag,type\n${lines.join('')}`);
    const pages: AreaResult['pages'] = {};
    const measured = new Map<string, Measured[]>();
    const paths = [...pathsFor(webhook), ...otherPaths(ticketIds)];
    for (let round = 1; round <= rounds; round++) {
      onProgress(`round ${round} of ${rounds}`);
      for (const path of paths) {
        measured.set(path, [...(measured.get(path) ?? []), await measure(visitor, path)]);
      }
    }
    for (const [path, each] of measured) pages[path] = mediansOf(each);
    const good = Object.values(pages).every(({ p95 }) => p95 <= maxP95);
    return { table: tableOf(pages), result: { tickets, deliveries, pages }, good };
  } finally {
    await app.close();
    await runtime.close();
  }
}

/** Inserts all data except the tickets. Returns the id of a webhook with deliveries. */
async function load({ databaseUrl }: Runtime, context: Context, deliveries: number): Promise<number> {
  const tenantId = context.db.$tenantId;
  const made: number[] = [];
  for (let i = 0; i < webhooks; i++) {
    const url = `https://hooks.example.com/${i}`;
    made.push((await createWebhook(context, { url, secret: 'a secret, long enough', events: ['ticket.created'] })).id);
  }
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(
      `INSERT INTO events (tenant_id, public_id, type, body, created_at)
       SELECT $1, 'evt_' || md5(n::text),
         CASE WHEN n % 1000 = 0 THEN 'asset.created' WHEN n % 100 < 40 THEN 'ticket.created' ELSE 'ticket.updated' END,
         json_build_object('ticket', json_build_object('id', n, 'description', repeat(md5(n::text), 40))),
         now() - interval '30 days' * ($2 - n) / $2
       FROM generate_series(1, $2::int) n`,
      [tenantId, deliveries],
    );
    await client.query(
      `INSERT INTO deliveries (tenant_id, subscription_id, event_id, state, attempts, created_at, settled_at)
       SELECT tenant_id, ($2::bigint[])[1 + id % $3::int], id,
         CASE WHEN type = 'ticket.updated' AND id % 2 = 0 THEN 'EXHAUSTED' ELSE 'DELIVERED' END, 1, created_at, created_at
       FROM events WHERE tenant_id = $1 ORDER BY id`,
      [tenantId, made, webhooks],
    );
    await client.query(
      `INSERT INTO delivery_attempts (tenant_id, delivery_id, number, started_at, duration_ms, status, public_answer)
       SELECT tenant_id, id, 1, created_at, 20, 500, repeat(md5(id::text), 20) FROM deliveries WHERE tenant_id = $1 ORDER BY id`,
      [tenantId],
    );
    await client.query(`UPDATE users SET role = 'ADMIN' WHERE tenant_id = $1 AND id = 1`, [tenantId]);
    await client.query(
      `INSERT INTO assets (tenant_id, name, asset_tag, type, updated_at)
       SELECT $1, 'Laptop ' || n, 'LT-' || n, 'LAPTOP', now() FROM generate_series(1, $2::int) n`,
      [tenantId, assets],
    );
    await client.query(
      `INSERT INTO projects (tenant_id, key, name, updated_at)
       SELECT $1, 'P' || n, 'Project ' || n, now() FROM generate_series(1, $2::int) n`,
      [tenantId, projects],
    );
    await fillUsage(client);
    await loadAdministration(client);
    await client.query('VACUUM ANALYZE');
  } finally {
    await client.end();
  }
  return made[0] as number;
}

/** Inserts API keys, articles, audit entries, logged requests, sessions and invitations, and makes webhooks fail. */
async function loadAdministration(client: pg.Client): Promise<void> {
  await client.query(
    `UPDATE webhook_subscriptions SET failures = 3, failing_since = now(), last_failure_at = now()
     WHERE tenant_id = 1 AND id % 5 = 0;
     INSERT INTO api_keys (tenant_id, user_id, name, hash, last_four, scopes, expires_at, updated_at)
     SELECT 1, 1 + n % 200, 'Program ' || n, md5(n::text)::bytea, 'abcd', ARRAY['tickets:read'], now() + (n - 500) * interval '1 day', now()
     FROM generate_series(1, 1000) n;
     INSERT INTO sessions (tenant_id, user_id, hash, address, user_agent, created_at, ended_at)
     SELECT 1, 1 + n % 150, md5(n::text)::bytea, '203.0.113.7', 'Firefox', now() - n * interval '1 minute', now()
     FROM generate_series(1, 50000) n;
     INSERT INTO invitations (tenant_id, user_id, hash, expires_at)
     SELECT 1, id, md5(id::text)::bytea, now() + interval '3 days' FROM users WHERE tenant_id = 1 AND id BETWEEN 151 AND 200;
     INSERT INTO attachment_usage VALUES (1, 3000000000)`,
  );
  await client.query(
    `INSERT INTO articles (tenant_id, title, body, status, updated_at)
     SELECT 1, 'Restart the VPN client ' || n, repeat('Open the settings. ', 100), CASE WHEN n % 10 = 0 THEN 'DRAFT' ELSE 'PUBLISHED' END, now()
     FROM generate_series(1, $1::int) n`,
    [articles],
  );
  await client.query(
    `INSERT INTO audit_entries (tenant_id, at, user_id, action, target_type, target_id, changes, address, user_agent)
     SELECT 1, now() - interval '400 days' * ($1 - n) / $1, 1 + n % 20,
       (ARRAY['session.started', 'key.created', 'user.updated', 'webhook.changed'])[1 + n % 4],
       (ARRAY['user', 'key', 'user', 'webhook'])[1 + n % 4], 1 + n % 500, '{"role":{"from":"AGENT","to":"ADMIN"}}', '203.0.113.7',
       'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0' FROM generate_series(1, $1::int) n`,
    [auditEntries],
  );
  await client.query(
    `INSERT INTO request_log (tenant_id, at, key_id, milliseconds, status, method, error_code, request_id, path, address)
     SELECT 1, now() - interval '7 days' * ($1 - n) / $1, 1 + n % 100, 12, CASE WHEN n % 3 = 0 THEN 404 ELSE 200 END, 'GET',
       CASE WHEN n % 3 = 0 THEN 'NOT_FOUND' END, 'request-' || n, '/api/public/v1/tickets?status=OPEN&page=' || n, '203.0.113.9'
     FROM generate_series(1, $1::int) n`,
    [loggedRequests],
  );
  await client.query(
    `INSERT INTO request_log_minutes SELECT 1, date_trunc('minute', now()) - n * interval '1 minute', 60, 120, 5
     FROM generate_series(1, 7 * 24 * 60) n`,
  );
}

function pathsFor(webhook: number): string[] {
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 16);
  const queries = [
    '',
    'page=1900',
    'state=EXHAUSTED',
    'state=CANCELLED',
    'event=ticket.updated',
    'event=asset.created',
    'event=asset.created&state=EXHAUSTED',
    'event=task.updated',
    // The worst case: each filter alone matches many deliveries, but no delivery matches both filters.
    'event=ticket.created&state=EXHAUSTED',
    `since=${day(1)}`,
    `until=${day(29)}`,
    `since=${day(20)}&until=${day(19.9)}`,
    `since=${day(20)}&until=${day(19)}&event=ticket.created&state=EXHAUSTED`,
    `subscription=${webhook}`,
    `subscription=${webhook}&event=asset.created`,
    'event=evt_c4ca4238a0b923820dcc509a6f75849b',
  ];
  const lists = queries.map((query) => `/developer/deliveries?${query}`);
  return [...lists, '/developer/deliveries/1', '/developer/webhooks', `/developer/webhooks/${webhook}`];
}

/** Returns the paths of the pages that don't show webhooks or deliveries. */
function otherPaths(ticketIds: number[]): string[] {
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 16);
  return [
    '/overview',
    ...['/keys', '/keys?state=expiring&sort=expires', '/keys?q=program', '/keys/new', '/keys/1'],
    ...['/usage', '/usage?range=1h', '/usage?range=7d', '/usage?range=7d&key=1'],
    ...['/requests', '/requests?error=any', '/requests?error=NOT_FOUND&key=7', '/requests?requestId=request-4711'],
    ...[`/requests?since=${day(3)}&until=${day(2)}`, '/requests?error=VALIDATION_ERROR'],
    ...['/users', '/users?q=user1', '/users?status=invited', '/users?status=invited&q=user1', '/users/new', '/users/1'],
    '/users/new-service-account',
    ...['/assets', `/assets?page=${assets / 25}`, '/assets?q=laptop', '/assets/new', '/assets/1', '/assets/import'],
    ...['/projects', `/projects?page=${projects / 25}`, '/projects/new', '/projects/1', '/projects/import'],
    ...['/articles', '/articles?q=vpn', '/articles/new', '/articles/1'],
    ...[`/tickets/${ticketIds.at(-1)}`, '/webhooks/new', '/settings', '/account'],
    ...['/audit', '/audit?page=1000', '/audit?page=2000', '/audit?actor=7', '/audit?actor=7&action=key.created'],
    ...['/audit?action=session.failed', '/audit?targetType=webhook&targetId=12', '/audit?targetType=asset'],
    ...[`/audit?since=${day(200)}&until=${day(199)}`, `/audit?until=${day(390)}`, `/audit?since=${day(100)}&actor=3`],
  ].map((path) => `/developer${path}`);
}

function callsOf(app: FastifyInstance): Api['call'] {
  return async ({ method, path, headers = {}, body }) => {
    const response = await app.inject({ method: method as 'GET', url: path, headers, payload: body as string });
    return {
      status: response.statusCode,
      headers: response.headers as Record<string, string>,
      text: response.body,
      body: undefined,
    };
  };
}

async function measure(visitor: Visitor, path: string): Promise<Measured> {
  const took: number[] = [];
  let bytes = 0;
  for (let time = 0; time <= perRound; time++) {
    const began = performance.now();
    const { status, headers } = await visitor.get(path, { 'accept-encoding': 'gzip' });
    if (status !== 200) throw new Error(`${path} returned ${status}`);
    took.push(performance.now() - began);
    bytes = Number(headers['content-length']);
  }
  return { ...percentiles(took.slice(1)), bytes };
}

function mediansOf(rounds: Measured[]): Measured {
  const of = (name: keyof Measured) => median(rounds.map((round) => round[name]));
  return { p50: of('p50'), p95: of('p95'), max: of('max'), bytes: of('bytes') };
}

function tableOf(pages: AreaResult['pages']): string {
  const rows = Object.entries(pages).map(([path, { p50, p95, max, bytes }]) => {
    return `${path.padEnd(100)} ${[p50, p95, max].map((each) => each.toFixed(1).padStart(7)).join('')} ${String(bytes).padStart(7)}\n`;
  });
  return `${'page'.padEnd(100)}     p50    p95    max   bytes\n${rows.join('')}`;
}
