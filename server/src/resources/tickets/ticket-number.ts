import { type TicketNumber, type TicketReference, TicketType, ticketNumberPrefixes } from '@itsm-api/contract';
import { queryOne, tenantQuery } from '../../database/client/raw-sql.ts';
import { invalidField, notFound } from '../../shared/errors.ts';
import type { Context } from '../shared/context.ts';
import { noSuchTicket } from '../shared/foreign-keys.ts';

/** PostgreSQL's largest integer: no type of ticket gets so far. */
const largestNumber = 2 ** 31 - 1;

/** What finds a ticket of the tenant `$1` in the table tickets as `t`. */
export const conditions = {
  id: 't.tenant_id = $1 AND t.id = $2',
  number: 't.tenant_id = $1 AND t.type = $2 AND t.number = $3',
};

/** By which of them a path names a ticket, and the values from `$2`. */
export function whereReference(reference: TicketReference): { by: keyof typeof conditions; values: unknown[] } {
  if (typeof reference === 'number') return { by: 'id', values: [reference] };
  return { by: 'number', values: partsOf(reference) };
}

function partsOf(ticketNumber: TicketNumber): [type: TicketType | undefined, number: number] {
  const [prefix, number] = ticketNumber.split('-');
  const type = TicketType.options.find((type) => ticketNumberPrefixes[type] === prefix);
  // No ticket has the number 0.
  return [type, Number(number) > largestNumber ? 0 : Number(number)];
}

const idByNumber = tenantQuery(`SELECT t.id FROM tickets t WHERE ${conditions.number}`);

/**
 * The id of the ticket that a path names. An id is taken as it is: whoever uses it finds out whether it names a ticket.
 * @throws ApiError NOT_FOUND for a number that was not given out
 */
export async function ticketIdOf({ db }: Pick<Context, 'db'>, reference: TicketReference): Promise<number> {
  if (typeof reference === 'number') return reference;
  const row = await queryOne<{ id: number }>(db, idByNumber, whereReference(reference).values);
  if (row === undefined) throw notFound('ticket');
  return row.id;
}

/** Tells the id of a ticket that a body or a query names; undefined for a number that was not given out. */
export type IdOf = (reference: TicketReference | undefined) => number | undefined;

const selectByNumbers = tenantQuery(`SELECT json_agg(json_build_array(t.id, t.type, t.number)) AS tickets
  FROM unnest($2::text[], $3::int[]) AS named (type, number)
  JOIN tickets t ON t.tenant_id = $1 AND t.type = named.type AND t.number = named.number`);

/** Looks up all tickets that are named by their numbers at once; where all are named by ids, nothing is asked for. */
export async function findTicketIds(
  { db }: Pick<Context, 'db'>,
  references: readonly (TicketReference | null | undefined)[],
): Promise<IdOf> {
  const numbers = [...new Set(references.filter((reference) => typeof reference === 'string'))];
  const ids = new Map<string, number>();
  if (numbers.length > 0) {
    const parts = numbers.map(partsOf);
    const values = [parts.map(([type]) => type), parts.map(([, number]) => number)];
    type Found = { tickets: [id: number, type: TicketType, number: number][] | null };
    const found = await queryOne<Found>(db, selectByNumbers, values);
    for (const [id, type, number] of found?.tickets ?? []) ids.set(`${ticketNumberPrefixes[type]}-${number}`, id);
  }
  return (reference) => (typeof reference === 'string' ? ids.get(reference) : reference);
}

/** A body as its parent is stored. */
export type ById<Body> = Omit<Body, 'parentId'> & { parentId?: number | null | undefined };

/** A body with the id of its parent in place of the number. @throws ApiError INVALID_REFERENCE */
export function byId<Body extends { parentId?: TicketReference | null | undefined }>(
  body: Body,
  idOf: IdOf,
): ById<Body> {
  const { parentId: parent, ...others } = body;
  if (parent == null) return { ...others, ...('parentId' in body && { parentId: parent }) };
  const parentId = idOf(parent);
  if (parentId === undefined) throw invalidField('INVALID_REFERENCE', 'parentId', noSuchTicket);
  return { ...others, parentId };
}
