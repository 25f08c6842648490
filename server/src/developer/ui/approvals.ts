import type { Approval, Ticket } from '@itsm-api/contract';
import type { UserContext } from '../framework/request-context.ts';
import { badge, html, type SafeHtml } from './html.ts';

/** Renders the decision of an approval. */
export function decisionBadge({ decision }: Pick<Approval, 'decision'>): SafeHtml {
  const kinds = { PENDING: 'warn', APPROVED: 'good', REJECTED: 'bad' } as const;
  return badge(decision, kinds[decision]);
}

/** Returns true if the signed-in user can decide. An approver can approve after a rejection, but not the reverse. */
export function canDecide(
  { context }: Pick<UserContext, 'context'>,
  { decision, approverId }: Pick<Approval, 'decision' | 'approverId'>,
): boolean {
  return decision !== 'APPROVED' && approverId === Number(context.userId);
}

/** Renders the planned window of a change, or returns null if it has none. */
export function renderPlannedWindow(
  visit: Pick<UserContext, 'time'>,
  { plannedStartAt, plannedEndAt }: Pick<Ticket, 'plannedStartAt' | 'plannedEndAt'>,
): SafeHtml | null {
  if (plannedStartAt === null || plannedEndAt === null) return null;
  return html`${visit.time(plannedStartAt)} to ${visit.time(plannedEndAt)}`;
}
