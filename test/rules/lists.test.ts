import { type Endpoint, pathPrefix } from '@itsm-api/contract';
import { contract } from '@itsm-api/contract/ts-rest';
import { createStatementNames } from '@itsm-api/server/database/client/statement-name.ts';
import pg from 'pg';
import { afterAll, expect, vi } from 'vitest';
import type * as z from 'zod';
import { api, it as itBase, workspace } from '../support/fixture.ts';
import { endpoints } from '../support/samples.ts';
import { signIn } from '../support/visitor.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

/**
 * Tests which indexes PostgreSQL uses for lists under row-level security. A condition can use an index only if its
 * operator is leakproof. Otherwise, PostgreSQL checks the condition on every row of the tenant
 * (docs/decisions/tenant-isolation.md).
 */
/** A database connection with the database role and the tenant of a request. */
let client: pg.Client;
let postgresVersion: number;

const it = itBase.extend('options', { scope: 'file' }, { ownDatabase: true });
it.beforeAll(async () => {
  client = new pg.Client({ connectionString: api.databaseUrl });
  await client.connect();
  await fill(await createWorkspace(api));
  await fill(workspace);
  await client.query('VACUUM ANALYZE');
  const { rows } = await client.query('SHOW server_version');
  postgresVersion = Number.parseInt(rows[0].server_version, 10);
  await client.query('SET ROLE itsm_request');
  // With these settings, PostgreSQL chooses the same plans for a few thousand rows as for a million rows.
  await client.query('SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off');
  await client.query("SELECT set_config('itsm.tenant_id', $1, false)", [String(workspace.tenantId)]);
});
afterAll(async () => {
  await client.end();
});

