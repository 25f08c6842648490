import { readSettings } from '@itsm-api/server/env.ts';
import { Lifecycle } from '@itsm-api/server/health.ts';
import { readTenantTables } from '@itsm-api/server/resources/tenants/move-tables.ts';
import { findWrongTotals } from '@itsm-api/server/resources/tickets/totals.ts';
import { start } from '@itsm-api/server/start.ts';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { secretKey } from '../cli/itsm.ts';
import { type Api, startApi } from '../support/api.ts';
import { movedTo } from '../support/moving.ts';
import { createWorkspace, ticket, type Workspace } from '../support/workspace.ts';

/*
 * What a cell does by itself, with whatever a workspace has on which there is something to be done: nothing, while it is a
 * copy that is being compared, or that a move has left half-way.
 */
let api: Api;
let client: pg.Client;

beforeAll(async () => {
  api = await startApi({ ownDatabase: true, secretKeys: [secretKey] });
  client = new pg.Client({ connectionString: api.databaseUrl });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await api.close();
});

it('leaves what arrives as it was copied, whatever is scheduled and runs by itself', { timeout: 120_000 }, async () => {
  const [here, arriving, aborted] = [await makeOld(), await makeOld(), await makeOld()];
  await movedTo(client, arriving, 'ARRIVING');
  await movedTo(client, aborted, 'ABORTED');
  const copied = [await rowsOf(arriving), await rowsOf(aborted)];

  const stop = await startWorker();
  try {
    await runWhatIsScheduled();
    // What runs without a job, too, has been through where there was something to do.
    await expect.poll(() => leftToDo(here), { timeout: 30_000 }).toEqual(nothing);
    expect([await rowsOf(arriving), await rowsOf(aborted)]).toEqual(copied);
  } finally {
    await stop(0);
  }
});

it('finds nothing wrong with the totals of what is not whole', async () => {
  const workspace = await createWorkspace(api);
  const { tenantId } = workspace;
  await workspace.createTicket();
  await client.query('UPDATE ticket_sequences SET total = 2 WHERE tenant_id = $1', [tenantId]);
  const wrong = async () => {
    const found = await findWrongTotals(api.databases.options);
    return found.filter((each) => each.tenantId === tenantId);
  };
  expect(await wrong()).toHaveLength(1);
  for (const [state, count] of [
    ['ARRIVING', 0],
    ['ABORTED', 0],
    ['MOVED', 0],
    ['LEAVING', 1],
  ] as const) {
    await movedTo(client, workspace, state);
    expect(await wrong(), state).toHaveLength(count);
    await client.query('DELETE FROM tenant_moves WHERE tenant_id = $1', [tenantId]);
  }
});

/** A workspace with something to do for everything that is done by itself. */
async function makeOld(): Promise<Workspace> {
  const workspace = await createWorkspace(api);
  const { tenantId } = workspace;
  const [webhook, inactive] = [await workspace.createWebhook(), await workspace.createWebhook()];
  await client.query(
    `INSERT INTO usage_minutes (tenant_id, at, key_id, endpoint, outcome, requests, latencies, global_peak, group_peak)
     SELECT $1, date_trunc('minute', now()) - interval '4 hours', 0, 'tickets_list', 'SUCCESSFUL', 1, '{}', 0, 0`,
    [tenantId],
  );
  await client.query(
    `INSERT INTO usage_hours (tenant_id, at, key_id, endpoint, outcome, requests, latencies, global_peak, group_peak)
     SELECT tenant_id, at - interval '9 days', key_id, endpoint, outcome, requests, latencies, 0, 0 FROM usage_minutes
     WHERE tenant_id = $1`,
    [tenantId],
  );
  await workspace.call('POST', '/tickets', ticket, { 'idempotency-key': 'old' });
  await client.query(`UPDATE idempotency_keys SET created_at = now() - interval '25 hours' WHERE tenant_id = $1`, [
    tenantId,
  ]);
  await client.query(
    `WITH event AS (
       INSERT INTO events (tenant_id, public_id, type, body, created_at)
       SELECT $1::bigint, 'evt_' || $1::bigint || '_' || n, 'ticket.created', '{}', now() - interval '31 days' FROM generate_series(1, 3) n
       RETURNING id, public_id)
     INSERT INTO deliveries (tenant_id, subscription_id, event_id, state, settled_at, next_attempt_at)
     SELECT $1::bigint, $2::bigint, id, 'EXHAUSTED', now() - interval '31 days', now() FROM event WHERE public_id LIKE '%\\_1'
     UNION ALL
     SELECT $1, $3, id, 'PENDING', NULL, now() FROM event WHERE public_id LIKE '%\\_2'`,
    [tenantId, webhook.id, inactive.id],
  );
  await client.query('UPDATE webhook_subscriptions SET active = false WHERE tenant_id = $1 AND id = $2', [
    tenantId,
    inactive.id,
  ]);
  await client.query(
    `UPDATE webhook_subscriptions SET previous_secret = secret, previous_secret_until = now() - interval '1 hour'
     WHERE tenant_id = $1`,
    [tenantId],
  );
  await client.query(
    `INSERT INTO webhook_replays (tenant_id, subscription_id, since, states, finished_at)
     SELECT $1, $2, now() - interval '40 days', ARRAY['CANCELLED'], finished_at
     FROM unnest(ARRAY[NULL, now() - interval '25 hours']) AS finished_at`,
    [tenantId, webhook.id],
  );
  return workspace;
}

