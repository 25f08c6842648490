import type { Ticket, TicketStatus } from '@itsm-api/contract';
import { invalidField } from '../../shared/errors.ts';
import { workspaceFlag } from '../audit/workspace-flag.ts';
import type { Context } from '../shared/context.ts';

/*
 * The policy that work on a CHANGE can start only if the change is approved and within its window
 * (docs/decisions/changes.md). The setting is in the row of `ticket_sequences`.
 */

/** Whether the workspace has the policy. A change of this setting changes no ticket. */
export const { isOn: getChangePolicy, set: setChangePolicy } = workspaceFlag('change_policy', 'changePolicy');

/** The part of a change that the policy depends on. */
interface Start {
  before: Ticket;
  after: Ticket;
}

/** Returns true if the work on a ticket with this status hasn't started. */
export function isWaiting(status: TicketStatus): boolean {
  return status === 'OPEN' || status === 'PENDING';
}

/** Returns true if a request starts the work on a CHANGE, or resolves a CHANGE whose work hasn't started. */
function isStart({ before, after }: Start): boolean {
  return (
    before.type === 'CHANGE' &&
    isWaiting(before.status) &&
    (after.status === 'IN_PROGRESS' || after.status === 'RESOLVED')
  );
}

/**
 * Returns whether the policy applies to the changes of a request. If no change starts the work on a CHANGE, doesn't
 * query the database. The policy applies neither to import keys nor to administrators who override it.
 */
export async function findChangePolicy(context: Context, changes: readonly Start[]): Promise<boolean> {
  if (context.isImport === true || context.overridesChangePolicy === true) return false;
  return changes.some(isStart) && (await getChangePolicy(context.db));
}

/** Checks a change against the policy, if the policy applies. @throws ApiError INVALID_TRANSITION */
export function assertChangePolicy(isOn: boolean, change: Start, now: Date): void {
  if (!isOn || !isStart(change)) return;
  const reason = findReason(change.after, now.toISOString());
  if (reason === undefined) return;
  const { before, after } = change;
  throw invalidField('INVALID_TRANSITION', 'status', `can't change from ${before.status} to ${after.status} ${reason}`);
}

function findReason({ approvalStatus, plannedStartAt, plannedEndAt }: Ticket, now: string): string | undefined {
  if (approvalStatus !== 'APPROVED') {
    return `because the change isn't approved: approvalStatus is ${approvalStatus}. Wait for the approvals.`;
  }
  if (plannedStartAt === null || plannedEndAt === null) {
    return 'because the change has no planned window. Set plannedStartAt and plannedEndAt.';
  }
  if (now < plannedStartAt) return `before the planned window starts at ${plannedStartAt}. The time is ${now}.`;
  if (now >= plannedEndAt)
    return `after the planned window ended at ${plannedEndAt}. The time is ${now}. Plan a new one.`;
  return undefined;
}
