import { type TicketNumber, type TicketType, ticketNumberPrefixes } from '@itsm-api/contract';

/*
 * Generates ticket numbers, which start at 1 for each type in a tenant. The tenant's row in ticket_sequences stores the
 * last numbers. The lock of this row makes concurrent inserts wait for each other.
 */

/** Returns the number of a ticket as the API presents it, such as `INC-17`. */
export function formatTicketNumber(type: TicketType, number: number): TicketNumber {
  return `${ticketNumberPrefixes[type]}-${number}`;
}

/**
 * SQL that adds new tickets to the sequence of the tenant, and returns the values of the sequence before that.
 *
 * - $1: the tenant
 * - $3 to $7: the number of new tickets, incidents, problems, changes and service requests
 */
export const reserveNumbers = `
    INSERT INTO ticket_sequences AS s (tenant_id, total, incident, problem, change, service_request)
    VALUES ($1::bigint, $3::int, $4::int, $5::int, $6::int, $7::int)
    ON CONFLICT (tenant_id) DO UPDATE SET total = s.total + EXCLUDED.total, incident = s.incident + EXCLUDED.incident,
      problem = s.problem + EXCLUDED.problem, change = s.change + EXCLUDED.change,
      service_request = s.service_request + EXCLUDED.service_request
    RETURNING s.total - $3::int AS total, s.incident - $4::int AS incident, s.problem - $5::int AS problem,
      s.change - $6::int AS change, s.service_request - $7::int AS service_request`;

/** SQL expression for the number of a ticket with `type` and `"placeOfType"`, next to the columns of `reserveNumbers`. */
export const nextNumber = `"placeOfType" + CASE type WHEN 'INCIDENT' THEN incident WHEN 'PROBLEM' THEN problem
      WHEN 'CHANGE' THEN change ELSE service_request END`;

/** Returns the tickets with their position in the batch and within their type, and the values of $3 to $7. */
export function numberTickets<Row extends { type: TicketType }>(tickets: readonly Row[]) {
  const ofType = { INCIDENT: 0, PROBLEM: 0, CHANGE: 0, SERVICE_REQUEST: 0 };
  const positioned = tickets.map((ticket, index) => {
    ofType[ticket.type] += 1;
    return { ...ticket, place: index + 1, placeOfType: ofType[ticket.type] };
  });
  return { positioned, counts: [tickets.length, ...Object.values(ofType)] };
}
