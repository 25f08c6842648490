import { type TicketReference, TicketType, ticketNumberPrefixes } from '@itsm-api/contract';
import type { Context } from '../../context.ts';
import { read, reading } from '../../database/statements.ts';
import { notFound } from '../../errors.ts';

/** PostgreSQL's largest integer: no type of ticket gets so far. */
const largestNumber = 2 ** 31 - 1;

/** What finds a ticket of the tenant `$1` in the table tickets as `t`. */
export const conditions = {
  id: 't.tenant_id = $1 AND t.id = $2',
  number: 't.tenant_id = $1 AND t.type = $2 AND t.number = $3',
};

/** By which of them a path names a ticket, and the values from `$2`. */
export function namedBy(reference: TicketReference): { by: keyof typeof conditions; values: unknown[] } {
  if (typeof reference === 'number') return { by: 'id', values: [reference] };
  const [prefix, number] = reference.split('-');
  const type = TicketType.options.find((type) => ticketNumberPrefixes[type] === prefix);
  // No ticket has the number 0.
  return { by: 'number', values: [type, Number(number) > largestNumber ? 0 : Number(number)] };
}

const idByNumber = reading(`SELECT t.id FROM tickets t WHERE ${conditions.number}`);

/**
 * The id of the ticket that a path names. An id is taken as it is: whoever uses it finds out whether it names a ticket.
 * @throws ApiError NOT_FOUND for a number that was not given out
 */
export async function ticketIdOf({ db }: Pick<Context, 'db'>, reference: TicketReference): Promise<number> {
  if (typeof reference === 'number') return reference;
  const row = await read<{ id: number }>(db, idByNumber, namedBy(reference).values);
  if (row === undefined) throw notFound('ticket');
  return row.id;
}

/** The numbers of tickets, by their ids. */
export async function ticketNumbersOf(
  { db }: Pick<Context, 'db'>,
  ids: readonly number[],
): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db.ticket.findMany({
    where: { id: { in: [...ids] } },
    select: { id: true, type: true, number: true },
  });
  return new Map(rows.map(({ id, type, number }) => [Number(id), `${ticketNumberPrefixes[type]}-${number}`]));
}
