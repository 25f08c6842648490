import type { Changes, EventType, Ticket, TicketReference } from '@itsm-api/contract';
import type { Acting } from '../../actor.ts';
import type { Ticket as Columns } from '../../database/generated/client.ts';
import { guardOf, lockOf } from '../../database/lock.ts';
import { read, reading, type Statement, selectRows, selectTogether } from '../../database/statements.ts';
import type { TenantClient } from '../../database/tenant-client.ts';
import { codeOf, DIVISION_BY_ZERO } from '../../error-code.ts';
import { askWhetherWanted, failIfWanted, isWanted } from '../../webhooks/emit.ts';
import { insertActivity, shortened } from '../activities/record.ts';
import { conditions, namedBy } from './reference.ts';

/*
 * Tickets in SQL. Prisma would take a round trip for each of the count, the page and its watchers, in snapshots of
 * their own; here each is one statement (docs/decisions/totals.md). Every statement filters by tenant itself.
 * Tickets come and go as JSON, which costs the server half of what rows of twenty columns do.
 */

/** A column as it is in JSON. */
type Json<Column> = Column extends bigint ? number : Column extends Date ? string : Column;

/** A ticket with its watchers, ascending. */
export type TicketRow = { [Name in Exclude<keyof Columns, 'tenantId' | 'ordinal'>]: Json<Columns[Name]> } & {
  watcherUserIds: number[];
};

/** What a new ticket is made from; the rest is the database's. */
export type NewTicketRow = Pick<
  TicketRow,
  | 'title'
  | 'description'
  | 'type'
  | 'priority'
  | 'category'
  | 'categoryConfigId'
  | 'requesterId'
  | 'assigneeId'
  | 'parentId'
  | 'customFields'
  | 'createdAt'
  | 'watcherUserIds'
>;

/** The columns of a TicketRow from `t`, without the watchers. */
const ownColumns = `
  t.id, t.type, t.number, t.title, t.description, t.status, t.priority, t.category,
  t.category_config_id AS "categoryConfigId", t.requester_id AS "requesterId", t.assignee_id AS "assigneeId",
  t.parent_id AS "parentId", t.custom_fields AS "customFields", t.resolution, t.resolved_at AS "resolvedAt",
  t.closed_at AS "closedAt", t.comment_count AS "commentCount", t.version, t.created_at AS "createdAt",
  t.updated_at AS "updatedAt"`;

/** The columns of a TicketRow from the table tickets as `t`. */
export const columns = `${ownColumns},
  ARRAY(SELECT w.user_id FROM ticket_watchers w WHERE w.tenant_id = t.tenant_id AND w.ticket_id = t.id
    ORDER BY w.user_id) AS "watcherUserIds"`;

const readings = {
  id: reading(`SELECT ${columns} FROM tickets t WHERE ${conditions.id}`),
  number: reading(`SELECT ${columns} FROM tickets t WHERE ${conditions.number}`),
};

const selectByIds = `SELECT to_json(ticket) AS ticket FROM (
  SELECT ${columns} FROM tickets t WHERE t.tenant_id = $1 AND t.id = ANY ($2::bigint[])) AS ticket`;

/**
 * Locks tickets until the end of the transaction, in the order of their ids, and reads them: what is read in a statement of
 * its own, after the lock, is what will be changed. Resolves to those that the tenant has, in no order.
 */
export async function lockTickets(db: TenantClient, ids: readonly number[]): Promise<TicketRow[]> {
  const [, rows = []] = await selectTogether(db, [
    lockOf(db, 'tickets', ids),
    { text: selectByIds, values: [db.$tenantId, ids] },
  ]);
  return (rows as { ticket: TicketRow }[]).map(({ ticket }) => ticket);
}

/** Those of the tickets that the tenant has, in no order. */
export async function selectTicketsByIds(db: TenantClient, ids: readonly number[]): Promise<TicketRow[]> {
  const rows = await selectRows<{ ticket: TicketRow }>(db, { text: selectByIds, values: [db.$tenantId, ids] });
  return rows.map(({ ticket }) => ticket);
}

/** One ticket of the tenant, by its id or its number. */
export function selectTicket(db: TenantClient, reference: TicketReference): Promise<TicketRow | undefined> {
  const { by, values } = namedBy(reference);
  return read(db, readings[by], values);
}

/** The tickets of the CTE `page`, in the statement that has it (change-feed.ts); the planner is told how few they are. */
export const ticketsOfPage = `SELECT json_agg(ticket) FROM (
  SELECT ${columns} FROM (SELECT id FROM page LIMIT 101) AS page
  JOIN tickets t ON t.tenant_id = $1 AND t.id = page.id) AS ticket`;

const selectAfter = `SELECT json_agg(ticket) AS tickets FROM (
  SELECT ${columns} FROM tickets t WHERE t.tenant_id = $1 AND t.id > $2 ORDER BY t.id LIMIT $3) AS ticket`;

