import pg from 'pg';

/*
 * Loads tickets with skewed values. All values depend only on the id of the ticket and on the seed, so each run loads
 * the same tickets.
 */

export const tenants = 5;
/** The number of users and of assets of each tenant. Their ids start at `idsPerTenant * (tenant - 1) + 1`. */
export const idsPerTenant = 20_000;
export const teamsPerTenant = 50;

/** The tables with rows of tickets. The load writes all of them, because it runs without triggers. */
const tables = [
  ...['tickets', 'ticket_watchers', 'ticket_assets', 'tagged_tickets', 'ticket_field_values'],
  ...['changes', 'texts'],
];

/** The number of tickets that one statement loads. */
const chunk = 200_000;

/** SQL for a random number from 0 to 1 that depends on the id of the ticket and on `salt`. */
type Random = (salt: number) => string;

/** Loads the tickets with two connections, and then creates the indexes. */
export async function loadSkewedTickets(
  databaseUrl: string,
  { count, seed, onProgress }: { count: number; seed: number; onProgress: (text: string) => void },
): Promise<void> {
  const clients = await Promise.all([open(databaseUrl), open(databaseUrl)]);
  const [client] = clients;
  try {
    const indexes = await dropIndexes(client);
    let next = 1;
    const load = async (each: pg.Client) => {
      for (let first = next; first <= count; first = next) {
        next += chunk;
        onProgress(`loading tickets: ${first - 1} of ${count}`);
        await each.query(insertTickets({ first, last: Math.min(count, first + chunk - 1), count, seed }));
      }
    };
    await Promise.all(clients.map(load));
    for (const [i, definition] of indexes.entries()) {
      onProgress(`creating indexes: ${i + 1} of ${indexes.length}`);
      await client.query(definition);
    }
    onProgress('counting');
    await client.query(countTickets(count));
    onProgress('vacuuming');
    for (const table of [...tables, 'ticket_counts']) await client.query(`VACUUM (ANALYZE) ${table}`);
    await client.query('CHECKPOINT');
  } finally {
    await Promise.all(clients.map((each) => each.end()));
  }
}

async function open(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(`SET session_replication_role = replica; SET maintenance_work_mem = '1GB'; SET work_mem = '256MB';
    SET synchronous_commit = off`);
  return client;
}

