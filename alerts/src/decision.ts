import type { Ticket, TicketPatchItem } from '@itsm-api/client';
import type { Alert } from './alert.ts';

/** A ticket of an alert. */
export interface AlertTicket extends Ticket {
  /** When the ticket was cancelled. Absent if that doesn't matter (`needsCancellation`), or if it isn't known. */
  cancelledAt?: string | undefined;
}

/** How to change the tickets of an alert. */
export interface Decision {
  change: 'none' | 'create' | 'reopen' | 'resolve';
  /** The external id of the new or changed ticket. */
  externalId: string;
  /** The fields to change in an existing ticket. */
  patch?: TicketPatchItem;
}

/**
 * The maximum time between the decision to resolve a ticket and its `resolvedAt`, both by the clock of the server. If a
 * person resolves the ticket again and keeps the text, the time differs.
 */
const maxResolveMs = 5 * 60_000;

/** The text that the program adds to the resolution of a ticket that it resolves. */
const resolutionPattern = /The alert ended at (\S+)\. Set by itsm-alerts at (\S+)\./;

/**
 * Decides how to change the tickets of an alert.
 * @param ticket the newest ticket, or undefined if the alert has none
 * @param now the current time in milliseconds, by the clock of the server
 */
export function decide(
  alert: Alert,
  ticket: AlertTicket | undefined,
  reopenWithinHours: number,
  now = Date.now(),
): Decision {
  const externalId = ticket?.externalId ?? '';
  if (needsOpenTicket(alert, ticket)) {
    // The clock of the server is known to the second, so a ticket can seem to be resolved in the future.
    const hours = Math.max(0, now - Date.parse(ticket?.resolvedAt ?? '')) / 3_600_000;
    if (ticket?.status !== 'RESOLVED' || endByProgram(ticket) === undefined || hours >= reopenWithinHours) {
      return { change: 'create', externalId: externalIdOf(alert, numberOf(alert, ticket) + 1) };
    }
    const resolution = textOfPerson(ticket) || null;
    const patch = { id: ticket.id, ifMatch: ticket.etag, status: 'IN_PROGRESS', resolution } as const;
    return { change: 'reopen', externalId, patch };
  }
  if (alert.status === 'firing' || ticket === undefined || hasEnded(ticket)) return { change: 'none', externalId };
  const end = `The alert ended at ${alert.endsAt}. Set by itsm-alerts at ${new Date(now).toISOString()}.`;
  const resolution = [textOfPerson(ticket), end].filter(Boolean).join('\n\n');
  const patch = { id: ticket.id, ifMatch: ticket.etag, status: 'RESOLVED', resolution } as const;
  return { change: 'resolve', externalId, patch };
}

/**
 * Returns true if an alert has fired and its newest ticket doesn't cover that. A ticket that a person ended covers the
 * alert until its next start. A ticket that the program resolved covers only alerts that have ended before.
 */
function needsOpenTicket(alert: Alert, ticket: AlertTicket | undefined): boolean {
  if (!alert.hasFired || ticket === undefined) return alert.hasFired;
  if (!hasEnded(ticket)) return false;
  const end = endByProgram(ticket);
  if (end !== undefined && alert.status === 'firing') return true;
  return alert.startsAt > (end ?? ticket.resolvedAt ?? ticket.cancelledAt ?? ticket.updatedAt);
}

/** Returns true if only the activity of the newest ticket shows whether it was cancelled before the alert started. */
export function needsCancellation({ hasFired, startsAt }: Alert, ticket: Ticket): boolean {
  return hasFired && ticket.status === 'CANCELLED' && ticket.createdAt < startsAt && startsAt <= ticket.updatedAt;
}

/** Returns true if the ticket is resolved, closed or cancelled. */
export function hasEnded({ status }: Ticket): boolean {
  return status === 'RESOLVED' || status === 'CLOSED' || status === 'CANCELLED';
}

/** Returns the resolution without the text of the program. The API allows 65,535 bytes for both. */
function textOfPerson({ resolution }: Ticket): string {
  return (resolution ?? '').replace(resolutionPattern, '').trim().slice(0, 21_000).toWellFormed();
}

/** Returns the end of the alert if the program resolved the ticket, or undefined if a person did. */
function endByProgram({ resolution, resolvedAt }: Ticket): string | undefined {
  const [, end, setAt = ''] = resolutionPattern.exec(resolution ?? '') ?? [];
  const difference = Math.abs(Date.parse(setAt) - Date.parse(resolvedAt ?? ''));
  return difference <= maxResolveMs ? end : undefined;
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
