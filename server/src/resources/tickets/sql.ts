import type { TicketReference } from '@itsm-api/contract';
import type { Ticket as Columns } from '../../../generated/prisma/client.ts';
import { queryOne, queryPipelined, queryRows, tenantQuery } from '../../database/client/raw-sql.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { lockOf } from '../../database/row-lock.ts';
import { conditions, whereReference } from './ticket-number.ts';

/*
 * Tickets in SQL, as they are read (write.ts: as they are written). Prisma would take a round trip for each of the count, the page and its watchers, in snapshots of
 * their own; here each is one statement (docs/decisions/pagination.md). Every statement filters by tenant itself.
 * Tickets come and go as JSON, which costs the server half of what rows of twenty columns do.
 */

/** A column as it is in JSON. */
type Json<Column> = Column extends bigint ? number : Column extends Date ? string : Column;

/** A ticket with its watchers, ascending. */
export type TicketRow = { [Name in Exclude<keyof Columns, 'tenantId' | 'ordinal'>]: Json<Columns[Name]> } & {
  watcherUserIds: number[];
};

/** The columns of a TicketRow from `t`, without the watchers. */
export const ownColumns = `
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
  id: tenantQuery(`SELECT ${columns} FROM tickets t WHERE ${conditions.id}`),
  number: tenantQuery(`SELECT ${columns} FROM tickets t WHERE ${conditions.number}`),
};

const selectByIds = `SELECT json_agg(ticket) AS tickets FROM (
  SELECT ${columns} FROM tickets t WHERE t.tenant_id = $1 AND t.id = ANY ($2::bigint[])) AS ticket`;
const readingByIds = tenantQuery(selectByIds);

/** Several tickets in one row. */
interface Tickets {
  tickets: TicketRow[] | null;
}

/**
 * Locks tickets until the end of the transaction, in the order of their ids, and reads them: what is read in a statement of
 * its own, after the lock, is what will be changed. Resolves to those that the tenant has, in no order.
 */
export async function lockTickets(db: TenantClient, ids: readonly number[]): Promise<TicketRow[]> {
  const [, [found] = []] = (await queryPipelined(db, [
    lockOf(db, 'tickets', ids),
    { text: selectByIds, values: [db.$tenantId, ids] },
  ])) as [object[], Tickets[]];
  return found?.tickets ?? [];
}

/** Those of the tickets that the tenant has, in no order. */
export async function selectTicketsByIds(db: TenantClient, ids: readonly number[]): Promise<TicketRow[]> {
  return (await queryOne<Tickets>(db, readingByIds, [ids]))?.tickets ?? [];
}

/** One ticket of the tenant, by its id or its number. */
export function selectTicket(db: TenantClient, reference: TicketReference): Promise<TicketRow | undefined> {
  const { by, values } = whereReference(reference);
  return queryOne(db, readings[by], values);
}

/** The tickets of the CTE `page`, in the statement that has it (change-feed.ts); the planner is told how few they are. */
export const ticketsOfPage = `SELECT json_agg(ticket) FROM (
  SELECT ${columns} FROM (SELECT id FROM page LIMIT 101) AS page
  JOIN tickets t ON t.tenant_id = $1 AND t.id = page.id) AS ticket`;

const readingAfter = tenantQuery(`SELECT json_agg(ticket) AS tickets FROM (
  SELECT ${columns} FROM tickets t WHERE t.tenant_id = $1 AND t.id > $2 ORDER BY t.id LIMIT $3) AS ticket`);

/** Some of the tenant's tickets behind an id, in the order of the ids. */
export async function selectTicketsAfter(db: TenantClient, id: number, take: number): Promise<TicketRow[]> {
  return (await queryOne<Tickets>(db, readingAfter, [id, take]))?.tickets ?? [];
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
  const rows = await queryRows<{ id: string; parentId: string | null }>(db, {
    text: lines,
    values: [db.$tenantId, ids],
  });
  return new Map(rows.flatMap(({ id, parentId }) => (parentId === null ? [] : [[Number(id), Number(parentId)]])));
}

/**
 * When a ticket was changed, in SQL: later than it was before, be it that another process's clock is ahead. Receivers of
 * events tell by it which of its states is newest.
 */
export function movedOn(now: string): string {
  return `greatest(${now}, tickets.updated_at + interval '1 ms')`;
}
