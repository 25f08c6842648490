import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { pathPrefix, type Ticket } from '@itsm-api/contract';
import { hashKey, newKey } from '@itsm-api/server/identity/key-format.ts';
import { findWrongTotals } from '@itsm-api/server/resources/tickets/totals.ts';
import { migrateDatabase } from '@itsm-api/server/schema.ts';
import { findPending } from '@itsm-api/server/webhooks/pending.ts';
import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, startApi } from '../support/api.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';

/*
 * A database that the first release has made and filled, and that this one then migrates and serves.
 */
const firstRelease = [
  '20261120000000_init',
  '20261120111642_webhook_delivery',
  '20261120113809_ticket_totals',
  '20261120130254_retention_indexes',
];

const key = newKey();
let database: TestDatabase;
let client: pg.Client;
let api: Api;

beforeAll(async () => {
  database = await cloneDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('DROP SCHEMA public, pgboss CASCADE; CREATE SCHEMA public');
  await migrateAsFirstRelease();
  await fill();
  await migrateDatabase(database.url);
  api = await startApi({ databaseUrl: database.url });
}, 60_000);

afterAll(async () => {
  await api.close();
  await client.end();
  await database.drop();
});

/** With rows as Prisma's engine has written them, and pg-boss's schema as pg-boss made it. */
async function migrateAsFirstRelease(): Promise<void> {
  await client.query(`CREATE TABLE _prisma_migrations (
    id VARCHAR(36) PRIMARY KEY NOT NULL, checksum VARCHAR(64) NOT NULL, finished_at TIMESTAMPTZ,
    migration_name VARCHAR(255) NOT NULL, logs TEXT, rolled_back_at TIMESTAMPTZ,
    started_at TIMESTAMPTZ NOT NULL DEFAULT now(), applied_steps_count INTEGER NOT NULL DEFAULT 0)`);
  for (const name of firstRelease) {
    const script = await readFile(new URL(`../../prisma/migrations/${name}/migration.sql`, import.meta.url), 'utf8');
    await client.query(script);
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, now(), 1)`,
      [randomUUID(), createHash('sha256').update(script).digest('hex'), name],
    );
  }
  const boss = new PgBoss({ connectionString: database.url, supervise: false, schedule: false });
  await boss.start();
  const lanes = { expireInSeconds: 60, retryLimit: 0, deleteAfterSeconds: 60 };
  await boss.createQueue('webhook-lanes', { policy: 'short', ...lanes });
  for (const name of ['webhook-retention', 'totals-check']) await boss.createQueue(name, { policy: 'exclusive' });
  await boss.insert('webhook-lanes', [{ singletonKey: '1:1', data: { tenantId: '1', subscriptionId: '1' } }]);
  await boss.stop();
}

/** Two tenants with rows in every table; the second has ids that the first has, too. */
async function fill(): Promise<void> {
  await client.query(`
    INSERT INTO tenants (name, name_key, updated_at) VALUES ('Acme', 'acme', now()), ('Other', 'other', now());
    INSERT INTO users (tenant_id, id, name, email, role, updated_at)
      SELECT t, u, 'User ' || u, u || '@example.com', 'ADMIN', now()
      FROM generate_series(1, 2) t, generate_series(1, 3) u;
    INSERT INTO tickets (tenant_id, id, ordinal, type, number, title, description, status, priority, category,
        requester_id, assignee_id, custom_fields, updated_at)
      SELECT t, n, n, 'INCIDENT', n, 'Ticket “' || n || '”…', 'Text', (ARRAY['OPEN', 'PENDING', 'CLOSED'])[n % 3 + 1]::"TicketStatus",
        'HIGH', CASE WHEN n % 2 = 0 THEN 'NETWORK'::"TicketCategory" END, 1, n % 3 + 1,
        jsonb_build_object('site', 'Leipzig', 'floor', n), now() - n % 7 * interval '1 hour'
      FROM generate_series(1, 2) t, generate_series(1, 300) n;
    INSERT INTO ticket_sequences (tenant_id, total, incident) VALUES (1, 300, 300), (2, 300, 300);
    INSERT INTO ticket_watchers (tenant_id, ticket_id, user_id)
      SELECT t, n, u FROM generate_series(1, 2) t, generate_series(1, 300) n, generate_series(2, 3) u;
    INSERT INTO assets (tenant_id, id, name, asset_tag, type, assigned_to_id, updated_at)
      SELECT t, n, 'Laptop – »Dock«', 'LT-' || n, 'LAPTOP', 1, now() FROM generate_series(1, 2) t, generate_series(1, 5) n;
    INSERT INTO projects (tenant_id, id, key, name, updated_at)
      SELECT t, 1, 'MOVE', 'Move', now() FROM generate_series(1, 2) t;
    INSERT INTO tasks (tenant_id, id, project_id, title, status, updated_at)
      SELECT t, n, 1, 'Task ' || n, 'DONE', now() FROM generate_series(1, 2) t, generate_series(1, 4) n;
    INSERT INTO webhook_subscriptions (tenant_id, id, url, secret, events, updated_at)
      SELECT t, 1, 'https://hooks.example.com/' || t, '\\x00', '{ticket.created,ticket.updated}', now()
      FROM generate_series(1, 2) t;
    INSERT INTO events (tenant_id, id, public_id, type, body)
      SELECT t, n, 'evt_' || n, 'ticket.created', '{}' FROM generate_series(1, 2) t, generate_series(1, 10) n;
    INSERT INTO deliveries (tenant_id, id, subscription_id, event_id)
      SELECT t, n, 1, n FROM generate_series(1, 2) t, generate_series(1, 10) n;
    INSERT INTO delivery_attempts (tenant_id, delivery_id, number, started_at, duration_ms, status)
      SELECT t, 1, 1, now(), 5, 500 FROM generate_series(1, 2) t;
    SELECT setval(pg_get_serial_sequence(name, 'id'), 1000) FROM unnest(ARRAY['users', 'tickets', 'assets', 'projects',
      'tasks', 'webhook_subscriptions', 'events', 'deliveries']) AS name;`);
  await client.query(
    `INSERT INTO api_keys (tenant_id, user_id, name, hash, last_four, scopes, updated_at)
     VALUES (1, 1, 'old', $1, $2, $3, now())`,
    [
      hashKey(key),
      key.slice(-4),
      [
        'tickets:read',
        'tickets:write',
        'assets:read',
        'assets:write',
        'projects:read',
        'projects:write',
        'webhooks:manage',
      ],
    ],
  );
}

const call = async (method: string, path: string, body?: unknown) => {
  const answer = await api.call({ method, path: pathPrefix + path, key, body });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
};

describe('a database of the first release, upgraded', () => {
  it('shows what was in it', async () => {
    const open = await call('GET', '/tickets?status=OPEN&category=NETWORK&perPage=2');
    expect(open.meta.totalCount).toBe(50);
    expect(open.data.map(({ id }: Ticket) => id)).toEqual([300, 294]);
    expect(await call('GET', '/tickets/300')).toMatchObject({
      data: {
        ticketNumber: 'INC-300',
        status: 'OPEN',
        priority: 'HIGH',
        category: 'NETWORK',
        watcherUserIds: [2, 3],
        customFields: { site: 'Leipzig', floor: 300 },
      },
    });
    expect((await call('GET', '/assets?status=IN_STOCK&assignedToId=1')).meta.totalCount).toBe(5);
    expect((await call('GET', '/projects/1/tasks?status=DONE')).meta.totalCount).toBe(4);
    expect((await call('GET', '/webhooks')).data).toMatchObject([{ id: 1, url: 'https://hooks.example.com/1' }]);
  });

  it('is found by its words', async () => {
    for (const q of ['300', '“300”', 'ticket 300'])
      expect((await call('GET', `/tickets?q=${encodeURIComponent(q)}`)).data).toMatchObject([{ id: 300 }]);
    expect((await call('GET', '/assets?q=dock')).meta.totalCount).toBe(5);
  });

  it('is written to, and its totals stay right', async () => {
    const created = await call('POST', '/tickets', {
      ...{ title: 'VPN drops', description: 'Text', type: 'INCIDENT', category: 'NETWORK', watcherUserIds: [2] },
    });
    expect(created.data).toMatchObject({ ticketNumber: 'INC-301', status: 'OPEN' });
    await call('PATCH', '/tickets/300', { status: 'IN_PROGRESS', watcherUserIds: [1] });
    await call('PATCH', '/assets/1', { status: 'RETIRED' });
    await call('POST', '/projects/1/tasks', { title: 'New' });
    await call('PATCH', '/tasks/1', { status: 'TODO' });
    expect((await call('GET', '/tickets?status=OPEN&category=NETWORK')).meta.totalCount).toBe(50);
    expect((await call('GET', '/tickets?status=IN_PROGRESS')).meta.totalCount).toBe(1);
    expect((await call('GET', '/tickets')).meta.totalCount).toBe(301);
    expect(await findWrongTotals(api.databases.options)).toEqual([]);
  });

  it('tells what it has in the order of the last changes, and then what changes', async () => {
    const all: { id: number; updatedAt: string }[] = [];
    for (let query = ''; ; ) {
      const { data, meta } = await call('GET', `/tickets/changes${query}`);
      all.push(...data);
      query = `?cursor=${meta.nextCursor}`;
      if (!meta.hasMore) break;
    }
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    expect(all.length).toBe((await call('GET', '/tickets')).meta.totalCount);
    const times = all.map(({ updatedAt }) => updatedAt);
    expect(times).toEqual(times.toSorted());
    const { rows } = await client.query(
      `SELECT resource, count(*)::int AS count FROM changes WHERE tenant_id = 2 AND position < 0 GROUP BY 1 ORDER BY 1`,
    );
    expect(rows).toEqual([
      { resource: 'assets', count: 5 },
      { resource: 'projects', count: 1 },
      { resource: 'tasks', count: 4 },
      { resource: 'tickets', count: 300 },
      { resource: 'users', count: 3 },
    ]);
  });

  // The job that told of them is in a queue which nobody looks into any more.
  it('has its deliveries, and the sweep finds them', async () => {
    const { rows } = await client.query(`SELECT count(*)::int AS count FROM deliveries
      WHERE tenant_id = 1 AND event_id <= 10 AND state = 'PENDING'`);
    expect(rows).toEqual([{ count: 10 }]);
    const { due } = await findPending(api.prisma, []);
    expect(due).toContainEqual(expect.objectContaining({ tenantId: 1n, subscriptionId: 1n }));
  });
});
