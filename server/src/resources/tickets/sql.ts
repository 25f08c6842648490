import type { TicketReference } from '@itsm-api/contract';
import type { Ticket as Columns } from '../../../generated/prisma/client.ts';
import { queryOne, queryPipelined, queryRows, tenantQuery } from '../../database/client/raw-sql.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { lockOf } from '../../database/row-lock.ts';
import { ownColumns } from './columns.ts';
import { conditions, whereReference } from './ticket-reference.ts';

/*
 * Reads tickets in SQL. Each read is one statement (docs/decisions/pagination.md), whereas Prisma would need separate
 * round trips and snapshots for the count, the page and the watchers. Every statement filters by tenant. PostgreSQL
 * returns tickets as JSON, because parsing twenty columns per row would take twice as long. For statements that write
 * tickets, see mutations.ts.
 */

/** The type of a column value after serialization as JSON. */
type Json<Column> = Column extends bigint
  ? number
  : Column extends bigint[]
    ? number[]
    : Column extends Date
      ? string
      : Column;

/** A ticket in the JSON form that PostgreSQL returns. The watcher ids are in ascending order. */
export type TicketRow = { [Name in Exclude<keyof Columns, 'tenantId' | 'ordinal'>]: Json<Columns[Name]> } & {
  watcherUserIds: number[];
};

/** The SQL for all columns of a `TicketRow`. The table `tickets` must have the alias `t`. */
export const columns = `${ownColumns},
  ARRAY(SELECT w.user_id FROM ticket_watchers w WHERE w.tenant_id = t.tenant_id AND w.ticket_id = t.id
    ORDER BY w.user_id) AS "watcherUserIds"`;

const referenceQueries = {
  id: tenantQuery(`SELECT ${columns} FROM tickets t WHERE ${conditions.id}`),
  number: tenantQuery(`SELECT ${columns} FROM tickets t WHERE ${conditions.number}`),
};

const selectByIds = `SELECT json_agg(ticket) AS tickets FROM (
  SELECT ${columns} FROM tickets t WHERE t.tenant_id = $1 AND t.id = ANY ($2::bigint[])) AS ticket`;
const byIdsQuery = tenantQuery(selectByIds);

/** A result row with one column that contains several tickets. */
interface Tickets {
  tickets: TicketRow[] | null;
}

/**
 * Locks tickets until the end of the transaction, in the order of their ids. A second statement reads the tickets, so
 * that it sees their latest versions. Resolves to the existing tickets of the tenant, in no particular order.
 */
export async function lockTickets(db: TenantClient, ids: readonly number[]): Promise<TicketRow[]> {
  const [, [found] = []] = (await queryPipelined(db, [
    lockOf(db, 'tickets', ids),
    { text: selectByIds, values: [db.$tenantId, ids] },
  ])) as [object[], Tickets[]];
  return found?.tickets ?? [];
}

/** Returns the tenant's tickets with these ids, in no particular order. */
export async function selectTicketsByIds(db: TenantClient, ids: readonly number[]): Promise<TicketRow[]> {
  return (await queryOne<Tickets>(db, byIdsQuery, [ids]))?.tickets ?? [];
}

/** Returns one of the tenant's tickets, by id or number. */
export function selectTicket(db: TenantClient, reference: TicketReference): Promise<TicketRow | undefined> {
  const { by, values } = whereReference(reference);
  return queryOne(db, referenceQueries[by], values);
}

/**
 * SQL that selects the tickets on a page of the change feed. The CTE `page` contains their ids. The LIMIT removes no
 * rows, but gives the planner an upper bound.
 */
export const ticketsOfPage = `SELECT json_agg(ticket) FROM (
  SELECT ${columns} FROM (SELECT id FROM page LIMIT 101) AS page
  JOIN tickets t ON t.tenant_id = $1 AND t.id = page.id) AS ticket`;

const afterQuery = tenantQuery(`SELECT json_agg(ticket) AS tickets FROM (
  SELECT ${columns} FROM tickets t WHERE t.tenant_id = $1 AND t.id > $2 ORDER BY t.id LIMIT $3) AS ticket`);

/** Returns up to `take` tickets with ids greater than `id`, in ascending order. */
export async function selectTicketsAfter(db: TenantClient, id: number, take: number): Promise<TicketRow[]> {
  return (await queryOne<Tickets>(db, afterQuery, [id, take]))?.tickets ?? [];
}

const selectAncestors = `
  WITH RECURSIVE line (id, parent_id) AS (
    SELECT id, parent_id FROM tickets WHERE tenant_id = $1 AND id = ANY ($2::bigint[])
    UNION
    SELECT t.id, t.parent_id FROM tickets t JOIN line l ON t.tenant_id = $1 AND t.id = l.parent_id
  )
  SELECT id, parent_id AS "parentId" FROM line`;

/** Returns a map from ticket id to parent id, for the given tickets and all their ancestors. */
export async function selectParents(db: TenantClient, ids: readonly number[]): Promise<Map<number, number>> {
  const rows = await queryRows<{ id: string; parentId: string | null }>(db, {
    text: selectAncestors,
    values: [db.$tenantId, ids],
  });
  return new Map(rows.flatMap(({ id, parentId }) => (parentId === null ? [] : [[Number(id), Number(parentId)]])));
}

/**
 * Builds SQL for a new `updatedAt` that is later than the previous value, even if the clock of another process is
 * ahead. Event receivers compare `updatedAt` to find the latest version.
 */
export function nextUpdatedAt(now: string): string {
  return `greatest(${now}, tickets.updated_at + interval '1 ms')`;
}
