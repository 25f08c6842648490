import { type TicketReference, TicketType, ticketNumberPrefixes } from '@itsm-api/contract';
import type { Context } from '../../context.ts';
import { type Statement, selectRows } from '../../database/statements.ts';
import type { TenantClient } from '../../database/tenant-client.ts';
import { notFound } from '../../errors.ts';

/** PostgreSQL's largest integer: no type of ticket gets so far. */
const largestNumber = 2 ** 31 - 1;

/** What finds a ticket by its id or its number, in the table tickets as `t`. */
export function conditionOf(db: TenantClient, reference: TicketReference): Statement {
  if (typeof reference === 'number') {
    return { text: 't.tenant_id = $1 AND t.id = $2', values: [db.$tenantId, reference] };
  }
  const [prefix, number] = reference.split('-');
  const type = TicketType.options.find((type) => ticketNumberPrefixes[type] === prefix);
  return {
    text: 't.tenant_id = $1 AND t.type = $2 AND t.number = $3',
    // No ticket has the number 0.
    values: [db.$tenantId, type, Number(number) > largestNumber ? 0 : Number(number)],
  };
}

/**
 * The id of the ticket that a path names. An id is taken as it is: whoever uses it finds out whether it names a ticket.
 * @throws ApiError NOT_FOUND for a number that was not given out
 */
export async function ticketIdOf({ db }: Pick<Context, 'db'>, reference: TicketReference): Promise<number> {
  if (typeof reference === 'number') return reference;
  const { text, values } = conditionOf(db, reference);
  const [row] = await selectRows<{ id: string }>(db, { text: `SELECT t.id FROM tickets t WHERE ${text}`, values });
  if (row === undefined) throw notFound('ticket');
  return Number(row.id);
}