/** Inserts enough rows to make PostgreSQL use indexes. */
async function fill({ tenantId, userId, createWebhook }: Workspace): Promise<void> {
  const { id: webhookId } = await createWebhook();
  const each = `FROM generate_series(1, 3000) AS i`;
  const of = (values: string[], every: number) =>
    `(ARRAY[${values.map((value) => `'${value}'`).join(', ')}])[1 + i / ${every} % ${values.length}]`;
  const assignee = `CASE WHEN i % 7 = 0 THEN ${userId} END`;
  await client.query(`
    INSERT INTO users (tenant_id, name, email, role, active, updated_at)
      SELECT ${tenantId}, 'User', 'u' || i || '@example.com', ${of(['AGENT', 'REQUESTER'], 1)}, i % 9 > 0, now() ${each};
    INSERT INTO teams (tenant_id, name, name_key, active, updated_at)
      SELECT ${tenantId}, 'Team', 'team ' || i, i % 9 > 0, now() ${each};
    INSERT INTO team_members (tenant_id, team_id, user_id)
      SELECT tenant_id, id, ${userId} FROM teams WHERE tenant_id = ${tenantId};
    INSERT INTO custom_field_definitions (tenant_id, resource, key, type, label, filterable, backfilled, updated_at)
      SELECT ${tenantId}, ${of(['TICKET', 'ASSET'], 1)}, 'k' || i, 'USER', 'Field', i < 5, true, now() ${each};
    INSERT INTO ticket_categories (tenant_id, id, name, updated_at) SELECT ${tenantId}, 'c' || i, 'Category', now() ${each};
    INSERT INTO request_forms (tenant_id, key, plain_key, name, type, fields, updated_at)
      SELECT ${tenantId}, 'k' || i, 'k' || i, 'Form', 'CHANGE', '[]', now() ${each};
    INSERT INTO assets (tenant_id, name, asset_tag, serial_number, external_id, type, status, assigned_to_id, updated_at)
      SELECT ${tenantId}, 'Asset', 'A' || i, 'S' || i, 'old:' || i, ${of(['LAPTOP', 'SERVER', 'OTHER'], 1)},
        ${of(['IN_USE', 'IN_STOCK', 'RETIRED', 'LOST'], 3)}, ${assignee}, now() ${each};
    INSERT INTO projects (tenant_id, key, name, status, updated_at)
      SELECT ${tenantId}, 'K' || i, 'Project', ${of(['PLANNED', 'ACTIVE', 'COMPLETED'], 1)}, now() ${each};
    INSERT INTO articles (tenant_id, title, body, category, status, updated_at)
      SELECT ${tenantId}, 'Article', 'Text', ${of(['Network', 'Email', 'Printers'], 1)},
        ${of(['PUBLISHED', 'DRAFT', 'ARCHIVED'], 3)}, now() ${each};
    INSERT INTO tasks (tenant_id, project_id, title, status, priority, assignee_id, updated_at)
      SELECT ${tenantId}, (SELECT max(id) FROM projects), 'Task', ${of(['TODO', 'BLOCKED', 'DONE'], 1)},
        ${of(['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'], 3)}, ${assignee}, now() ${each};
    INSERT INTO events (tenant_id, public_id, type, body) SELECT ${tenantId}, 'evt_' || i, 'ticket.created', '{}' ${each};
    INSERT INTO deliveries (tenant_id, subscription_id, event_id, state)
      SELECT tenant_id, ${webhookId}, id, (ARRAY['DELIVERED', 'EXHAUSTED'])[1 + id % 2] FROM events
      WHERE tenant_id = ${tenantId};
    INSERT INTO ticket_sequences (tenant_id, total, incident) VALUES (${tenantId}, 3000, 3000);
    INSERT INTO tickets (tenant_id, ordinal, number, external_id, type, title, description, status, priority, category, requester_id,
        assignee_id, team_id, category_config_id, form_key, due_at, first_response_due_at, planned_start_at, planned_end_at, updated_at)
      SELECT ${tenantId}, i, i, 'old:' || i, ${of(['INCIDENT', 'CHANGE', 'PROBLEM'], 1)}, 'Ticket', 'It is broken.',
        ${of(['OPEN', 'PENDING', 'RESOLVED', 'CLOSED'], 3)}, ${of(['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'], 12)},
        NULLIF(${of(['EMAIL', 'ACCESS', 'NONE'], 48)}, 'NONE'), ${userId}, ${assignee},
        CASE WHEN i % 6 = 0 THEN (SELECT min(id) + i % 40 FROM teams WHERE tenant_id = ${tenantId}) END,
        CASE WHEN i % 6 = 1 THEN 'c' || i % 40 END,
        CASE WHEN i % 6 = 2 THEN 'k' || i % 40 END,
        CASE WHEN i % 5 = 0 THEN now() - i * interval '1 hour' END,
        CASE WHEN i % 5 = 0 THEN now() - i * interval '1 hour' END,
        CASE WHEN i % 3 = 1 THEN now() - i * interval '1 hour' END,
        CASE WHEN i % 3 = 1 THEN now() - (i - 1) * interval '1 hour' END, now() ${each};
    INSERT INTO comments (tenant_id, ticket_id, author_id, body, visibility, external_id)
      SELECT ${tenantId}, (SELECT max(id) FROM tickets), ${userId}, 'Comment', 'PUBLIC', 'old:' || i ${each};
    UPDATE tickets SET comment_count = 3000 WHERE id = (SELECT max(id) FROM tickets);
    INSERT INTO activities (tenant_id, resource, resource_id, action, at)
      SELECT tenant_id, 'TICKET', id, 'CREATED', now() FROM tickets WHERE tenant_id = ${tenantId}
      UNION ALL SELECT tenant_id, 'ASSET', id, 'CREATED', now() FROM assets WHERE tenant_id = ${tenantId};
    UPDATE tickets SET asset_ids = ARRAY[(SELECT min(id) + ordinal % 40 FROM assets WHERE tenant_id = ${tenantId})],
      tags = ARRAY['t' || ordinal % 40], custom_fields = jsonb_build_object('k2', ordinal % 40, 'k4', ordinal % 3)
      WHERE tenant_id = ${tenantId};
    UPDATE assets SET tags = ARRAY['t' || id % 40], custom_fields = jsonb_build_object('k1', id % 40) WHERE tenant_id = ${tenantId};
    INSERT INTO ticket_links (tenant_id, type, ticket_id, target_id)
      SELECT tenant_id, 'BLOCKS', id, id - 1 FROM tickets WHERE tenant_id = ${tenantId} AND ordinal > 1;
    INSERT INTO approvals (tenant_id, ticket_id, approver_id, created_by_id, decision)
      SELECT ${tenantId}, (SELECT max(id) FROM tickets), u.id, ${userId}, ${of(['PENDING', 'APPROVED', 'REJECTED'], 3).replaceAll('i /', '(u.id % 1000)::int /')}
      FROM users u WHERE tenant_id = ${tenantId};
    UPDATE tickets SET approval_status = 'PENDING' WHERE tenant_id = ${tenantId} AND type = 'CHANGE' AND ordinal % 40 = 1;
    INSERT INTO attachments (tenant_id, ticket_id, name, content_type, size, sha256, storage_key, uploader_id)
      SELECT tenant_id, id, 'a.txt', 'text/plain', 1, '', ${tenantId} || '/' || gen_random_uuid(), ${userId} FROM tickets WHERE tenant_id = ${tenantId};
    INSERT INTO api_keys (tenant_id, user_id, name, hash, last_four, scopes, expires_at, updated_at)
      SELECT ${tenantId}, ${userId}, 'Key', sha256((${tenantId} * 10000 + i)::text::bytea), 'abcd', '{}',
        now() + (i - 1500) * interval '1 day', now() ${each};
    INSERT INTO proposals (tenant_id, operation, params, reason, status, target, preview, proposed_by_id, key_id,
        expires_at, updated_at)
      SELECT ${tenantId}, ${of(['tickets_update', 'tickets_create', 'tasks_update'], 1)}, '{}', 'Reason',
        ${of(['ACCEPTED', 'REJECTED', 'STALE'], 3)}, 'TICKET:' || i % 40 + 1, '[]', ${userId},
        (SELECT max(id) FROM api_keys WHERE tenant_id = ${tenantId}), now(), now() ${each};
    INSERT INTO usage_hours (tenant_id, at, key_id, endpoint, outcome, requests, latencies, global_peak, group_peak)
      SELECT ${tenantId}, date_trunc('hour', now()) - i * interval '1 hour', 1, 'tickets_list', 'SUCCESSFUL', 1, '{}',
        CASE WHEN i % 2 = 0 THEN 100 ELSE 1 END, 1 ${each}`);
}

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Cond'?: string;
  'Recheck Cond'?: string;
  Filter?: string;
  'Actual Rows'?: number;
  'One-Time Filter'?: string;
  Plans?: Plan[];
}

