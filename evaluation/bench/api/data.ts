import { once } from 'node:events';
import { scopes } from '@itsm-api/contract';
import { hashKey, newKey } from '@itsm-api/server/auth/api-keys/key-format.ts';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';

/** The number of tenants. The first tenant has half of all tickets. */
const tenants = 21;
const usersPerTenant = 200;
const keyCount = 64;
/** The id of a user who watches every 500th ticket of the largest tenant. */
export const watcherId = 9;
export const firstTicketId = 2;

const types = ['INCIDENT', 'PROBLEM', 'CHANGE', 'SERVICE_REQUEST'];
const statuses = ['OPEN', 'IN_PROGRESS', 'PENDING', 'RESOLVED', 'CLOSED', 'CANCELLED'];
const priorities = ['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'];
const categories = ['SOFTWARE', 'HARDWARE', 'NETWORK', 'ACCESS', 'EMAIL', 'OTHER', '\\N'];
const description = 'Since this morning the connection is lost every few minutes, on all floors. '.repeat(3);

/**
 * For each of the three groups of marked tickets, the number of tickets in the largest tenant for each marked ticket.
 * With ten million tickets, the groups have 1,000, 25,000 and 100,000 tickets. The tickets of each group in the largest
 * tenant have the same requester, asset, tag and team.
 */
const groupSteps = [5000, 200, 50] as const;
/** The id of the first of three users, who are the requesters of the marked tickets of the largest tenant. */
const firstGroupRequester = tenants * usersPerTenant + 1;
/** The first of three tenants. Each tenant has as many overdue tickets as one of the groups. */
const firstOverdueTenant = 2;

/** The ids and API keys that benchmarks need to use the loaded data. */
export interface Data {
  tenantId: number;
  userId: number;
  keys: string[];
  tickets: number;
  /** Ticket ids of the largest tenant. */
  ticketIds: number[];
}

/**
 * Uses COPY to load tickets into an empty, migrated database.
 * @param options if `texts` is false, skips the words for full-text search, which take most of the time
 */
export async function loadData(
  databaseUrl: string,
  tickets: number,
  onProgress: (text: string) => void,
  { texts = true } = {},
): Promise<Data> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(`
      INSERT INTO tenants (name, name_key, updated_at) SELECT 'Tenant ' || g, 'tenant ' || g, now() FROM generate_series(1, ${tenants}) g;
      INSERT INTO users (tenant_id, name, email, role, updated_at)
      SELECT t, 'User ' || g, 'user' || g || '@example.com', 'AGENT', now()
      FROM generate_series(1, ${tenants}) t, generate_series(1, ${usersPerTenant}) g ORDER BY t, g;
      INSERT INTO users (tenant_id, name, email, role, updated_at)
      SELECT CASE WHEN g > 3 THEN ${firstOverdueTenant} + g - 4 ELSE 1 END, 'Requester ' || g, 'requester' || g || '@example.com',
        'REQUESTER', now() FROM generate_series(1, 6) g ORDER BY g;
      INSERT INTO assets (tenant_id, name, asset_tag, type, updated_at)
      SELECT 1, 'Asset ' || g, 'A' || g, 'SERVER', now() FROM generate_series(1, 3) g;
      INSERT INTO teams (tenant_id, name, name_key, updated_at)
      SELECT 1, 'Team ' || g, 'team ' || g, now() FROM generate_series(1, 3) g`);
    const keys = await addKeys(client, 1);
    await loadTickets(client, tickets, onProgress);
    if (texts) await loadTexts(client, onProgress);
    await vacuum(client, onProgress);
    const { rows } = await client.query<{ id: string }>(
      'SELECT id FROM tickets WHERE tenant_id = 1 AND ordinal % greatest(1, $1::int) = 0 ORDER BY id LIMIT 5000',
      [Math.floor(tickets / 2 / 5000)],
    );
    return { tenantId: 1, userId: 1, keys, tickets, ticketIds: rows.map(({ id }) => Number(id)) };
  } finally {
    await client.end();
  }
}

/** Creates API keys for a user of a tenant, by default its first. Benchmarks use the keys in turn. */
export async function addKeys(
  client: pg.ClientBase,
  tenantId: number,
  userId: number = firstUserOf(tenantId),
): Promise<string[]> {
  const keys = Array.from({ length: keyCount }, newKey);
  for (const key of keys) {
    await client.query(
      `INSERT INTO api_keys (tenant_id, user_id, name, hash, last_four, scopes, updated_at)
       VALUES ($4, $5, 'bench', $1, $2, $3, now())`,
      [hashKey(key), key.slice(-4), Object.keys(scopes), tenantId, userId],
    );
  }
  return keys;
}

