import { type TicketNumber, type TicketType, ticketNumberPrefixes } from '@itsm-api/contract';

/*
 * Generates ticket numbers. In each tenant, the numbers of each ticket type start at 1. The tenant's row in
 * `ticket_sequences` stores the last number of each type. A transaction that inserts tickets locks this row until the
 * transaction ends.
 */

/** Formats a ticket number for the API, such as `INC-17`. */
export function formatTicketNumber(type: TicketType, number: number): TicketNumber {
  return `${ticketNumberPrefixes[type]}-${number}`;
}

/**
 * SQL that increases the tenant's sequence by the number of new tickets. Returns the previous values and the resolution
 * targets.
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
      s.change - $6::int AS change, s.service_request - $7::int AS service_request,
      s.resolution_targets`;

/**
 * The SQL expression for the number of a ticket. It uses `type`, `"placeOfType"` and the columns of `reserveNumbers`.
 */
export const nextNumber = `"placeOfType" + CASE type WHEN 'INCIDENT' THEN incident WHEN 'PROBLEM' THEN problem
      WHEN 'CHANGE' THEN change ELSE service_request END`;

/**
 * Adds two positions to each ticket: its position in the batch, and its position among tickets of the same type. Also
 * returns the parameters $3 to $7 for `reserveNumbers`.
 */
export function numberTickets<Row extends { type: TicketType }>(tickets: readonly Row[]) {
  const ofType = { INCIDENT: 0, PROBLEM: 0, CHANGE: 0, SERVICE_REQUEST: 0 };
  const positioned = tickets.map((ticket, index) => {
    ofType[ticket.type] += 1;
    return { ...ticket, place: index + 1, placeOfType: ofType[ticket.type] };
  });
  return { positioned, counts: [tickets.length, ...Object.values(ofType)] };
}