/** Sends a GET request. Returns its SQL statements, each with all nodes of its query plan. */
async function getPlans(
  path: string,
  send = (path: string): Promise<{ status: number }> => workspace.call('GET', path),
): Promise<{ text: string; nodes: Plan[] }[]> {
  const query = vi.spyOn(api.databases.requests.pool, 'runPipeline');
  const { status } = await send(path);
  expect(status, path).toBe(200);
  const pipelines = query.mock.calls.map(([configs]) => configs);
  query.mockRestore();
  const plans: { text: string; nodes: Plan[] }[] = [];
  // Doesn't use the names of the process, because other test files may have used them all up.
  const nameOf = createStatementNames();
  for (const configs of pipelines) {
    const hasCustomPlans = configs.some(({ text }) => text.includes('force_custom_plan'));
    for (const { text, values } of configs) {
      // PostgreSQL plans an unnamed statement for specific parameter values, and a named statement for any values.
      const { rows } = await (hasCustomPlans || nameOf(text) === undefined
        ? client.query(`EXPLAIN (FORMAT JSON) ${text}`, values)
        : explainPrepared(text));
      plans.push({ text, nodes: flattenCommonPlan(rows[0]['QUERY PLAN'][0].Plan) });
    }
  }
  return plans;
}

/** Returns the plan of a prepared statement for any values. The option GENERIC_PLAN needs PostgreSQL 16. */
async function explainPrepared(text: string): Promise<pg.QueryResult> {
  const numbers = [...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number));
  const values = Array.from({ length: Math.max(0, ...numbers) }, () => 'NULL');
  await client.query(`SET plan_cache_mode = force_generic_plan; PREPARE explained AS ${text}`);
  try {
    return await client.query(
      `EXPLAIN (FORMAT JSON) EXECUTE explained${values.length > 0 ? `(${values.join(', ')})` : ''}`,
    );
  } finally {
    await client.query('DEALLOCATE explained; RESET plan_cache_mode');
  }
}

function flattenPlan(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(flattenPlan)];
}

/**
 * Returns all nodes of a plan except those that PostgreSQL executes only if more than 100,000 tickets match. In this
 * case, PostgreSQL reads the first matching tickets in the order of ids.
 */
function flattenCommonPlan(plan: Plan): Plan[] {
  if (plan['One-Time Filter']?.includes('> 100000')) return [];
  return [plan, ...(plan.Plans ?? []).flatMap(flattenCommonPlan)];
}

