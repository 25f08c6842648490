import pg from 'pg';
import { expect, vi } from 'vitest';
import { execute } from '../support/database.ts';
import { api, it as itBase, workspace } from '../support/fixture.ts';

/*
 * Tests what PostgreSQL reads for the slowest ticket lists that `pnpm bench slowest` found. The values of the tickets are
 * skewed, and many filters match tens of thousands of them (docs/decisions/full-text-search.md).
 */
const tickets = 200_000;

const it = itBase.extend('options', { scope: 'file' }, { ownDatabase: true });
it.beforeAll(async () => {
  const { tenantId, userId } = workspace;
  const old = `i BETWEEN ${0.3 * tickets} AND ${0.5 * tickets}`;
  // Runs no triggers, which would take a minute.
  await execute(
    api.databaseUrl,
    `SET session_replication_role = replica;
    INSERT INTO custom_field_definitions (tenant_id, resource, key, type, label, options, filterable, backfilled, updated_at)
      VALUES (${tenantId}, 'TICKET', 'site', 'SELECT', 'Site', '[{"value": "hq", "label": "hq", "active": true}]', true, true, now());
    INSERT INTO tickets (tenant_id, ordinal, number, type, title, description, status, priority, category, requester_id,
        parent_id, assignee_id, team_id, form_key, category_config_id, tags, watcher_ids, asset_ids, custom_fields, approval_status,
        created_at, due_at, planned_start_at, planned_end_at, updated_at)
      SELECT ${tenantId}, i, i, kind, 'Ticket', repeat('It is broken. ', 20),
        CASE WHEN i > ${0.9 * tickets} OR i % 50 = 0 THEN 'OPEN' ELSE 'CLOSED' END,
        CASE WHEN i % 10 < 6 THEN 'MEDIUM' ELSE 'LOW' END, CASE WHEN i % 20 < 9 THEN 'NETWORK' ELSE 'ACCESS' END,
        CASE WHEN i % 7 < 2 THEN ${userId} ELSE 1000 + i % 5000 END, CASE WHEN i % 10 = 1 THEN 1 END, CASE WHEN i % 11 < 4 THEN ${userId} END,
        CASE WHEN i % 13 < 6 THEN 1 ELSE 2 + i % 40 END, CASE WHEN i % 17 < 5 THEN 'access' END,
        'cat-' || i % 4, CASE WHEN i % 2 = 0 THEN ARRAY['common'] ELSE '{}' END || CASE WHEN ${old} THEN ARRAY['old'] ELSE '{}' END,
        CASE WHEN i % 19 < 8 THEN ARRAY[${userId}] ELSE '{}' END, CASE WHEN i % 23 < 9 THEN ARRAY[1] ELSE '{}' END,
        CASE WHEN i % 5 < 3 THEN '{"site": "hq"}'::jsonb ELSE '{}' END, CASE WHEN kind = 'CHANGE' THEN 'PENDING' ELSE 'NONE' END,
        at, CASE WHEN i % 10 < 7 THEN at + interval '9 days' END, planned, planned + interval '1 hour', at
      FROM generate_series(1, ${tickets}) AS i,
        LATERAL (SELECT timestamptz '2020-01-01Z' + i * interval '10 minutes' AS at, CASE WHEN i % 3 = 0 THEN 'CHANGE' ELSE 'INCIDENT' END AS kind) AS k,
        LATERAL (SELECT CASE WHEN kind = 'CHANGE' THEN at END AS planned) AS p;
    UPDATE tickets SET created_at = '2024-01-01' WHERE ordinal = 1;
    UPDATE tickets SET created_at = '2019-01-01' WHERE ordinal = ${tickets};
    INSERT INTO tagged_tickets (tenant_id, ticket_id, tag, status) SELECT tenant_id, id, unnest(tags), status FROM tickets;
    INSERT INTO ticket_watchers (tenant_id, ticket_id, user_id) SELECT tenant_id, id, unnest(watcher_ids) FROM tickets;
    INSERT INTO ticket_assets (tenant_id, ticket_id, asset_id, status) SELECT tenant_id, id, unnest(asset_ids), status FROM tickets;
    INSERT INTO ticket_field_values (tenant_id, ticket_id, key, value, status)
      SELECT tenant_id, id, 'site', custom_fields ->> 'site', status FROM tickets WHERE custom_fields <> '{}';
    INSERT INTO ticket_counts (tenant_id, assignee_id, status, priority, type, category, count)
      SELECT tenant_id, 0, status, priority, type, category, count(*) FROM tickets GROUP BY 1, 3, 4, 5, 6`,
  );
  await execute(api.databaseUrl, 'VACUUM ANALYZE');
});

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Subplan Name'?: string;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: Plan[];
}

/** The number of pages of the largest index, and of the page of tickets. All tickets are on 12,000 pages. */
const maxBuffers = 5000;

