import pg from 'pg';
import { expect, vi } from 'vitest';
import { execute } from '../support/database.ts';
import { api, it as itBase, workspace } from '../support/fixture.ts';

/*
 * Tests how much PostgreSQL reads for lists with more than 100,000 matching tickets. Such a list counts only the first
 * 100,000 tickets that PostgreSQL finds (docs/decisions/full-text-search.md), and then reads its page.
 */
const tickets = 130_000;

const it = itBase.extend('options', { scope: 'file' }, { ownDatabase: true });
it.beforeAll(async () => {
  const { tenantId, userId } = workspace;
  const values = `${tenantId}, i, i, 'CHANGE', 'Ticket', 'It is broken.', 'OPEN', 'LOW', 'EMAIL', ${userId}, '{a,b}', '{${userId}}'`;
  // Runs no triggers, which would take a minute.
  await execute(
    api.databaseUrl,
    `SET session_replication_role = replica;
    INSERT INTO tickets (tenant_id, ordinal, number, type, title, description, status, priority, category, requester_id, tags,
        watcher_ids, due_at, planned_start_at, planned_end_at, created_at, updated_at)
      SELECT ${values}, at, at, at + interval '1 hour', at, at
      FROM generate_series(1, ${tickets}) AS i, LATERAL (SELECT timestamptz '2020-01-01Z' + i * interval '1 minute' AS at) AS time;
    UPDATE tickets SET created_at = '2021-01-01' WHERE ordinal = 1;
    UPDATE tickets SET created_at = '2019-01-01' WHERE ordinal = ${tickets};
    INSERT INTO tagged_tickets (tenant_id, ticket_id, tag, status)
      SELECT tenant_id, id, unnest(tags), status FROM tickets;
    INSERT INTO ticket_watchers (tenant_id, ticket_id, user_id) SELECT tenant_id, id, unnest(watcher_ids) FROM tickets`,
  );
  await execute(api.databaseUrl, 'VACUUM ANALYZE');
});

interface Plan {
  'Subplan Name'?: string;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: Plan[];
}

it.each([
  'status=OPEN&createdSince=2015-01-01T00:00:00Z',
  'createdSince=2015-01-01T00:00:00Z&createdBefore=2030-01-01T00:00:00Z',
  'priority=LOW&dueSince=2015-01-01T00:00:00Z',
  'type=CHANGE&plannedBefore=2030-01-01T00:00:00Z',
  'overdue=true&category=EMAIL',
  'teamId=none&status=OPEN',
  'approvalStatus=NONE&tag=a,b',
  'tag=a,b&createdSince=2015-01-01T00:00:00Z',
  'tag=a,b',
  'watcherUserId=me&status=OPEN',
  'requesterId=me&watcherUserId=me',
])('reads only the tickets of the page after it has counted the tickets with %s', async (filters) => {
  for (const range of ['', '&sort=id', '&page=3']) {
    const path = `/tickets?${filters.replaceAll('me', String(workspace.userId))}${range}`;
    const sent = vi.spyOn(api.databases.requests.pool, 'runPipeline');
    const { body } = await workspace.call('GET', path);
    const pipelines = sent.mock.calls.map(([configs]) => configs);
    sent.mockRestore();
    expect(body.meta, path).toMatchObject({ totalCount: 100_000, totalCountCapped: true });
    expect(body.data).toHaveLength(20);
    const plan = await explain(pipelines.find((configs) => configs.some(({ text }) => text.includes('counted'))) ?? []);
    const counting = flatten(plan).find((node) => node['Subplan Name'] === 'CTE found');
    expect(countBuffers(plan) - countBuffers(counting), path).toBeLessThan(300);
  }
});

it.each([
  ['createdBefore=2020-03-20T00:00:00Z', tickets, 79 * 1440 - 1],
  ['createdSince=2020-01-12T00:00:00Z&sort=id', 1, 11 * 1440],
])(
  'returns the tickets with %s in the order of their ids, also if their times have another order',
  async (query, ...ordinals) => {
    const { body } = await workspace.call('GET', `/tickets?status=OPEN&${query}&perPage=2`);
    expect(body.meta).toMatchObject({ totalCount: 100_000, totalCountCapped: true });
    const numbers = body.data.map(({ ticketNumber }: { ticketNumber: string }) => ticketNumber);
    expect(numbers).toEqual(ordinals.map((ordinal) => `CHG-${ordinal}`));
  },
);

/** Runs the statements as a request does. Returns the plan of the last statement. */
async function explain(configs: pg.QueryConfig[]): Promise<Plan> {
  const client = new pg.Client({ connectionString: api.databaseUrl });
  await client.connect();
  await client.query(`SET ROLE itsm_request; SET max_parallel_workers_per_gather = 0; BEGIN;
    SELECT set_config('itsm.tenant_id', '${workspace.tenantId}', true)`);
  for (const { text, values } of configs.slice(0, -1)) await client.query(text, values);
  const [last] = configs.slice(-1);
  const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${last?.text}`, last?.values);
  await client.end();
  return rows[0]['QUERY PLAN'][0].Plan;
}

function flatten(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(flatten)];
}

function countBuffers(plan: Plan | undefined): number {
  return plan === undefined ? 0 : plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
}