/**
 * Fails if an SQL statement of the request filters by one of the columns but uses no index for the column. Before
 * version 17, PostgreSQL can't read several values from an index in the order of another column, and may filter rows
 * instead. On these versions, the function doesn't check requests with several filters or values.
 */
async function expectIndexed(path: string, columns: string[]): Promise<void> {
  if (postgresVersion < 17 && (columns.length > 1 || path.includes(','))) return;
  let filtering = 0;
  for (const { text, nodes } of await getPlans(path)) {
    for (const column of columns.map((name) => new RegExp(`\\b${name}\\b`))) {
      if (!column.test(text.slice(text.indexOf('WHERE')))) continue;
      filtering++;
      const advice = `${path} needs an index (CONTRIBUTING.md, "Add a filter")`;
      // No index finds the rows in which one column is less than another.
      const filters = nodes
        .map((node) => node.Filter)
        .join(' ')
        .replaceAll('due_at < paused_since', '');
      expect(filters, advice).not.toMatch(column);
      expect(nodes.map((node) => node['Index Cond']).join(' '), advice).toMatch(column);
    }
  }
  expect(filtering, path).toBeGreaterThanOrEqual(columns.length);
}

/**
 * Returns the column filters of a list, each with two query values. The first query value contains one existing value
 * of the column, and the second query value contains two.
 */
async function getFilters({ query }: Endpoint, path: string): Promise<[name: string, [one: string, two: string]][]> {
  const { body } = await workspace.call('GET', `${path}?perPage=100`);
  const names = Object.keys((query as z.ZodObject).shape).filter((name) => !excludedParameters.includes(name));
  return names.map((name) => {
    const values = body.data
      .map((row: Record<string, unknown>) => row[name])
      .filter((value: unknown) => value !== null);
    const [one, other = one] = new Set(values);
    if (one === undefined) throw new Error(`No row of ${path} has a value for ${name}. Set the column in fill().`);
    return [name, [`${one}`, `${one},${other}`]];
  });
}

/** Query parameters that don't filter by a column, and ticket filters without stored totals. */
const excludedParameters = [
  'page',
  'perPage',
  'sort',
  'q',
  'teamId',
  'categoryConfigId',
  'formKey',
  'requesterId',
  'parentId',
  'watcherUserId',
  'assetId',
  'tag',
  'customFields',
  'createdSince',
  'createdBefore',
  'dueSince',
  'dueBefore',
  'plannedSince',
  'plannedBefore',
  'approvalStatus',
  'overdue',
  'firstResponseOverdue',
];

/** Returns the id of the newest row of the first resource in a path. */
async function getNewestId(path: string): Promise<string> {
  const resource = path.split('/')[1];
  const table = resource === 'webhooks' ? 'webhook_subscriptions' : resource;
  const { rows } = await client.query(`SELECT max(id) AS id FROM ${table}`);
  return rows[0].id;
}

const toColumn = (filter: string) => filter.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const lists = endpoints.filter(({ route }) => (route.query as Partial<z.ZodObject>).shape?.page !== undefined);

async function pathOf({ route }: (typeof lists)[number]): Promise<string> {
  const below = route.path.slice(pathPrefix.length);
  return below.includes(':id') ? below.replace(':id', await getNewestId(below)) : below;
}

it.each(lists.map((list) => [list.title, list] as const))('uses an index for every filter of %s', async (_, list) => {
  const path = await pathOf(list);
  for (const [name, [one]] of await getFilters(list.route, path)) {
    for (const page of [1, 2]) await expectIndexed(`${path}?${name}=${one}&page=${page}&perPage=1`, [toColumn(name)]);
  }
});

it.each(lists.map((list) => [list.title, list] as const))(
  'has no gaps or duplicates between the pages of %s',
  async (_, list) => {
    const path = await pathOf(list);
    const read = async (query: string) => (await workspace.call('GET', `${path}?${query}`)).body;
    const { data, meta } = await read('perPage=100');
    const numbers = [1, 2, 3, 4];
    const pages = await Promise.all(numbers.map((page) => read(`perPage=25&page=${page}`)));
    expect(pages.flatMap((page) => page.data)).toEqual(data);
    expect(pages.map((page) => page.meta)).toEqual(numbers.map((page) => ({ ...meta, page, perPage: 25 })));
    expect((await read('perPage=25&page=1000')).data).toEqual([]);
    expect(new Set(data.map((row: object) => JSON.stringify(row))).size).toBe(data.length);
  },
);

