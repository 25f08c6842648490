import { setTimeout as sleep } from 'node:timers/promises';
import { pathPrefix } from '@itsm-api/contract';
import { hashKey, newKey } from '@itsm-api/server/identity/key-format.ts';
import { findWrongTotals } from '@itsm-api/server/resources/tickets/totals.ts';
import { migrateDatabase } from '@itsm-api/server/schema.ts';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { steadyPort } from '../faults/postgres.ts';
import { type ServerProcess, spawnServer } from '../faults/server.ts';
import { type Answer, type Api, answerOf, startApi } from '../support/api.ts';
import { cloneDatabase, execute, query, type TestDatabase } from '../support/database.ts';
import { eventually, type Receiver, startReceiver } from '../support/receiver.ts';
import { openReleaseBefore, type ReleaseBefore } from '../support/release-before.ts';
import { callOf, endpoints } from '../support/samples.ts';
import { createWorkspace, ticket, type Workspace, webhook } from '../support/workspace.ts';

/*
 * The rule of rolling upgrades (docs/decisions/upgrades.md): the release before runs on a database that this one has
 * migrated, alone and beside it.
 */
interface Running extends ServerProcess {
  /** With the workspace's key; the path is relative to the prefix. */
  call(method: string, path: string, body?: unknown): Promise<Answer>;
}

const secretKey = Buffer.alloc(32, 9).toString('base64');
let release: ReleaseBefore;
let database: TestDatabase;
/** This release, in this process and without a worker: it makes what the tests begin with. */
let api: Api;
let workspace: Workspace;
let receiver: Receiver;
let before: Running;

