import { isUnresolved, type TicketStatus } from '@itsm-api/contract';
import { badge, type SafeHtml } from '../../ui/html.ts';

/** Renders the status of a ticket. */
export function statusBadge(status: TicketStatus): SafeHtml {
  if (status === 'OPEN') return badge(status, 'warn');
  return badge(status, isUnresolved(status) ? 'plain' : 'good');
}