it('uses indexes for every combination of GET /tickets filters', async () => {
  const filters = (await getFilters(contract.tickets.list, '/tickets')).filter(([name]) => name !== 'externalId');
  const choices: (typeof filters)[] = [[]];
  for (const filter of filters) choices.push(...choices.map((some) => [...some, filter]));
  for (const choice of choices) {
    for (const values of [0, 1] as const) {
      const query = choice.map(([name, of]) => `${name}=${of[values]}`).join('&');
      const columns = choice.length > 0 ? choice.map(([name]) => toColumn(name)) : ['ordinal'];
      for (const page of ['1', '2', '1&sort=id', '2&sort=id']) {
        await expectIndexed(`/tickets?${query}&page=${page}&perPage=1`, columns);
      }
    }
  }
});

it('uses indexes for ticket filters that have no stored totals', async () => {
  const { userId } = workspace;
  const assetId = Number(await getNewestId('/assets'));
  const teamId = Number(await getNewestId('/teams'));
  const columns: Record<string, string[]> = {
    // All tickets have the same requester. PostgreSQL would not use an index for the id of this requester, so the test
    // uses unknown ids.
    'requesterId=999999': ['requester_id'],
    'requesterId=999998,999999': ['requester_id'],
    [`teamId=${teamId}`]: ['team_id'],
    [`teamId=${teamId}&status=OPEN`]: ['team_id'],
    [`teamId=${teamId},${teamId - 1}&sort=id`]: ['team_id'],
    'categoryConfigId=c1': ['category_config_id'],
    'categoryConfigId=c1&status=OPEN': ['category_config_id'],
    'categoryConfigId=c1&categoryConfigId=c2&sort=id': ['category_config_id'],
    'formKey=k2': ['form_key'],
    'formKey=k2&status=OPEN': ['form_key'],
    'formKey=k2,k8&sort=id': ['form_key'],
    'parentId=1': ['parent_id'],
    'externalId=old:1': ['external_id'],
    'externalId=old:1,old:2&status=OPEN&sort=id': ['external_id'],
    [`watcherUserId=${userId}`]: ['user_id'],
    [`watcherUserId=${userId},${userId + 1}&sort=id`]: ['user_id'],
    [`assetId=${assetId}`]: ['asset_id'],
    [`assetId=${assetId}&status=OPEN`]: ['asset_id', 'status'],
    [`assetId=${assetId},${assetId - 1}&sort=id`]: ['asset_id'],
    'tag=t1': ['tag'],
    'tag=t1&status=OPEN': ['tag', 'status'],
    'tag=t1,t2&sort=id': ['tag'],
    'customFields[k2]=1': ['value'],
    'customFields[k2]=1&status=OPEN': ['value', 'status'],
    'customFields[k2]=1,2&customFields[k4]=1&sort=id': ['value'],
    'createdSince=2026-01-01T00:00:00Z&createdBefore=2026-01-02T00:00:00Z': ['created_at'],
    'dueSince=2026-01-01T00:00:00Z&dueBefore=2026-01-02T00:00:00Z': ['due_at'],
    'plannedSince=2026-01-01T00:00:00Z&plannedBefore=2026-01-02T00:00:00Z': ['planned_end_at', 'planned_start_at'],
    'plannedSince=2026-01-01T00:00:00Z': ['planned_end_at'],
    'plannedBefore=2026-01-02T00:00:00Z': ['planned_start_at'],
    'approvalStatus=PENDING': ['approval_status'],
    'approvalStatus=PENDING,REJECTED&sort=id': ['approval_status'],
    'overdue=true': ['due_at'],
    'firstResponseOverdue=true': ['first_response_due_at'],
  };
  for (const [query, names] of Object.entries(columns)) {
    for (const page of [1, 2]) await expectIndexed(`/tickets?${query}&page=${page}&perPage=1`, names);
  }
});

it.each([
  ['tag=t1', 'tag'],
  ['tag=t1,t2', 'tag'],
  ['customFields[k1]=1', 'value'],
  ['customFields[k1]=1,2', 'value'],
])('uses an index for the filter of assets by %s', async (query, column) => {
  for (const page of [1, 2]) await expectIndexed(`/assets?${query}&page=${page}&perPage=1`, [column]);
});

