import { isDeepStrictEqual } from 'node:util';
import type {
  ApprovalDecision,
  ApprovalStatus,
  ChangedApproval,
  Changes,
  Ticket,
  TicketStatus,
  UserRole,
} from '@itsm-api/contract';
import type { Approval } from '../../../generated/prisma/client.ts';
import { serializeId } from '../../shared/serialize.ts';
import type { Context } from '../shared/context.ts';
import { diffFields } from '../shared/diff.ts';

/** Returns the result of all approvals of a ticket (docs/decisions/changes.md). */
export function toApprovalStatus(approvals: readonly { decision: ApprovalDecision }[]): ApprovalStatus {
  const has = (decision: ApprovalDecision) => approvals.some((approval) => approval.decision === decision);
  if (has('REJECTED')) return 'REJECTED';
  if (has('PENDING')) return 'PENDING';
  return approvals.length === 0 ? 'NONE' : 'APPROVED';
}

/** Returns the part of an approval that activity and events contain. */
export function toChangedApproval({
  id,
  approverId,
  decision,
}: Pick<Approval, 'id' | 'approverId' | 'decision'>): ChangedApproval {
  return { id: serializeId(id), approverId: serializeId(approverId), decision };
}

/**
 * The fields on which the approvers decide, by the status of the ticket. During the work, the other texts and files
 * record what happened. Each added or deleted attachment changes `attachmentCount`.
 */
const materialFields: Partial<Record<TicketStatus, readonly (keyof Ticket)[]>> = (() => {
  const always = ['title', 'plannedStartAt', 'plannedEndAt', 'assetIds'] as const;
  const beforeWork = [...always, 'description', 'customFields', 'attachmentCount'] as const;
  return { OPEN: beforeWork, PENDING: beforeWork, IN_PROGRESS: always };
})();

/** Returns true if a change of a ticket invalidates the decisions of its approvers (docs/decisions/changes.md). */
function isMaterial(before: Ticket, after: Ticket): boolean {
  if (before.approvalStatus === 'NONE') return false;
  // A request can also change the status, and must not reopen the ticket with another content.
  const fields = [before, after].flatMap(({ status }) => materialFields[status] ?? []);
  return fields.some((field) => !isDeepStrictEqual(before[field], after[field]));
}

/** A change of a ticket that can reset its approvals. */
interface ResettingChange {
  after: Ticket;
  changes: Changes;
  /** Whether the approvers must decide again. */
  resetsApprovals?: boolean;
}

/**
 * Compares two versions of a ticket. If the change is material, `approvalStatus` is PENDING until `resetApprovals`
 * computes the final status. It must not be APPROVED, so that the policy rejects a request that also starts the work.
 */
export function compareTickets(before: Ticket, merged: Ticket): Required<ResettingChange> {
  const resetsApprovals = isMaterial(before, merged);
  const after = resetsApprovals ? { ...merged, approvalStatus: 'PENDING' as const } : merged;
  return { after, changes: diffFields(before, after), resetsApprovals };
}

/**
 * Sets the decisions APPROVED of the changes that reset approvals to PENDING. Keeps the decisions REJECTED with their
 * comments. Withdraws the other approvals of users who can't decide again, because they are inactive or have become a
 * REQUESTER. Sets a new version of each remaining approval. Returns all changes, with the changed approvals. The caller
 * must lock the tickets.
 */
export async function resetApprovals<Change extends ResettingChange>(
  { db, now }: Context,
  changes: readonly Change[],
): Promise<Change[]> {
  const ticketIds = changes.filter(({ resetsApprovals }) => resetsApprovals).map(({ after }) => after.id);
  const where = { ticketId: { in: ticketIds } };
  const rows = await db.approval.findMany({
    where,
    orderBy: { id: 'asc' },
    include: { approver: { select: { active: true, role: true } } },
  });
  const withdrawn = rows.filter((row) => !isKept(row)).map(({ id }) => id);
  if (withdrawn.length > 0) await db.approval.deleteMany({ where: { id: { in: withdrawn } } });
  const version = { updatedAt: now() };
  const data = { decision: 'PENDING', comment: null, decidedAt: null, ...version } as const;
  await db.approval.updateMany({ where: { ...where, decision: { not: 'REJECTED' } }, data });
  await db.approval.updateMany({ where: { ...where, decision: 'REJECTED' }, data: version });
  return changes.map((change) => {
    if (!change.resetsApprovals) return change;
    return addReset(
      change,
      rows.filter(({ ticketId }) => Number(ticketId) === change.after.id),
    );
  });
}

type DecidedBy = Approval & { approver: { active: boolean; role: UserRole } };

/** Returns true if a reset keeps the approval: a rejection, or an approval whose approver can decide again. */
function isKept({ decision, approver }: DecidedBy): boolean {
  return decision === 'REJECTED' || (approver.active && approver.role !== 'REQUESTER');
}

/** Adds the reset approvals to a change. @param approvals the approvals before the reset */
function addReset<Change extends ResettingChange>(change: Change, approvals: readonly DecidedBy[]): Change {
  const reset = (each: DecidedBy): DecidedBy =>
    each.decision === 'REJECTED' ? each : { ...each, decision: 'PENDING' };
  const approvalStatus = toApprovalStatus(approvals.filter(isKept).map(reset));
  const { approvalStatus: changed, ...others } = change.changes;
  const from = changed?.from ?? 'PENDING';
  const before = approvals.filter((each) => !isKept(each) || each.decision === 'APPROVED');
  const after = before.filter(isKept).map(reset).map(toChangedApproval);
  return {
    ...change,
    after: { ...change.after, approvalStatus },
    changes: {
      ...others,
      ...(from !== approvalStatus && { approvalStatus: { from, to: approvalStatus } }),
      ...(before.length > 0 && { approvals: { from: before.map(toChangedApproval), to: after } }),
    },
  };
}
