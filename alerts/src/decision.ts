import type { Ticket, TicketPatchItem } from '@itsm-api/client';
import type { Alert } from './alert.ts';

/** How to change the tickets of an alert. */
export interface Decision {
  change: 'none' | 'create' | 'reopen' | 'resolve';
  /** The external id of the new or changed ticket. */
  externalId: string;
  /** The fields to change in an existing ticket. */
  patch?: TicketPatchItem;
}

/** The maximum difference between the time in a resolution and `resolvedAt`, which the server sets. */
const maxClockDifferenceMs = 5 * 60_000;

/**
 * Decides how to change the tickets of an alert.
 * @param ticket the newest ticket, or undefined if the alert has none
 */
export function decide(alert: Alert, ticket: Ticket | undefined, reopenWithinHours: number): Decision {
  const externalId = ticket?.externalId ?? '';
  if (alert.hasFired && (ticket === undefined || (hasEnded(ticket) && alert.startsAt > endOf(ticket)))) {
    const hours = (Date.now() - Date.parse(ticket?.resolvedAt ?? '')) / 3_600_000;
    if (ticket?.status !== 'RESOLVED' || endByProgram(ticket) === undefined || hours >= reopenWithinHours) {
      return { change: 'create', externalId: externalIdOf(alert, numberOf(alert, ticket) + 1) };
    }
    const patch = { id: ticket.id, ifMatch: ticket.etag, status: 'IN_PROGRESS', resolution: null } as const;
    return { change: 'reopen', externalId, patch };
  }
  if (alert.status === 'firing' || ticket === undefined || hasEnded(ticket)) return { change: 'none', externalId };
  const resolution = `The alert ended at ${alert.endsAt}. Set by itsm-alerts at ${new Date().toISOString()}.`;
  const patch = { id: ticket.id, ifMatch: ticket.etag, status: 'RESOLVED', resolution } as const;
  return { change: 'resolve', externalId, patch };
}

/** Returns true if the ticket is resolved, closed or cancelled. */
export function hasEnded({ status }: Ticket): boolean {
  return status === 'RESOLVED' || status === 'CLOSED' || status === 'CANCELLED';
}

/** Returns the last moment to which an ended ticket belongs. If the alert starts later, it is a new problem. */
function endOf(ticket: Ticket): string {
  return endByProgram(ticket) ?? ticket.resolvedAt ?? ticket.updatedAt;
}

/** Returns the end of the alert if the program resolved the ticket, or undefined if a person did. */
function endByProgram({ resolution, resolvedAt }: Ticket): string | undefined {
  const [, end, setAt = ''] = /^The alert ended at (\S+)\. Set by itsm-alerts at (\S+)\.$/.exec(resolution ?? '') ?? [];
  // If a person resolves the ticket again and keeps the text, its time differs from `resolvedAt`.
  const difference = Math.abs(Date.parse(setAt) - Date.parse(resolvedAt ?? ''));
  return difference <= maxClockDifferenceMs ? end : undefined;
}

/** Returns the tag of all tickets of an alert. */
export function tagOf({ hash }: Alert): string {
  return `alert:${hash}`;
}

/** Returns the external id of the nth ticket of an alert. */
export function externalIdOf(alert: Alert, number: number): string {
  return `${tagOf(alert)}:${number}`;
}

/** Returns the number in the external id of a ticket, or 0 if it isn't a ticket of the alert. */
export function numberOf(alert: Alert, ticket: Ticket | undefined): number {
  const [, tag, number] = /^(alert:\w+):(\d+)$/.exec(ticket?.externalId ?? '') ?? [];
  return tag === tagOf(alert) ? Number(number) : 0;
}