it.each([
  ['/tickets/:id/comments', 'ticket_id'],
  ['/tickets/:id/attachments', 'ticket_id'],
  ['/tickets/:id/approvals', 'ticket_id'],
  ['/tickets/:id/links', 'ticket_id'],
  ['/tickets/:id/links', 'target_id'],
  ['/tickets/:id/activity', 'resource_id'],
  ['/assets/:id/activity', 'resource_id'],
])('uses an index on the id of the parent resource for GET %s', async (path, column) => {
  await expectIndexed(path.replace(':id', await getNewestId(path)), [column]);
});

const feeds = endpoints.filter(({ route }) => 'cursor' in ((route.query as Partial<z.ZodObject>).shape ?? {}));

it.each(feeds.map(({ title, route }) => [title, route.path.slice(pathPrefix.length)]))(
  'uses indexes for the change positions and the rows of %s',
  async (_, path) => {
    const ownPositions = path.endsWith('/activity') ? 'activities' : 'comments';
    const table = /activity|comments/.test(path) ? ownPositions : 'changes';
    const { body } = await workspace.call('GET', `${path}?perPage=1`);
    for (const from of ['', `cursor=${body.meta.nextCursor}`, 'since=2020-01-01T00:00:00Z']) {
      const nodes = (await getPlans(`${path}?${from}`)).flatMap((plan) => plan.nodes);
      const reading = nodes.filter((node) => node['Relation Name'] === table);
      expect(reading.length).toBeGreaterThan(0);
      for (const node of reading) expect(node['Node Type'], from).toMatch(/^Index (Only )?Scan$/);
      const places = reading.map((node) => node['Index Cond'] ?? '').join(' ');
      expect(places).toMatch(/ROW\(([\w.]+\.)?"position", ([\w.]+\.)?id\) > ROW\(/);
      if (from.startsWith('since')) expect(places).toMatch(/"position" <= /);
      // PostgreSQL sorts only the rows of one page, at most 100 rows.
      const sorted = nodes.filter((node) => /Sort/.test(node['Node Type'])).flatMap((node) => node.Plans ?? []);
      expect(sorted.map((node) => node['Relation Name'])).not.toContain(table);
    }
  },
);

it('uses an index for every query of the overview in the developer area', async () => {
  const visitor = await signIn(api, workspace);
  const plans = await getPlans('/developer/overview', visitor.get);
  const indexed = {
    webhook_subscriptions: 'active',
    api_keys: '(expires_at|\\bid\\b)',
    users: '\\bid\\b',
    usage_hours: '\\bat\\b',
    attachment_usage: 'tenant_id',
    approvals: 'approver_id',
    tickets: '\\bid\\b',
  };
  const nodes = plans.flatMap((plan) => plan.nodes);
  const conditions = (table: string) =>
    nodes.filter((node) => node['Relation Name'] === table).map((node) => node['Index Cond'] ?? node['Recheck Cond']);
  for (const [table, column] of Object.entries(indexed)) {
    expect(conditions(table).length, table).toBeGreaterThan(0);
    for (const condition of conditions(table)) expect(condition, table).toMatch(new RegExp(column));
  }
  expect(new Set(nodes.map((node) => node['Relation Name']))).toEqual(new Set([undefined, ...Object.keys(indexed)]));
});

it.each(['/assets', '/projects', '/users?active=true'])(
  'reads the last page of GET %s from the end of the index',
  async (path) => {
    const address = `${path}${path.includes('?') ? '&' : '?'}perPage=20`;
    const { body } = await workspace.call('GET', address);
    const query = vi.spyOn(api.databases.requests.pool, 'runPipeline');
    await workspace.call('GET', `${address}&page=${Math.ceil(body.meta.totalCount / 20)}`);
    const configs = query.mock.calls.flatMap(([configs]) => configs).filter(({ text }) => text.includes('ORDER BY'));
    query.mockRestore();
    expect(configs).toHaveLength(1);
    for (const { text, values } of configs) {
      const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values);
      const walked = flattenPlan(rows[0]['QUERY PLAN'][0].Plan).map((node) => node['Actual Rows'] ?? 0);
      expect(Math.max(...walked)).toBeLessThanOrEqual(20);
    }
  },
);