/** Drops all indexes except the primary keys, because creating them afterwards is faster. Returns their definitions. */
async function dropIndexes(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
     WHERE indrelid = ANY ($1::text[]::regclass[]) AND NOT indisprimary`,
    [tables],
  );
  for (const { name } of rows) await client.query(`DROP INDEX ${name}`);
  return rows.map(({ definition }) => definition);
}

/** Builds the statement that inserts tickets and their rows in the other tables. */
function insertTickets({ first, last, count, seed }: { first: number; last: number; count: number; seed: number }) {
  const random: Random = (salt) =>
    `((hashint8extended(id, ${seed * 1000 + salt}) & 1073741823) / 1073741824.0::float8)`;
  const columns = columnsOf(random);
  return `WITH numbered AS (
      SELECT id, id::float8 / ${count} AS age, CASE WHEN id % 2 = 1 THEN 1 ELSE 2 + (id / 2) % 4 END AS tenant_id,
        (CASE WHEN id % 2 = 1 THEN (id + 1) / 2 ELSE (id / 2 + 3) / 4 END)::int AS ordinal
      FROM generate_series(${first}::bigint, ${last}) AS id
    ), kinds AS (
      SELECT *, ${kindsOf(random)} FROM numbered
    ), new AS (
      INSERT INTO tickets (${Object.keys(columns).join()}) SELECT ${Object.values(columns).join()} FROM kinds ORDER BY id
      RETURNING *
    ), watchers AS (
      INSERT INTO ticket_watchers (tenant_id, ticket_id, user_id) SELECT tenant_id, id, unnest(watcher_ids) FROM new
    ), assets AS (
      INSERT INTO ticket_assets (tenant_id, ticket_id, asset_id, status)
      SELECT tenant_id, id, unnest(asset_ids), status FROM new
    ), tags AS (
      INSERT INTO tagged_tickets (tenant_id, ticket_id, tag, status) SELECT tenant_id, id, unnest(tags), status FROM new
    ), fields AS (
      INSERT INTO ticket_field_values (tenant_id, ticket_id, key, value, status)
      SELECT tenant_id, id, key, value, status FROM new, jsonb_each_text(custom_fields) WHERE key IN ('site', 'stage')
    ), changed AS (
      INSERT INTO changes (tenant_id, resource, id, position, horizon, changed_at)
      SELECT tenant_id, 'tickets', id, position, position, updated_at
      FROM new, LATERAL (SELECT (extract(epoch FROM updated_at) * 1000)::bigint - (1::bigint << 52) AS position) AS p
    )
    INSERT INTO texts (tenant_id, resource, id, document)
    SELECT tenant_id, 'tickets', id, ticket_document(tenant_id, ordinal, type, number, title, description) FROM new`;
}

/** Values on which the values of other columns depend. */
function kindsOf(random: Random): string {
  const old = { CLOSED: 0.86, RESOLVED: 0.07, CANCELLED: 0.05, OPEN: 0.01, IN_PROGRESS: 0.005, PENDING: 0.005 };
  const recent = { OPEN: 0.3, IN_PROGRESS: 0.2, PENDING: 0.15, RESOLVED: 0.15, CLOSED: 0.18, CANCELLED: 0.02 };
  return `age >= 0.3 AND age < 0.5 AS is_imported,
    CASE WHEN age < 0.9 THEN ${pick(random(1), old)} ELSE ${pick(random(1), recent)} END AS status,
    ${pick(random(2), { INCIDENT: 0.6, SERVICE_REQUEST: 0.25, CHANGE: 0.1, PROBLEM: 0.05 })} AS type,
    date_trunc('milliseconds', CASE WHEN age >= 0.3 AND age < 0.5 THEN timestamptz '2010-01-01Z' + ${random(3)} * interval '10 years'
      ELSE timestamptz '2020-01-01Z' + age * interval '6 years' END) AS created_at`;
}

/** The expressions for the columns of tickets. */
function columnsOf(random: Random): Record<string, string> {
  const own = (perTenant: number, id: string) => `(tenant_id - 1) * ${perTenant} + ${id}`;
  const user = (id: string) => own(idsPerTenant, id);
  const when = (condition: string, value: string, otherwise = 'NULL') =>
    `CASE WHEN ${condition} THEN ${value} ELSE ${otherwise} END`;
  const days = (salt: number, most: number) => `${random(salt)} * interval '${most} days'`;
  const change = (salt: number, share: number) => `type = 'CHANGE' AND ${random(salt)} < ${share}`;
  return {
    tenant_id: 'tenant_id',
    id: 'id',
    ordinal: 'ordinal',
    number: 'ordinal',
    type: 'type',
    status: 'status',
    title: `concat_ws(' ', ${when(`${random(10)} < 0.5`, "'network'")}, ${word(random(11))}, ${word(random(12))},
      ${when(`${random(13)} < 0.01`, "'printer'")}, ${when(`${random(14)} < 0.00001`, "'zebra'")}, ordinal)`,
    description: `'The connection is lost on floor ' || ${word(random(15))} || '.' || ${when(
      `${random(16)} < 0.1`,
      `repeat(' It was lost again in the ' || ${word(random(17))} || ' room.', ${when(`${random(16)} < 0.001`, '400', '10')})`,
      "''",
    )}`,
    priority: pick(random(20), { MEDIUM: 0.6, LOW: 0.25, HIGH: 0.14, CRITICAL: 0.01 }),
    category: `nullif(${pick(random(21), { NETWORK: 0.45, SOFTWARE: 0.25, ACCESS: 0.15, HARDWARE: 0.08, EMAIL: 0.04, '': 0.03 })}, '')`,
    category_config_id: when(`${random(22)} < 0.95`, `'cat-' || (1 + floor(200 * ${random(22)} ^ 4))::int`),
    form_key: when(`${random(23)} < 0.5`, pick(random(24), { access: 0.6, laptop: 0.39999, 'new-hire': 0.00001 })),
    requester_id: user(when(`${random(25)} < 0.3`, '5', `10 + floor(19000 * ${random(26)} ^ 3)::int`)),
    assignee_id: when(
      `${random(27)} < 0.8`,
      user(when(`${random(27)} < 0.4`, '2', `10 + floor(500 * ${random(28)} ^ 2)::int`)),
    ),
    team_id: when(
      `${random(29)} < 0.8`,
      own(
        teamsPerTenant,
        when(`${random(29)} < 0.5`, '1', `2 + floor(${teamsPerTenant - 1} * ${random(30)} ^ 3)::int`),
      ),
    ),
    parent_id: when(
      'ordinal > 10000',
      when(
        `${random(31)} < 0.04`,
        when('tenant_id = 1', '1', '(tenant_id - 2) * 2 + 8'),
        when(`${random(31)} < 0.06`, `id - 8 * (1 + floor(1000 * ${random(32)}))::bigint`),
      ),
    ),
    external_id: when('is_imported', "'EXT-' || id"),
    watcher_ids: when(
      `${random(33)} < 0.4`,
      `ARRAY[${user('6')}]`,
      when(`${random(33)} < 0.5`, `ARRAY[${user('6')}, ${user(`10 + floor(1000 * ${random(34)} ^ 2)::int`)}]`, "'{}'"),
    ),
    asset_ids: when(
      `${random(35)} < 0.4`,
      `ARRAY[${own(idsPerTenant, '1')}]`,
      when(`${random(35)} < 0.5`, `ARRAY[${own(idsPerTenant, `10 + floor(10000 * ${random(36)} ^ 2)::int`)}]`, "'{}'"),
    ),
    tags: `array_remove(ARRAY[${when(`${random(37)} < 0.5`, "'common'")}, ${when(`${random(38)} < 0.02`, "'vip'")}, ${when('is_imported', "'legacy'")}, ${when(`${random(39)} < 0.00001`, "'rare'")}], NULL)`,
    custom_fields: `jsonb_strip_nulls(jsonb_build_object('site', ${pick(random(40), { hq: 0.6, branch: 0.3999, ship: 0.0001 })}, 'stage', ${when(`${random(41)} < 0.5`, "'production'", when(`${random(41)} < 0.6`, "'test'"))}, 'floor', (10 * ${random(42)})::int))`,
    resolved_at: when("status IN ('RESOLVED', 'CLOSED')", `created_at + ${days(43, 10)}`),
    closed_at: when("status = 'CLOSED'", `created_at + ${days(44, 20)}`),
    due_at: when(`NOT is_imported AND ${random(45)} < 0.7`, `created_at + ${days(46, 30)}`),
    planned_start_at: when(change(47, 0.8), `created_at + ${days(48, 30)}`),
    planned_end_at: when(change(47, 0.8), `created_at + ${days(48, 30)} + interval '4 hours'`),
    approval_status: when(change(49, 0.8), pick(random(50), { APPROVED: 0.7, PENDING: 0.2, REJECTED: 0.1 }), "'NONE'"),
    first_responded_at: when(`${random(51)} < 0.7`, `created_at + ${days(52, 2)}`),
    created_at: 'created_at',
    updated_at: `created_at + ${days(44, 20)}`,
  };
}

/** Builds SQL for one of several values, each with its share. */
function pick(random: string, shares: Record<string, number>): string {
  let sum = 0;
  const bounds = Object.values(shares)
    .slice(0, -1)
    .map((share) => (sum += share));
  const values = Object.keys(shares).map((value) => `'${value}'`);
  return `(ARRAY[${values}])[1 + width_bucket(${random}, ARRAY[${bounds}]::float8[])]`;
}

/** Builds SQL for one of 5,000 words. The first words are the most frequent. */
function word(random: string): string {
  return `'word' || floor(5000 * ${random} ^ 3)::int`;
}

/** Builds the statements that count the loaded tickets, as the triggers do. */
function countTickets(count: number): string {
  const last = (type: string) => `COALESCE(max(number) FILTER (WHERE type = '${type}'), 0)`;
  return `INSERT INTO ticket_sequences (tenant_id, total, incident, problem, change, service_request)
      SELECT tenant_id, count(*), ${['INCIDENT', 'PROBLEM', 'CHANGE', 'SERVICE_REQUEST'].map(last)} FROM tickets GROUP BY 1;
    INSERT INTO ticket_counts SELECT tenant_id, a.id, status, priority, type, COALESCE(category, ''), count(*)
      FROM tickets CROSS JOIN LATERAL (VALUES (0::bigint), (assignee_id)) AS a (id) WHERE a.id IS NOT NULL
      GROUP BY 1, 2, 3, 4, 5, 6;
    SELECT setval('tickets_id_seq', ${count})`;
}
