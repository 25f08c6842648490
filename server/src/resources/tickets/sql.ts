import type { EventType, Ticket } from '@itsm-api/contract';
import type { Ticket as Columns } from '../../database/generated/client.ts';
import { guardOf, lockOf } from '../../database/lock.ts';
import { type Statement, selectRows, selectTogether } from '../../database/statements.ts';
import type { TenantClient } from '../../database/tenant-client.ts';
import { codeOf } from '../../error-code.ts';
import { askWhetherWanted, DIVISION_BY_ZERO, failIfWanted, isWanted } from '../../webhooks/emit.ts';

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
  t.closed_at AS "closedAt", t.created_at AS "createdAt", t.updated_at AS "updatedAt"`;

/** The columns of a TicketRow from the table tickets as `t`. */
export const columns = `${ownColumns},
  ARRAY(SELECT w.user_id FROM ticket_watchers w WHERE w.tenant_id = t.tenant_id AND w.ticket_id = t.id
    ORDER BY w.user_id) AS "watcherUserIds"`;

const selectOne = `SELECT (SELECT to_json(ticket) FROM (
  SELECT ${columns} FROM tickets t WHERE t.tenant_id = $1 AND t.id = $2) AS ticket) AS ticket`;

/**
 * Locks a ticket until the end of the transaction and reads it: what is read in a statement of its own, after the lock,
 * is what will be changed. Resolves to undefined when the tenant has no such ticket.
 */
export async function lockTicket(db: TenantClient, id: number): Promise<TicketRow | undefined> {
  const [, rows = []] = await selectTogether(db, [
    lockOf(db, 'tickets', id),
    { text: selectOne, values: [db.$tenantId, id] },
  ]);
  const [row] = rows as { ticket: TicketRow | null }[];
  return row?.ticket ?? undefined;
}

/** One ticket of the tenant. */
export async function selectTicket(db: TenantClient, id: number): Promise<TicketRow | undefined> {
  const [row] = await selectRows<{ ticket: TicketRow | null }>(db, { text: selectOne, values: [db.$tenantId, id] });
  return row?.ticket ?? undefined;
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

const insert = `
  WITH given AS (
    SELECT * FROM json_to_record($2::json) AS given (title text, description text, type text, priority text, category text,
      "categoryConfigId" text, "requesterId" bigint, "assigneeId" bigint, "parentId" bigint, "customFields" jsonb,
      "createdAt" timestamptz)
    WHERE $4::text IS NULL OR NOT ${isWanted('$1', '$4')}
  ), sequence AS (
    INSERT INTO ticket_sequences AS s (tenant_id, total, incident, problem, change, service_request)
    SELECT $1::bigint, 1, (type = 'INCIDENT')::int, (type = 'PROBLEM')::int, (type = 'CHANGE')::int,
      (type = 'SERVICE_REQUEST')::int FROM given
    ON CONFLICT (tenant_id) DO UPDATE SET total = s.total + 1, incident = s.incident + EXCLUDED.incident,
      problem = s.problem + EXCLUDED.problem, change = s.change + EXCLUDED.change,
      service_request = s.service_request + EXCLUDED.service_request
    RETURNING *
  ), t AS (
    INSERT INTO tickets (id, tenant_id, ordinal, type, number, title, description, priority, category,
      category_config_id, requester_id, assignee_id, parent_id, custom_fields, created_at, updated_at)
    SELECT nextval('tickets_id_seq'), $1, sequence.total, type,
      CASE type WHEN 'INCIDENT' THEN incident WHEN 'PROBLEM' THEN problem WHEN 'CHANGE' THEN change
        ELSE service_request END,
      title, description, priority, category, "categoryConfigId", "requesterId", "assigneeId", "parentId",
      "customFields", "createdAt", "createdAt"
    FROM sequence, given
    RETURNING *
  ), watcher AS (
    INSERT INTO ticket_watchers (tenant_id, ticket_id, user_id) SELECT t.tenant_id, t.id, unnest($3::bigint[]) FROM t
  )
  SELECT to_json(ticket) AS ticket FROM (SELECT ${ownColumns}, $3::bigint[] AS "watcherUserIds" FROM t) AS ticket`;

/** The statements that make a ticket, behind those who make one of the same tenant. */
function insertion(
  db: TenantClient,
  { watcherUserIds, ...ticket }: NewTicketRow,
  unlessWanted?: EventType,
): Statement[] {
  return [
    guardOf(db, 'ticketSequence'),
    { text: insert, values: [db.$tenantId, JSON.stringify(ticket), watcherUserIds, unlessWanted ?? null] },
  ];
}

/**
 * Makes a ticket with its watchers, the next ordinal and the next number of its type. The tenant's sequence stays locked
 * until the transaction is committed, which keeps ordinals and ids in one order.
 */
export async function insertTicket(db: TenantClient, ticket: NewTicketRow): Promise<TicketRow> {
  const [, rows = []] = await selectTogether(db, insertion(db, ticket));
  const [row] = rows as { ticket: TicketRow }[];
  if (row === undefined) throw new Error('The ticket was not written.');
  return row.ticket;
}

/**
 * The same, committed in one round trip. Where somebody wants to be told of it, it makes none and resolves to undefined:
 * who subscribed before is seen before anything is written, and who did while it waited for a lock, after.
 */
export async function insertUntoldTicket(db: TenantClient, ticket: NewTicketRow): Promise<TicketRow | undefined> {
  const event = 'ticket.created';
  try {
    const [, rows = []] = await selectTogether(db, [...insertion(db, ticket, event), failIfWanted(db, event)]);
    const [row] = rows as { ticket: TicketRow }[];
    return row?.ticket;
  } catch (error) {
    if (codeOf(error) === DIVISION_BY_ZERO) return undefined;
    throw error;
  }
}

const update = `
  WITH given AS (
    SELECT * FROM json_to_record($3::json) AS given (title text, description text, status text, priority text,
      category text, "categoryConfigId" text, "assigneeId" bigint, "parentId" bigint, "customFields" jsonb,
      resolution text, "resolvedAt" timestamptz, "closedAt" timestamptz, "updatedAt" timestamptz)
  ), t AS (
    UPDATE tickets SET title = given.title, description = given.description, status = given.status,
      priority = given.priority, category = given.category, category_config_id = given."categoryConfigId",
      assignee_id = given."assigneeId", parent_id = given."parentId", custom_fields = given."customFields",
      resolution = given.resolution, resolved_at = given."resolvedAt", closed_at = given."closedAt",
      updated_at = given."updatedAt"
    FROM given WHERE tenant_id = $1 AND id = $2
    RETURNING tickets.*
  ), removed AS (
    DELETE FROM ticket_watchers WHERE tenant_id = $1 AND ticket_id = $2 AND user_id <> ALL ($4::bigint[])
  ), added AS (
    INSERT INTO ticket_watchers (tenant_id, ticket_id, user_id) SELECT $1, $2, unnest($4::bigint[]) ON CONFLICT DO NOTHING
  )
  SELECT to_json(ticket) AS ticket FROM (SELECT ${ownColumns}, $4::bigint[] AS "watcherUserIds" FROM t) AS ticket`;

/**
 * Changes a ticket that the transaction has locked, and its watchers. `updatedAt` is set as Prisma does elsewhere.
 * Resolves to the ticket as it was written, and whether somebody wants to be told.
 */
export async function changeTicket(
  db: TenantClient,
  ticket: Ticket,
): Promise<{ ticket: TicketRow; isWanted: boolean }> {
  const values = [db.$tenantId, ticket.id, JSON.stringify({ ...ticket, updatedAt: new Date() }), ticket.watcherUserIds];
  const asking = askWhetherWanted(db, 'ticket.updated');
  const [[written], [answer]] = (await selectTogether(db, [{ text: update, values }, asking])) as [
    { ticket: TicketRow }[],
    { isWanted: boolean }[],
  ];
  if (written === undefined || answer === undefined) throw new Error('The ticket was not written.');
  return { ...written, ...answer };
}

const ancestors = `
  WITH RECURSIVE chain (id, parent_id) AS (
    SELECT id, parent_id FROM tickets WHERE tenant_id = $1 AND id = $2
    UNION
    SELECT t.id, t.parent_id FROM tickets t JOIN chain c ON t.tenant_id = $1 AND t.id = c.parent_id
  )
  SELECT 1 AS found FROM chain WHERE id = $3`;

/** Whether `ancestorId` is the ticket itself or stands above `ticketId` in the tree of parents. */
export async function isSelfOrAncestor(db: TenantClient, ancestorId: number, ticketId: number): Promise<boolean> {
  const rows = await selectRows(db, { text: ancestors, values: [db.$tenantId, ticketId, ancestorId] });
  return rows.length > 0;
}
