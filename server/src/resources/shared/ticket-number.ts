import { type TicketNumber, type TicketType, ticketNumberPrefixes } from '@itsm-api/contract';
import { type Parameter, type Sql, sql, tenant } from '../../database/client/sql.ts';

/*
 * Generates ticket numbers. In each tenant, the numbers of each ticket type start at 1. The tenant's row in
 * `ticket_sequences` stores the last number of each type. A transaction that inserts tickets locks this row until the
 * transaction ends.
 */

/** Formats a ticket number for the API, such as `INC-17`. */
export function formatTicketNumber(type: TicketType, number: number): TicketNumber {
  return `${ticketNumberPrefixes[type]}-${number}`;
}

/** The number of new tickets, in all and of each type. */
export type TicketCounts = Record<'total' | TicketType, number>;

/**
 * Builds SQL that increases the tenant's sequence by the number of new tickets. Returns the previous values.
 * @param also further columns to return from the row `s`
 */
export const reserveNumbers = (given: Record<keyof TicketCounts, Parameter>, also: Sql) => sql`
    INSERT INTO ticket_sequences AS s (tenant_id, total, incident, problem, change, service_request)
    VALUES (${tenant}::bigint, ${given.total}::int, ${given.INCIDENT}::int, ${given.PROBLEM}::int,
      ${given.CHANGE}::int, ${given.SERVICE_REQUEST}::int)
    ON CONFLICT (tenant_id) DO UPDATE SET total = s.total + EXCLUDED.total, incident = s.incident + EXCLUDED.incident,
      problem = s.problem + EXCLUDED.problem, change = s.change + EXCLUDED.change,
      service_request = s.service_request + EXCLUDED.service_request
    RETURNING s.total - ${given.total}::int AS total, s.incident - ${given.INCIDENT}::int AS incident,
      s.problem - ${given.PROBLEM}::int AS problem, s.change - ${given.CHANGE}::int AS change,
      s.service_request - ${given.SERVICE_REQUEST}::int AS service_request,
      ${also}`;

/**
 * The SQL expression for the number of a ticket. It uses `type`, `"positionInType"` and the columns of `reserveNumbers`.
 */
export const nextNumber = sql`"positionInType" + CASE type WHEN 'INCIDENT' THEN incident WHEN 'PROBLEM' THEN problem
      WHEN 'CHANGE' THEN change ELSE service_request END`;

/**
 * Adds two positions to each ticket: its position in the batch, and its position among tickets of the same type. Also
 * returns the counts for `reserveNumbers`.
 */
export function numberTickets<Row extends { type: TicketType }>(tickets: readonly Row[]) {
  const ofType = { INCIDENT: 0, PROBLEM: 0, CHANGE: 0, SERVICE_REQUEST: 0 };
  const positioned = tickets.map((ticket, index) => {
    ofType[ticket.type] += 1;
    return { ...ticket, place: index + 1, positionInType: ofType[ticket.type] };
  });
  const counts: TicketCounts = { total: tickets.length, ...ofType };
  return { positioned, counts };
}
