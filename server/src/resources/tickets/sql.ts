import type { TicketReference } from '@itsm-api/contract';
import type { Ticket as Columns } from '../../../generated/prisma/client.ts';
import { type Parameter, type Sql, sql, tenant } from '../../database/client/sql.ts';
import { manyAsJson, oneAsJson, rows } from '../../database/client/statements.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { lockOf } from '../../database/row-lock.ts';
import { requireRow } from '../../shared/errors.ts';
import { hasNumber, type NumberParts, parseTicketNumber } from '../shared/ticket-reference.ts';
import { ticketColumnNames, ticketValues, type UnreadColumn } from './columns.ts';

/*
 * Reads tickets in SQL. Each read is one statement (docs/decisions/pagination-design.md), whereas Prisma would need separate
 * round trips and snapshots for the count and the page. Every statement filters by tenant. PostgreSQL
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

/** A ticket in the JSON form that PostgreSQL returns. */
export type TicketRow = { [Name in Exclude<keyof Columns, UnreadColumn>]: Json<Columns[Name]> };

/** A ticket as `ticketValues` selects it. */
export type TicketValues = readonly unknown[];

/**
 * Adds the names to the values of a ticket. The function is generated, because it takes 0.06 µs. A loop over the names
 * takes 1 µs, so a list of 20 tickets would take 20 µs longer, which is 4% of its CPU time.
 */
export const toTicketRow = new Function(
  'values',
  `return { ${ticketColumnNames.map((name, index) => `${name}: values[${index}]`).join(', ')} }`,
) as (values: TicketValues) => TicketRow;

type Selected = { ticket: TicketValues };

const selectById = oneAsJson<{ id: number }, Selected>(
  ({ id }) => sql`SELECT ${ticketValues} AS ticket FROM tickets t WHERE t.tenant_id = ${tenant} AND t.id = ${id}`,
);
const selectByNumber = oneAsJson<NumberParts, Selected>(
  (given) => sql`SELECT ${ticketValues} AS ticket FROM tickets t WHERE ${hasNumber(given)}`,
);

type Ids = { ids: readonly number[] };
const ticketsWithIds = ({ ids }: Record<keyof Ids, Parameter>) =>
  sql`SELECT ${ticketValues} AS ticket FROM tickets t WHERE t.tenant_id = ${tenant} AND t.id = ANY (${ids}::bigint[])`;
const selectByIds = manyAsJson<Ids, Selected>(ticketsWithIds);
/** Reads tickets after a lock. */
const selectLocked = rows<Ids, Selected>(ticketsWithIds);

/**
 * Locks tickets until the end of the transaction, in the order of their ids. A second statement reads the tickets, so
 * that it sees their latest versions. Resolves to the existing tickets of the tenant, in no particular order.
 */
export async function lockTickets(db: TenantClient, ids: readonly number[]): Promise<TicketRow[]> {
  const [, found] = await db.$pipeline([lockOf(db, 'tickets', ids), db.$bind(selectLocked, { ids })]);
  return found.map(({ ticket }) => toTicketRow(ticket));
}

/** Locks and returns one ticket, as `lockTickets` does. @throws ApiError NOT_FOUND */
export async function lockTicket(db: TenantClient, id: number): Promise<TicketRow> {
  return requireRow((await lockTickets(db, [id]))[0], 'ticket');
}

/** Returns the tenant's tickets with these ids, in no particular order. */
export async function selectTicketsByIds(db: Pick<TenantClient, '$sql'>, ids: readonly number[]): Promise<TicketRow[]> {
  return (await db.$sql(selectByIds, { ids })).map(({ ticket }) => toTicketRow(ticket));
}

/** Returns one of the tenant's tickets, by id or number. */
export async function selectTicket(db: TenantClient, reference: TicketReference): Promise<TicketRow | undefined> {
  const found =
    typeof reference === 'number'
      ? await db.$sql(selectById, { id: reference })
      : await db.$sql(selectByNumber, parseTicketNumber(reference));
  return found && toTicketRow(found.ticket);
}

/**
 * SQL that selects the tickets on a page of the change feed. The CTE `page` contains their ids. The LIMIT removes no
 * rows, but gives the planner an upper bound.
 */
export const ticketsOfPage = sql`SELECT json_agg(${ticketValues})
  FROM (SELECT id FROM page LIMIT 101) AS page JOIN tickets t ON t.tenant_id = ${tenant} AND t.id = page.id`;

const selectAfter = manyAsJson<{ id: number; take: number }, Selected>(
  ({ id, take }) =>
    sql`SELECT ${ticketValues} AS ticket FROM tickets t WHERE t.tenant_id = ${tenant} AND t.id > ${id} ORDER BY t.id LIMIT ${take}`,
);

/** Returns up to `take` tickets with ids greater than `id`, in ascending order. */
export async function selectTicketsAfter(db: TenantClient, id: number, take: number): Promise<TicketRow[]> {
  return (await db.$sql(selectAfter, { id, take })).map(({ ticket }) => toTicketRow(ticket));
}

const selectAncestors = manyAsJson<Ids, { id: number; parentId: number | null }>(
  ({ ids }) => sql`WITH RECURSIVE line (id, parent_id) AS (
      SELECT id, parent_id FROM tickets WHERE tenant_id = ${tenant} AND id = ANY (${ids}::bigint[])
      UNION
      SELECT t.id, t.parent_id FROM tickets t JOIN line l ON t.tenant_id = ${tenant} AND t.id = l.parent_id
    )
    SELECT id, parent_id AS "parentId" FROM line`,
);

/** Returns a map from ticket id to parent id, for the given tickets and all their ancestors. */
export async function selectParents(db: TenantClient, ids: readonly number[]): Promise<Map<number, number>> {
  const line = await db.$sql(selectAncestors, { ids });
  return new Map(line.flatMap(({ id, parentId }) => (parentId === null ? [] : [[id, parentId]])));
}

/**
 * Builds SQL for a new `updatedAt` that is later than the previous value, even if the clock of another process is
 * ahead. Event receivers compare `updatedAt` to find the latest version.
 */
export function nextUpdatedAt(now: Sql | Parameter): Sql {
  return sql`greatest(${now}, tickets.updated_at + interval '1 ms')`;
}
