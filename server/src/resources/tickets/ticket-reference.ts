import { type TicketNumber, type TicketReference, TicketType, ticketNumberPrefixes } from '@itsm-api/contract';
import { queryOne, tenantQuery } from '../../database/client/raw-sql.ts';
import { invalidField, notFound } from '../../shared/errors.ts';
import type { Context } from '../shared/context.ts';
import { noSuchTicket } from '../shared/foreign-keys.ts';
import { formatTicketNumber } from './ticket-number.ts';

/** The largest possible ticket number: the maximum value of a PostgreSQL integer. */
const maxNumber = 2 ** 31 - 1;

/**
 * The SQL conditions that select a ticket by id or number. $1 is the tenant. The table `tickets` must have the alias
 * `t`.
 */
export const conditions = {
  id: 't.tenant_id = $1 AND t.id = $2',
  number: 't.tenant_id = $1 AND t.type = $2 AND t.number = $3',
};

/**
 * Returns the name of the SQL condition for a ticket reference. Also returns the parameter values, starting with $2.
 */
export function whereReference(reference: TicketReference): { by: keyof typeof conditions; values: unknown[] } {
  if (typeof reference === 'number') return { by: 'id', values: [reference] };
  return { by: 'number', values: parseTicketNumber(reference) };
}

function parseTicketNumber(ticketNumber: TicketNumber): [type: TicketType | undefined, number: number] {
  const [prefix, number] = ticketNumber.split('-');
  const type = TicketType.options.find((type) => ticketNumberPrefixes[type] === prefix);
  // If a number is too large for PostgreSQL, returns 0, because no ticket has the number 0.
  return [type, Number(number) > maxNumber ? 0 : Number(number)];
}

const idByNumber = tenantQuery(`SELECT t.id FROM tickets t WHERE ${conditions.number}`);

/**
 * Resolves a ticket id or ticket number to a ticket id. For an id, doesn't check that the ticket exists, because the
 * caller's next query does.
 * @throws ApiError NOT_FOUND if no ticket has the number
 */
export async function resolveTicketId({ db }: Pick<Context, 'db'>, reference: TicketReference): Promise<number> {
  if (typeof reference === 'number') return reference;
  const row = await queryOne<{ id: number }>(db, idByNumber, whereReference(reference).values);
  if (row === undefined) throw notFound('ticket');
  return row.id;
}

/** Resolves a ticket id or ticket number to a ticket id. Returns undefined if no ticket has the number. */
export type FindId = (reference: TicketReference | undefined) => number | undefined;

const selectByNumbers = tenantQuery(`SELECT json_agg(json_build_array(t.id, t.type, t.number)) AS tickets
  FROM unnest($2::text[], $3::int[]) AS named (type, number)
  JOIN tickets t ON t.tenant_id = $1 AND t.type = named.type AND t.number = named.number`);

/** Looks up the ids for all ticket numbers in one query. If all references are ids, runs no query. */
export async function findTicketIds(
  { db }: Pick<Context, 'db'>,
  references: readonly (TicketReference | null | undefined)[],
): Promise<FindId> {
  const numbers = [...new Set(references.filter((reference) => typeof reference === 'string'))];
  const ids = new Map<string, number>();
  if (numbers.length > 0) {
    const parts = numbers.map(parseTicketNumber);
    const values = [parts.map(([type]) => type), parts.map(([, number]) => number)];
    type Found = { tickets: [id: number, type: TicketType, number: number][] | null };
    const found = await queryOne<Found>(db, selectByNumbers, values);
    for (const [id, type, number] of found?.tickets ?? []) ids.set(formatTicketNumber(type, number), id);
  }
  return (reference) => (typeof reference === 'string' ? ids.get(reference) : reference);
}

/** A request body in which `parentId` is always an id, never a ticket number. */
export type ById<Body> = Omit<Body, 'parentId'> & { parentId?: number | null | undefined };

/** Replaces the parent's ticket number in a request body with the parent's id. @throws ApiError INVALID_REFERENCE */
export function byId<Body extends { parentId?: TicketReference | null | undefined }>(
  body: Body,
  findId: FindId,
): ById<Body> {
  const { parentId: parent, ...others } = body;
  if (parent == null) return { ...others, ...('parentId' in body && { parentId: parent }) };
  const parentId = findId(parent);
  if (parentId === undefined) throw invalidField('INVALID_REFERENCE', 'parentId', noSuchTicket);
  return { ...others, parentId };
}