/** Returns the id of a tenant's first user. The users of one tenant have consecutive ids. */
function firstUserOf(tenantId: number): number {
  return (tenantId - 1) * usersPerTenant + 1;
}

/**
 * Loads the tickets. For speed, drops the indexes before the load and creates them again afterwards. PostgreSQL doesn't
 * check foreign keys or run triggers during the load.
 */
async function loadTickets(client: pg.Client, count: number, onProgress: (text: string) => void): Promise<void> {
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `SELECT indexname AS name, indexdef AS definition FROM pg_indexes
     WHERE tablename = 'tickets' AND indexname <> 'tickets_pkey'`,
  );
  for (const { name } of indexes) await client.query(`DROP INDEX "${name}"`);
  await client.query("SET session_replication_role = 'replica'; SET maintenance_work_mem = '1GB'");

  const copy = client.query(
    copyFrom(`COPY tickets (tenant_id, id, ordinal, type, number, title, description, status, priority, category,
      category_config_id, requester_id, assignee_id, parent_id, created_at, updated_at, asset_ids, tags, team_id, due_at) FROM STDIN`),
  );
  const ordinals = new Array<number>(tenants + 1).fill(0);
  for (let start = 1; start <= count; start += 10_000) {
    const lines = Array.from({ length: Math.min(10_000, count - start + 1) }, (_, i) =>
      ticketLine(start + i, ordinals),
    );
    if (!copy.write(lines.join(''))) await once(copy, 'drain');
    if ((start - 1) % 500_000 === 0) onProgress(`loading tickets: ${start - 1} of ${count}`);
  }
  copy.end();
  await once(copy, 'finish');

  for (const [i, { definition }] of indexes.entries()) {
    onProgress(`creating indexes: ${i + 1} of ${indexes.length}`);
    await client.query(definition);
  }
  onProgress('counting');
  await client.query(`
    UPDATE tickets SET watcher_ids = ARRAY[${watcherId}] WHERE tenant_id = 1 AND ordinal % 500 = 0;
    INSERT INTO ticket_watchers (tenant_id, ticket_id, user_id)
      SELECT tenant_id, id, unnest(watcher_ids) FROM tickets WHERE watcher_ids <> '{}';
    INSERT INTO ticket_assets (tenant_id, ticket_id, asset_id, status)
      SELECT tenant_id, id, unnest(asset_ids), status FROM tickets WHERE asset_ids <> '{}';
    INSERT INTO tagged_tickets (tenant_id, ticket_id, tag, status)
      SELECT tenant_id, id, unnest(tags), status FROM tickets WHERE tags <> '{}';
    INSERT INTO ticket_sequences SELECT tenant_id, count(*), max(number) FILTER (WHERE type = 'INCIDENT'),
      max(number) FILTER (WHERE type = 'PROBLEM'), max(number) FILTER (WHERE type = 'CHANGE'),
      max(number) FILTER (WHERE type = 'SERVICE_REQUEST') FROM tickets GROUP BY 1;
    INSERT INTO ticket_counts SELECT tenant_id, a.id, status, priority, type, COALESCE(category, ''), count(*)
      FROM tickets CROSS JOIN LATERAL (VALUES (0::bigint), (assignee_id)) AS a (id) WHERE a.id IS NOT NULL
      GROUP BY 1, 2, 3, 4, 5, 6;
    SELECT setval('tickets_id_seq', ${count});
    INSERT INTO changes (tenant_id, resource, id, position, horizon, changed_at)
      SELECT tenant_id, 'tickets', id, position, position, updated_at FROM tickets
      CROSS JOIN LATERAL (VALUES ((extract(epoch FROM updated_at) * 1000)::bigint - (1::bigint << 52))) AS p (position)
      ORDER BY tenant_id, position, id;
    SET session_replication_role = 'origin'`);
}

async function vacuum(client: pg.Client, onProgress: (text: string) => void): Promise<void> {
  onProgress('vacuuming');
  const tables = ['tickets', 'ticket_counts', 'ticket_watchers', 'ticket_assets', 'tagged_tickets', 'changes', 'texts'];
  for (const table of tables) await client.query(`VACUUM (ANALYZE) ${table}`);
  // Writes dirty pages to disk before the measurements start.
  await client.query('CHECKPOINT');
}

