import type { TicketReference } from '@itsm-api/contract';
import type { Ticket as Columns } from '../../../generated/prisma/client.ts';
import type { TenantDoor } from '../../database/client/door.ts';
import { type Parameter, type Sql, sql } from '../../database/client/sql.ts';
import { many, one, rows } from '../../database/client/statements.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { lockOf } from '../../database/row-lock.ts';
import { hasNumber, type NumberParts, parseTicketNumber } from '../shared/ticket-reference.ts';
import { columns } from './columns.ts';

/*
 * Reads tickets in SQL. Each read is one statement (docs/decisions/pagination.md), whereas Prisma would need separate
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
export type TicketRow = { [Name in Exclude<keyof Columns, 'tenantId' | 'ordinal'>]: Json<Columns[Name]> };

const selectById = one<{ id: number }, TicketRow>(
  ({ tenant, id }) => sql`SELECT ${columns} FROM tickets t WHERE t.tenant_id = ${tenant} AND t.id = ${id}`,
);
const selectByNumber = one<NumberParts, TicketRow>(
  (given) => sql`SELECT ${columns} FROM tickets t WHERE ${hasNumber(given)}`,
);

type Ids = { ids: readonly number[] };
const ticketsWithIds = ({ tenant, ids }: Record<keyof Ids | 'tenant', Parameter>) =>
  sql`SELECT ${columns} FROM tickets t WHERE t.tenant_id = ${tenant} AND t.id = ANY (${ids}::bigint[])`;
const selectByIds = many<Ids, TicketRow>(ticketsWithIds);
/** Reads tickets after a lock. The result is JSON, like the result of `selectByIds`. */
const selectLocked = rows<Ids, { tickets: TicketRow[] | null }>(
  (given) => sql`SELECT json_agg(ticket) AS tickets FROM (${ticketsWithIds(given)}) AS ticket`,
);

/**
 * Locks tickets until the end of the transaction, in the order of their ids. A second statement reads the tickets, so
 * that it sees their latest versions. Resolves to the existing tickets of the tenant, in no particular order.
 */
export async function lockTickets(db: TenantClient, ids: readonly number[]): Promise<TicketRow[]> {
  const [, [found]] = await db.$pipeline([lockOf(db, 'tickets', ids), db.$bind(selectLocked, { ids })]);
  return found?.tickets ?? [];
}

/** Returns the tenant's tickets with these ids, in no particular order. */
export function selectTicketsByIds(db: Pick<TenantDoor, '$sql'>, ids: readonly number[]): Promise<TicketRow[]> {
  return db.$sql(selectByIds, { ids });
}

/** Returns one of the tenant's tickets, by id or number. */
export function selectTicket(db: TenantClient, reference: TicketReference): Promise<TicketRow | undefined> {
  if (typeof reference === 'number') return db.$sql(selectById, { id: reference });
  return db.$sql(selectByNumber, parseTicketNumber(reference));
}

/**
 * SQL that selects the tickets on a page of the change feed. The CTE `page` contains their ids. The LIMIT removes no
 * rows, but gives the planner an upper bound.
 */
export const ticketsOfPage = ({ tenant }: { tenant: Parameter }) => sql`SELECT json_agg(ticket) FROM (
  SELECT ${columns} FROM (SELECT id FROM page LIMIT 101) AS page
  JOIN tickets t ON t.tenant_id = ${tenant} AND t.id = page.id) AS ticket`;

const selectAfter = many<{ id: number; take: number }, TicketRow>(
  ({ tenant, id, take }) =>
    sql`SELECT ${columns} FROM tickets t WHERE t.tenant_id = ${tenant} AND t.id > ${id} ORDER BY t.id LIMIT ${take}`,
);

/** Returns up to `take` tickets with ids greater than `id`, in ascending order. */
export function selectTicketsAfter(db: TenantClient, id: number, take: number): Promise<TicketRow[]> {
  return db.$sql(selectAfter, { id, take });
}

const selectAncestors = many<Ids, { id: number; parentId: number | null }>(
  ({ tenant, ids }) => sql`WITH RECURSIVE line (id, parent_id) AS (
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