/** Starts all that a worker process does, as a user does. */
function startWorker() {
  const settings = readSettings({
    ROLES: 'worker',
    DATABASE_URL: api.databaseUrl,
    WEBHOOK_SECRET_KEY: secretKey,
    LOG_LEVEL: 'silent',
  });
  return start(settings, new Lifecycle());
}

/** Has every job done that some clock would start. */
async function runWhatIsScheduled(): Promise<void> {
  const { rows } = await client.query<{ name: string }>('SELECT name FROM pgboss.schedule ORDER BY name');
  expect(rows.map(({ name }) => name)).toContain('webhook-retention');
  const jobs = await Promise.all(rows.map(async ({ name }) => ({ name, id: (await api.boss.send(name, {})) ?? '' })));
  const states = () => Promise.all(jobs.map(async ({ name, id }) => (await api.boss.getJobById(name, id))?.state));
  await expect.poll(states, { timeout: 30_000 }).toEqual(jobs.map(() => 'completed'));
}

/** How much of a workspace's is still as `makeOld` made it. */
async function leftToDo({ tenantId }: Workspace): Promise<typeof nothing> {
  const { rows } = await client.query(
    `SELECT
       (SELECT count(*)::int FROM usage_minutes WHERE tenant_id = $1 AND at < now() - interval '3 hours') AS minutes,
       (SELECT count(*)::int FROM usage_hours WHERE tenant_id = $1 AND at < now() - interval '8 days') AS hours,
       (SELECT count(*)::int FROM idempotency_keys WHERE tenant_id = $1) AS answers,
       (SELECT count(*)::int FROM events e WHERE tenant_id = $1 AND created_at < now() - interval '30 days'
         AND NOT EXISTS (SELECT FROM deliveries d WHERE d.tenant_id = e.tenant_id AND d.event_id = e.id)) AS events,
       (SELECT count(*)::int FROM deliveries WHERE tenant_id = $1 AND state = 'EXHAUSTED') AS settled,
       (SELECT count(*)::int FROM deliveries d JOIN webhook_subscriptions s USING (tenant_id)
         WHERE tenant_id = $1 AND s.id = d.subscription_id AND NOT s.active AND d.state = 'PENDING') AS pending,
       (SELECT count(*)::int FROM webhook_subscriptions WHERE tenant_id = $1 AND previous_secret IS NOT NULL) AS secrets,
       (SELECT count(*)::int FROM webhook_replays WHERE tenant_id = $1 AND finished_at IS NULL) AS replays,
       (SELECT count(*)::int FROM webhook_replays WHERE tenant_id = $1 AND finished_at < now() - interval '1 day') AS done`,
    [tenantId],
  );
  return rows[0];
}

const counted = ['minutes', 'hours', 'answers', 'events', 'settled', 'pending', 'secrets', 'replays', 'done'] as const;
const nothing = Object.fromEntries(counted.map((name) => [name, 0]));

/** Every row of a workspace, by table. */
async function rowsOf({ tenantId }: Workspace): Promise<Record<string, string[]>> {
  const { copied, made } = await readTenantTables(client);
  const rows: Record<string, string[]> = {};
  for (const { name, order } of [...copied, ...made]) {
    const found = await client.query(`SELECT t::text AS row FROM ${name} t WHERE tenant_id = $1 ORDER BY ${order}`, [
      tenantId,
    ]);
    rows[name] = found.rows.map(({ row }) => row);
  }
  return rows;
}