beforeAll(async () => {
  release = await openReleaseBefore();
  database = await cloneInUtc();
  const env = { WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' };
  api = await startApi({ databaseUrl: database.url, secretKeys: [secretKey], env });
  before = await start({ main: release.main });
}, 300_000);

beforeEach(async () => {
  workspace = await createWorkspace(api);
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

afterAll(async () => {
  before?.child.kill('SIGKILL');
  await before?.exited;
  await api?.close();
  await database?.drop();
  await release?.remove();
}, 60_000);

/** The release before is right where PostgreSQL is in UTC, and there alone. */
async function cloneInUtc(): Promise<TestDatabase> {
  const clone = await cloneDatabase();
  await execute(
    clone.url,
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone = %L', current_database(), 'UTC'); END $$`,
  );
  return clone;
}

interface Starting {
  /** Another release's, where it isn't this one. */
  main?: string;
  url?: string;
  /** Of the workspace, unless another is given. */
  key?: string;
  env?: Record<string, string>;
}

/** Starts a server, api and worker, on the database. */
async function start({ main, url = database.url, key, env: others }: Starting = {}): Promise<Running> {
  const port = await steadyPort();
  const env = {
    DATABASE_URL: url,
    WEBHOOK_SECRET_KEY: secretKey,
    WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
    PORT: String(port),
    RATE_LIMIT_GLOBAL: '1000000',
    RATE_LIMIT_GROUP: '1000000',
    ...others,
  };
  const server = spawnServer(env, [], main);
  await server.ready;
  return {
    ...server,
    async call(method, path, body) {
      const response = await fetch(`http://127.0.0.1:${port}${pathPrefix}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${key ?? workspace.key}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return answerOf(response);
    },
  };
}

describe('the release before, on the schema of this one', () => {
  it('answers requests to all of its endpoints', { timeout: 60_000 }, async () => {
    // No list is empty.
    await workspace.createWebhook({ url: receiver.url });
    await workspace.createTicket();
    await workspace.createAsset();
    await workspace.createTask();
    const sampled = new Map(endpoints.map((each) => [each.title.replace(/:(\w+)/g, '{$1}'), each]));
    expect([...sampled.keys()]).toEqual(expect.arrayContaining(release.endpoints));
    for (const name of release.endpoints) {
      const endpoint = sampled.get(name) as (typeof endpoints)[number];
      const { method, path, body } = callOf(endpoint, await endpoint.sample(workspace));
      const relative = path.slice(pathPrefix.length);
      const answer = await before.call(method, relative, body);
      expect(answer, name).toMatchObject({ status: endpoint.success, body: { success: true } });
      if (method !== 'GET') continue;
      // Who is asked by this release sees the same, and maybe more.
      const now = await workspace.call(method, relative);
      expect(now.body, name).toMatchObject(answer.body);
    }
  });

  it('writes, delivers and counts, alone and beside this one, and leaves when it is told to', {
    timeout: 60_000,
  }, async () => {
    const told = (count: number) => eventually(() => expect(receiver.received).toHaveLength(count), 20_000);
    await before.call('POST', '/webhooks', { ...webhook, url: receiver.url });
    const made = await before.call('POST', '/tickets', { ...ticket, title: 'Made before' });
    await told(1);

    const now = await start();
    const patched = await now.call('PATCH', `/tickets/${made.body.data.id}`, {
      status: 'IN_PROGRESS',
      priority: 'CRITICAL',
    });
    expect(patched.status).toBe(200);
    const { commentCount: _, ...known } = patched.body.data;
    expect(await before.call('GET', `/tickets?status=IN_PROGRESS&priority=CRITICAL`)).toMatchObject({
      body: { data: [known], meta: { totalCount: 1 } },
    });
    const later = await now.call('POST', '/tickets', { ...ticket, title: 'Made later' });
    expect(await before.call('PATCH', `/tickets/${later.body.data.id}`, { title: 'Changed before' })).toMatchObject({
      status: 200,
    });
    // Whoever writes a row gives it another version.
    expect((await now.call('GET', `/tickets/${later.body.data.id}`)).headers.etag).not.toBe(later.headers.etag);
    await told(4);

    before.child.kill('SIGTERM');
    await before.exited;
    expect(before.child.exitCode, before.output()).toBe(0);
    expect(await now.call('GET', `/tickets/${later.body.data.id}`)).toMatchObject({
      body: { data: { title: 'Changed before' } },
    });
    expect(await findWrongTotals(api.databases.options)).toEqual([]);
    now.child.kill('SIGTERM');
    await now.exited;
    expect(receiver.received).toHaveLength(4);
  });
});

/** A workspace with rows from before in a database that the release before has made. */
async function fill(url: string, key: string): Promise<void> {
  const scopes = ['tickets', 'assets', 'projects'].flatMap((resource) => [`${resource}:read`, `${resource}:write`]);
  await execute(
    url,
    `INSERT INTO tenants (name, name_key, updated_at) VALUES ('Acme', 'acme', now());
     INSERT INTO users (tenant_id, id, name, email, role, updated_at)
       SELECT 1, u, 'User ' || u, u || '@example.com', 'ADMIN', now() FROM generate_series(1, 3) u;
     INSERT INTO tickets (tenant_id, id, ordinal, type, number, title, description, category, requester_id, updated_at)
       SELECT 1, n, n, 'INCIDENT', n, 'Ticket ' || n, 'The VPN drops every hour.', 'NETWORK', 1,
         now()
       FROM generate_series(1, 10000) n;
     INSERT INTO ticket_sequences (tenant_id, total, incident) VALUES (1, 10000, 10000);
     INSERT INTO assets (tenant_id, id, name, asset_tag, type, updated_at) VALUES (1, 1, 'Laptop', 'LT-1', 'LAPTOP', now());
     INSERT INTO projects (tenant_id, id, key, name, updated_at) VALUES (1, 1, 'MOVE', 'Move', now());
     SELECT setval(pg_get_serial_sequence('tickets', 'id'), 20000);`,
  );
  await query(
    url,
    `INSERT INTO api_keys (tenant_id, user_id, name, hash, last_four, scopes, updated_at)
     VALUES (1, 1, 'old', $1, $2, $3, now())`,
    [hashKey(key), key.slice(-4), [...scopes, 'webhooks:manage']],
  );
}

/** Has somebody work without a pause, until it is over, and adds what was answered. */
async function work({ call }: Running, over: AbortSignal, answered: Answer[]): Promise<void> {
  const ask = async (...request: Parameters<typeof call>) => {
    const answer = await call(...request);
    answered.push(answer);
    return answer.body?.data ?? {};
  };
  while (!over.aborted) {
    const { id } = await ask('POST', '/tickets', { ...ticket, title: 'Made meanwhile', watcherUserIds: [1] });
    await ask('PATCH', `/tickets/${id}`, { title: 'Changed meanwhile', status: 'IN_PROGRESS', watcherUserIds: [2] });
    await ask('PATCH', `/tickets/${1 + (answered.length % 10_000)}`, { title: 'Changed late', priority: 'HIGH' });
    const task = await ask('POST', '/projects/1/tasks', { title: 'Made meanwhile' });
    await ask('PATCH', `/tasks/${task.id}`, { title: 'Changed meanwhile' });
    await ask('PATCH', '/assets/1', { name: `Laptop ${id}` });
    const subscription = await ask('POST', '/webhooks', { ...webhook, events: ['task.updated'] });
    await ask('DELETE', `/webhooks/${subscription.id}`);
    await ask('GET', '/tickets?status=OPEN&priority=HIGH');
  }
}

/** Has a transaction that writes stay open for seconds, then another one, until it is over. */
async function stayOpen(url: string, over: AbortSignal): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  while (!over.aborted) {
    await client.query(`BEGIN;
      LOCK TABLE tickets, users, tasks, assets, webhook_subscriptions, delivery_attempts, api_keys IN ROW EXCLUSIVE MODE`);
    await sleep(2500);
    await client.query('COMMIT');
    await sleep(1500);
  }
  await client.end();
}

describe('the release before, while this one migrates its database', () => {
  it('serves on, waits for no lock for long, and nothing that it writes is missed', { timeout: 240_000 }, async () => {
    const own = await cloneInUtc();
    const key = newKey();
    const over = new AbortController();
    let older: Running | undefined;
    try {
      await execute(own.url, 'DROP SCHEMA public, pgboss CASCADE; CREATE SCHEMA public');
      // What waits for a lock for longer than this fails, and its request with it.
      const env = { LOCK_TIMEOUT_MS: '1500' };
      older = await start({ main: release.main, url: own.url, key, env });
      await fill(own.url, key);
      await older.call('POST', '/webhooks', { ...webhook, url: receiver.url });

      const answered: Answer[] = [];
      const others = [1, 2, 3].map(() => work(older as Running, over.signal, answered));
      const going = Promise.all([...others, stayOpen(own.url, over.signal)]);
      const migrating = migrateDatabase(own.url).finally(() => over.abort());
      const [applied] = await Promise.all([migrating, going]);

      expect(applied).toContain('20261122110100_fill_texts');
      expect(answered.filter(({ status }) => status >= 300).map(({ text }) => text)).toEqual([]);
      expect(receiver.received.length).toBeGreaterThan(0);
      const missed = `SELECT id, title FROM tickets t WHERE
        NOT EXISTS (SELECT FROM changes c WHERE (c.tenant_id, c.resource, c.id) = (t.tenant_id, 'tickets', t.id))
        OR ticket_document(tenant_id, ordinal, type, number, title, description) IS DISTINCT FROM (
          SELECT document FROM texts x WHERE (x.tenant_id, x.resource, x.id) = (t.tenant_id, 'tickets', t.id))`;
      expect(await query(own.url, missed)).toEqual([]);
      expect((await older.call('GET', '/tickets')).body.meta.totalCount).toBe(
        10_000 + answered.filter(({ body }) => body.data?.title === 'Made meanwhile' && body.data.ticketNumber).length,
      );
    } finally {
      over.abort();
      older?.child.kill('SIGKILL');
      await older?.exited;
      await own.drop();
    }
  });
});