/** Stores the search documents of all tickets, because the load ran without triggers. Then creates the search index. */
async function loadTexts(client: pg.Client, onProgress: (text: string) => void): Promise<void> {
  onProgress('filling the search words, which takes two minutes per million tickets');
  const { rows } = await client.query<{ definition: string }>(
    "SELECT indexdef AS definition FROM pg_indexes WHERE indexname = 'texts_document_idx'",
  );
  await client.query('DROP INDEX texts_document_idx');
  await client.query(
    `INSERT INTO texts (tenant_id, resource, id, document)
     SELECT tenant_id, 'tickets', id, ticket_document(tenant_id, ordinal, type, number, title, description) FROM tickets`,
  );
  for (const { definition } of rows) await client.query(definition);
}

function ticketLine(id: number, ordinals: number[]): string {
  const tenant = id % 2 === 0 ? 1 : 2 + (Math.floor(id / 2) % (tenants - 1));
  const ordinal = (ordinals[tenant] ?? 0) + 1;
  ordinals[tenant] = ordinal;
  const group = groupOf(tenant, ordinal);
  const requester = requesterOf(tenant, ordinal, group);
  // Some assignees have many more tickets than others, and about a fifth of the tickets have no assignee.
  const assignee = Math.random() < 0.2 ? '\\N' : firstUserOf(tenant) + Math.floor(Math.random() ** 2 * 150);
  const at = new Date(Date.UTC(2020, 0, 1) + id * 15_000).toISOString();
  const category = pick(categories);
  // In the tenants for overdue tickets, only the marked tickets have a due date.
  const isOverdue = group !== undefined && tenant !== 1;
  const status = pick(isOverdue ? statuses.slice(0, 3) : statuses);
  // No ticket has both the status CANCELLED and the priority CRITICAL, so a filter for this combination matches no
  // ticket.
  const priority = status === 'CANCELLED' ? pick(priorities.slice(0, -1)) : pick(priorities);
  // One ticket in a thousand contains the word "printer". The first ticket of tenant 1 has 5,000 child tickets.
  const title = `Ticket ${ordinal} about the ${ordinal % 1000 === 7 ? 'printer' : 'network'}`;
  const parent = tenant === 1 && ordinal > 1 && ordinal <= 5001 ? firstTicketId : '\\N';
  const isMarked = group !== undefined && tenant === 1;
  const [assets, tags, team] = isMarked ? [`{${group + 1}}`, `{tag-${group + 1}}`, group + 1] : ['{}', '{}', '\\N'];
  return [
    ...[tenant, id, ordinal, pick(types), ordinal, title, description, status, priority, category],
    ...[category === '\\N' ? 'cat-7' : '\\N', requester, assignee, parent, at, at],
    ...[assets, tags, team, `${dueAtOf(id, tenant, group)}\n`],
  ].join('\t');
}

/** Returns the index of the group of marked tickets that a ticket belongs to, or undefined. */
function groupOf(tenant: number, ordinal: number): number | undefined {
  if (tenant === 1) {
    const index = groupSteps.findIndex((step, group) => ordinal % step === group + 1);
    return index === -1 ? undefined : index;
  }
  const group = tenant - firstOverdueTenant;
  const step = groupSteps[group];
  // These tenants have a twentieth of the tickets of the largest tenant.
  return step !== undefined && (ordinal * (tenants - 1)) % step < tenants - 1 ? group : undefined;
}

function requesterOf(tenant: number, ordinal: number, group: number | undefined): number {
  if (group === undefined) return firstUserOf(tenant) + (ordinal % usersPerTenant);
  return firstGroupRequester + group + (tenant === 1 ? 0 : groupSteps.length);
}

/** Returns the due date. The marked tickets of the largest tenant are due in 2001, 2002 or 2003. */
function dueAtOf(id: number, tenant: number, group: number | undefined): string {
  const day = 86_400_000;
  if (group !== undefined) return new Date(Date.UTC(2001 + group, 0, 1 + (id % 360))).toISOString();
  if (groupSteps[tenant - firstOverdueTenant] !== undefined) return '\\N';
  return new Date(Date.UTC(2020, 0, 1) + id * 15_000 + 2 * day).toISOString();
}

function pick(values: string[]): string {
  return values[Math.floor(Math.random() * values.length)] ?? '';
}