/** Some of the tenant's tickets behind an id, in the order of the ids. */
export async function selectTicketsAfter(db: TenantClient, id: number, take: number): Promise<TicketRow[]> {
  const values = [db.$tenantId, id, take];
  const [row] = await selectRows<{ tickets: TicketRow[] | null }>(db, { text: selectAfter, values });
  return row?.tickets ?? [];
}

/**
 * Makes tickets, whose places are their order: $2 has them as JSON. Their ordinals and numbers follow those given out so far,
 * which the tenant's sequence tells when it has been moved on by all of them at once.
 */
const insert = `
  WITH given AS MATERIALIZED (
    SELECT given.*, row_number() OVER (PARTITION BY type ORDER BY place)::int AS "placeOfType"
    FROM ROWS FROM (json_to_recordset($2::json) AS (title text, description text, type text, priority text,
      category text, "categoryConfigId" text, "requesterId" bigint, "assigneeId" bigint, "parentId" bigint,
      "customFields" jsonb, "createdAt" timestamptz, "watcherUserIds" bigint[])) WITH ORDINALITY
      AS given (title, description, type, priority, category, "categoryConfigId", "requesterId", "assigneeId", "parentId",
        "customFields", "createdAt", "watcherUserIds", place)
    WHERE $3::text IS NULL OR NOT ${isWanted('$1', '$3')}
  ), added AS MATERIALIZED (
    SELECT count(*)::int AS total, (count(*) FILTER (WHERE type = 'INCIDENT'))::int AS incident,
      (count(*) FILTER (WHERE type = 'PROBLEM'))::int AS problem,
      (count(*) FILTER (WHERE type = 'CHANGE'))::int AS change,
      (count(*) FILTER (WHERE type = 'SERVICE_REQUEST'))::int AS service_request FROM given
  ), sequence AS (
    INSERT INTO ticket_sequences AS s (tenant_id, total, incident, problem, change, service_request)
    SELECT $1::bigint, total, incident, problem, change, service_request FROM added WHERE total > 0
    ON CONFLICT (tenant_id) DO UPDATE SET total = s.total + EXCLUDED.total, incident = s.incident + EXCLUDED.incident,
      problem = s.problem + EXCLUDED.problem, change = s.change + EXCLUDED.change,
      service_request = s.service_request + EXCLUDED.service_request
    RETURNING *
  ), before AS MATERIALIZED (
    SELECT s.total - a.total AS total, s.incident - a.incident AS incident, s.problem - a.problem AS problem,
      s.change - a.change AS change, s.service_request - a.service_request AS service_request FROM sequence s, added a
  ), t AS (
    INSERT INTO tickets (id, tenant_id, ordinal, type, number, title, description, priority, category,
      category_config_id, requester_id, assignee_id, parent_id, custom_fields, created_at, updated_at)
    SELECT nextval('tickets_id_seq'), $1, before.total + place, type,
      CASE type WHEN 'INCIDENT' THEN incident WHEN 'PROBLEM' THEN problem WHEN 'CHANGE' THEN change
        ELSE service_request END + "placeOfType",
      title, description, priority, category, "categoryConfigId", "requesterId", "assigneeId", "parentId",
      "customFields", "createdAt", "createdAt"
    FROM before, given ORDER BY place
    RETURNING *
  ), made AS (
    SELECT t.*, given."watcherUserIds" FROM t, before, given WHERE given.place = t.ordinal - before.total
  ), watcher AS (
    INSERT INTO ticket_watchers (tenant_id, ticket_id, user_id)
    SELECT tenant_id, id, unnest("watcherUserIds") FROM made
  ), activity AS (${insertActivity({
    resource: 'TICKET',
    action: 'CREATED',
    tenantId: '$1',
    rows: 't',
    at: 'created_at',
    userId: '$4',
    keyId: '$5',
    changes: "'{}'",
  })})
  SELECT to_json(ticket) AS ticket FROM (SELECT ${ownColumns}, t."watcherUserIds" FROM made t ORDER BY ordinal) AS ticket`;

/** Who writes, and where. */
export interface Writer extends Acting {
  db: TenantClient;
}

/** The statements that make tickets, behind those who make one of the same tenant. */
function insertion(
  { db, userId, keyId }: Writer,
  tickets: readonly NewTicketRow[],
  unlessWanted?: EventType,
): Statement[] {
  const values = [db.$tenantId, JSON.stringify(tickets), unlessWanted ?? null, userId ?? null, keyId ?? null];
  return [guardOf(db, 'ticketSequence'), { text: insert, values }];
}

/** Tickets as they were written, and whether somebody wants to be told. */
interface Written {
  tickets: TicketRow[];
  isWanted: boolean;
}

/**
 * Makes tickets with their watchers, the next ordinals and the next numbers of their types, and answers them in their
 * order. The tenant's sequence stays locked until the transaction is committed, which keeps ordinals and ids in one order.
 */
export async function insertTickets(writer: Writer, tickets: readonly NewTicketRow[]): Promise<Written> {
  const [, rows = [], asked = []] = await selectTogether(writer.db, [
    ...insertion(writer, tickets),
    askWhetherWanted(writer.db, 'ticket.created'),
  ]);
  return written(rows, asked, tickets.length);
}

