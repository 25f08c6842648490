import * as z from 'zod';
import { Id, numberFromText } from '../fields.ts';
import { reference } from '../references.ts';

export const TicketType = z.enum(['INCIDENT', 'PROBLEM', 'CHANGE', 'SERVICE_REQUEST']).meta({
  id: 'TicketType',
  description: 'The type of the ticket. It never changes.',
});
export type TicketType = z.output<typeof TicketType>;

/** The prefix of `ticketNumber`, by ticket type. */
export const ticketNumberPrefixes = {
  INCIDENT: 'INC',
  PROBLEM: 'PRB',
  CHANGE: 'CHG',
  SERVICE_REQUEST: 'REQ',
} as const satisfies Record<TicketType, string>;

export const TicketNumber = z
  .templateLiteral([z.enum(ticketNumberPrefixes), '-', z.int()])
  .refine((number) => /^[A-Z]{3}-[1-9]\d{0,14}$/.test(number), { abort: true })
  .meta({
    id: 'TicketNumber',
    description: 'A ticket number: a prefix, a hyphen and a number, such as `INC-17`.',
    pattern: `^(${Object.values(ticketNumberPrefixes).join('|')})-[1-9]\\d{0,14}$`,
    example: 'INC-17',
  });
export type TicketNumber = z.output<typeof TicketNumber>;

const IdOrNumber = z
  .union([Id, TicketNumber], {
    error: ({ input }) =>
      input === undefined ? 'is required' : 'must be a positive integer or a ticket number such as INC-17',
  })
  .meta({ id: 'TicketReference', description: 'The id of a ticket, or its number such as `INC-17`.' });

/** A reference to a ticket in a request body: an id or a ticket number (docs/decisions/api-conventions.md). */
export const NamedTicket = reference('ticket', TicketNumber, IdOrNumber);

/** A reference to a ticket in a path, where ids are text. Handlers get the reference as it is. */
export const TicketReference = z.preprocess(numberFromText<number | TicketNumber>, IdOrNumber);
export type TicketReference = z.output<typeof TicketReference>;

/** The path parameter `:id` of paths that start with `/tickets`. */
export const TicketIdParam = z.object({ id: TicketReference });