it.each([
  'requesterId=me&formKey=access',
  'teamId=1&requesterId=me',
  'categoryConfigId=cat-1&assigneeId=me',
  'status=OPEN&createdBefore=2023-01-01T00:00:00Z',
  'createdSince=2015-01-01T00:00:00Z&createdBefore=2030-01-01T00:00:00Z',
  'priority=LOW&dueSince=2015-01-01T00:00:00Z',
  'type=CHANGE&plannedBefore=2030-01-01T00:00:00Z',
  'tag=common&formKey=access',
  'teamId=none,1&dueBefore=2021-01-01T00:00:00Z',
  'approvalStatus=NONE&requesterId=me',
  'formKey=access&approvalStatus=PENDING&priority=MEDIUM',
  'tag=old&createdSince=2023-01-01T00:00:00Z',
  'tag=common,old',
  'tag=common&requesterId=me',
  'approvalStatus=NONE&tag=common,old',
  'watcherUserId=me&tag=old',
  'watcherUserId=me&approvalStatus=NONE',
  'requesterId=me&watcherUserId=me',
  'assetId=1&tag=common&status=OPEN',
  'customFields[site]=hq&watcherUserId=me&assetId=1',
  'customFields[site]=hq&watcherUserId=me&createdSince=2021-01-01T00:00:00Z',
  'customFields[site]=hq&teamId=1&requesterId=me',
  'tag=common,old&approvalStatus=NONE&createdSince=2021-01-01T00:00:00Z',
  'tag=common&plannedBefore=2023-01-01T00:00:00Z',
  'type=CHANGE&overdue=true',
  'requesterId=me&overdue=true',
  'tag=common&overdue=true',
  'approvalStatus=PENDING&category=NETWORK',
  'plannedBefore=2023-01-01T00:00:00Z&approvalStatus=PENDING',
  'parentId=1&formKey=access',
  'parentId=1&customFields[site]=hq',
])(
  'counts the tickets with %s in indexes, up to the limit, and reads only the tickets of the page',
  async (filters) => {
    for (const range of ['', '&sort=id&page=3']) {
      const path = `/tickets?${filters.replaceAll('=me', `=${workspace.userId}`)}${range}`;
      const sent = vi.spyOn(api.databases.requests.pool, 'runPipeline');
      const { status } = await workspace.call('GET', path);
      const pipelines = sent.mock.calls.map(([configs]) => configs);
      sent.mockRestore();
      expect(status, path).toBe(200);
      const plan = await explain(pipelines.find((configs) => configs.some(({ text }) => text.includes('found'))) ?? []);
      const counting = flatten(plan).find((node) => node['Subplan Name'] === 'CTE found');
      const reads = flatten(counting).filter((node) => node['Relation Name'] !== undefined);
      expect(
        reads.map((node) => node['Node Type']),
        path,
      ).toEqual(reads.map(() => 'Index Only Scan'));
      expect(countBuffers(plan), path).toBeLessThan(maxBuffers);
      expect(countBuffers(plan) - countBuffers(counting), path).toBeLessThan(300);
    }
  },
);

it.each([
  ['createdBefore=2020-01-12T00:00:00Z', tickets, 11 * 144 - 1],
  ['createdSince=2020-01-12T00:00:00Z&sort=id', 1, 11 * 144],
])(
  'returns the tickets with %s in the order of their ids, also if their times have another order',
  async (query, ...ordinals) => {
    const { body } = await workspace.call('GET', `/tickets?${query}&perPage=2`);
    const numbers = body.data.map(({ ticketNumber }: { ticketNumber: string }) => Number(ticketNumber.split('-')[1]));
    expect(numbers).toEqual(ordinals);
  },
);

it.each([
  ['status=OPEN,CLOSED', () => true],
  ['priority=MEDIUM', (ordinal: number) => ordinal % 10 < 6],
  ['priority=MEDIUM,HIGH&type=INCIDENT', (ordinal: number) => ordinal % 10 < 6 && ordinal % 3 > 0],
] as const)('reads the last pages of a long list with %s from its end', async (filters, isMatching) => {
  const ordinals = Array.from({ length: tickets }, (_, index) => index + 1).filter(isMatching);
  const last = Math.ceil(ordinals.length / 100);
  for (const [sort, sorted] of [
    ['id', ordinals],
    ['-id', ordinals.toReversed()],
  ] as const) {
    for (const page of [last - 1, last]) {
      const path = `/tickets?${filters}&perPage=100&sort=${sort}&page=${page}`;
      const sent = vi.spyOn(api.databases.requests.pool, 'runPipeline');
      const { body } = await workspace.call('GET', path);
      const [configs = []] = sent.mock.calls.map(([configs]) => configs);
      sent.mockRestore();
      const numbers = body.data.map(({ ticketNumber }: { ticketNumber: string }) => Number(ticketNumber.split('-')[1]));
      expect(numbers, path).toEqual(sorted.slice(100 * (page - 1), 100 * page));
      expect(body.meta.totalCount).toBe(ordinals.length);
      if (ordinals.length > 100_000) expect(countBuffers(await explain(configs)), path).toBeLessThan(600);
    }
  }
});

/** Runs the statements as a request does. Returns the plan of the last statement. */
async function explain(configs: pg.QueryConfig[]): Promise<Plan> {
  const client = new pg.Client({ connectionString: api.databaseUrl });
  await client.connect();
  await client.query(`SET ROLE itsm_request; BEGIN;
    SELECT set_config('itsm.tenant_id', '${workspace.tenantId}', true)`);
  for (const { text, values } of configs.slice(0, -1)) await client.query(text, values);
  const [last] = configs.slice(-1);
  const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${last?.text}`, last?.values);
  await client.end();
  return rows[0]['QUERY PLAN'][0].Plan;
}

function flatten(plan: Plan | undefined): Plan[] {
  return plan === undefined ? [] : [plan, ...(plan.Plans ?? []).flatMap(flatten)];
}

function countBuffers(plan: Plan | undefined): number {
  return plan === undefined ? 0 : plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
}