/**
 * Makes one, committed in one round trip. Where somebody wants to be told of it, it makes none and resolves to undefined:
 * who subscribed before is seen before anything is written, and who did while it waited for a lock, after.
 */
export async function insertUntoldTicket(writer: Writer, ticket: NewTicketRow): Promise<TicketRow | undefined> {
  const { db } = writer;
  const event = 'ticket.created';
  try {
    const [, rows = []] = await selectTogether(db, [...insertion(writer, [ticket], event), failIfWanted(db, event)]);
    const [row] = rows as { ticket: TicketRow }[];
    return row?.ticket;
  } catch (error) {
    if (codeOf(error) === DIVISION_BY_ZERO) return undefined;
    throw error;
  }
}

/** Changes tickets: $3 has them as JSON, and $2 their ids, which have the index asked whatever the planner expects. */
const update = `
  WITH given AS MATERIALIZED (
    SELECT * FROM json_to_recordset($3::json) AS given (id bigint, title text, description text, status text,
      priority text, category text, "categoryConfigId" text, "assigneeId" bigint, "parentId" bigint, "customFields" jsonb,
      resolution text, "resolvedAt" timestamptz, "closedAt" timestamptz, "updatedAt" timestamptz,
      "watcherUserIds" bigint[], changes jsonb)
  ), t AS (
    UPDATE tickets SET title = given.title, description = given.description, status = given.status,
      priority = given.priority, category = given.category, category_config_id = given."categoryConfigId",
      assignee_id = given."assigneeId", parent_id = given."parentId", custom_fields = given."customFields",
      resolution = given.resolution, resolved_at = given."resolvedAt", closed_at = given."closedAt",
      updated_at = given."updatedAt"
    FROM given WHERE tenant_id = $1 AND tickets.id = ANY ($2::bigint[]) AND tickets.id = given.id
    RETURNING tickets.*, given."watcherUserIds", given.changes
  ), removed AS (
    DELETE FROM ticket_watchers w USING given WHERE w.tenant_id = $1 AND w.ticket_id = ANY ($2::bigint[])
      AND w.ticket_id = given.id AND w.user_id <> ALL (given."watcherUserIds")
  ), added AS (
    INSERT INTO ticket_watchers (tenant_id, ticket_id, user_id)
    SELECT $1, id, unnest("watcherUserIds") FROM given ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING
  ), activity AS (${insertActivity({
    resource: 'TICKET',
    action: 'UPDATED',
    tenantId: '$1',
    rows: 't',
    at: 'updated_at',
    userId: '$4',
    keyId: '$5',
    changes: 'changes',
  })})
  SELECT to_json(ticket) AS ticket FROM (SELECT ${ownColumns}, t."watcherUserIds" FROM t) AS ticket`;

/** A ticket as it is to be, and what differs from before. */
interface ChangedTicket {
  after: Ticket;
  changes: Changes;
}

/**
 * Changes tickets that the transaction has locked, and their watchers. `updatedAt` is set as Prisma does elsewhere.
 * Resolves to the tickets as they were written, in no order.
 */
export async function changeTickets(
  { db, userId, keyId }: Writer,
  changed: readonly ChangedTicket[],
): Promise<Written> {
  const updatedAt = new Date();
  const ids = changed.map(({ after }) => after.id);
  const given = changed.map(({ after, changes }) => ({ ...after, updatedAt, changes: shortened(changes) }));
  const values = [db.$tenantId, ids, JSON.stringify(given), userId ?? null, keyId ?? null];
  const asking = askWhetherWanted(db, 'ticket.updated');
  const [rows = [], asked = []] = await selectTogether(db, [{ text: update, values }, asking]);
  return written(rows, asked, changed.length);
}

function written(rows: object[], [asked]: object[], count: number): Written {
  const tickets = (rows as { ticket: TicketRow }[]).map(({ ticket }) => ticket);
  if (tickets.length !== count || asked === undefined) throw new Error('Not all tickets were written.');
  return { tickets, ...(asked as { isWanted: boolean }) };
}

const lines = `
  WITH RECURSIVE line (id, parent_id) AS (
    SELECT id, parent_id FROM tickets WHERE tenant_id = $1 AND id = ANY ($2::bigint[])
    UNION
    SELECT t.id, t.parent_id FROM tickets t JOIN line l ON t.tenant_id = $1 AND t.id = l.parent_id
  )
  SELECT id, parent_id AS "parentId" FROM line`;

/** The parents of tickets, of their parents, and so on: of each ticket that has one, its parent. */
export async function selectParents(db: TenantClient, ids: readonly number[]): Promise<Map<number, number>> {
  const rows = await selectRows<{ id: string; parentId: string | null }>(db, {
    text: lines,
    values: [db.$tenantId, ids],
  });
  return new Map(rows.flatMap(({ id, parentId }) => (parentId === null ? [] : [[Number(id), Number(parentId)]])));
}
