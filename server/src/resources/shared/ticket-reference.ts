import { type TicketNumber, type TicketReference, TicketType, ticketNumberPrefixes } from '@itsm-api/contract';
import { type Parameter, sql, tenant } from '../../database/client/sql.ts';
import { oneAsJson } from '../../database/client/statements.ts';
import { requireRow } from '../../shared/errors.ts';
import type { Context } from './context.ts';

/** The largest possible ticket number: the maximum value of a PostgreSQL integer. */
const maxNumber = 2 ** 31 - 1;

/** The parts of a ticket number. */
export interface NumberParts {
  type: TicketType;
  number: number;
}

/** Builds the SQL condition that selects a ticket by its number. The table `tickets` must have the alias `t`. */
export const hasNumber = ({ type, number }: Record<keyof NumberParts, Parameter>) =>
  sql`t.tenant_id = ${tenant} AND t.type = ${type} AND t.number = ${number}`;

/** Splits a ticket number. */
export function parseTicketNumber(ticketNumber: TicketNumber): NumberParts {
  const [prefix, number] = ticketNumber.split('-');
  const type = TicketType.options.find((type) => ticketNumberPrefixes[type] === prefix) as TicketType;
  // If a number is too large for PostgreSQL, returns 0, because no ticket has the number 0.
  return { type, number: Number(number) > maxNumber ? 0 : Number(number) };
}

const selectId = oneAsJson<NumberParts, { id: number }>(
  (given) => sql`SELECT t.id FROM tickets t WHERE ${hasNumber(given)}`,
);

/**
 * Resolves a ticket id or ticket number to a ticket id. For an id, doesn't check that the ticket exists, because the
 * caller's next query does.
 * @throws ApiError NOT_FOUND if no ticket has the number
 */
export async function resolveTicketId({ db }: Pick<Context, 'db'>, reference: TicketReference): Promise<number> {
  if (typeof reference === 'number') return reference;
  return requireRow(await db.$sql(selectId, parseTicketNumber(reference)), 'ticket').id;
}
