import type { ApprovalDecision, ApprovalStatus, ChangedApproval, Changes, Ticket, UserRole } from '@itsm-api/contract';
import type { Approval } from '../../../../generated/prisma/client.ts';
import { serializeId } from '../../../shared/serialize.ts';
import type { Context } from '../../shared/context.ts';

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

/** A change of a ticket that can reset its approvals. */
interface ResettingChange {
  after: Ticket;
  changes: Changes;
  resetsApprovals?: boolean;
}

/**
 * Sets all decisions of the changes that reset approvals to PENDING. Withdraws the approvals of users who can't decide
 * again, because they are inactive or have become a REQUESTER. Returns all changes, with the changed approvals. The
 * caller must lock the tickets.
 */
export async function resetApprovals<Change extends ResettingChange>(
  { db }: Context,
  changes: readonly Change[],
): Promise<Change[]> {
  const ticketIds = changes.filter(({ resetsApprovals }) => resetsApprovals).map(({ after }) => after.id);
  const rows = await db.approval.findMany({
    where: { ticketId: { in: ticketIds } },
    orderBy: { id: 'asc' },
    include: { approver: { select: { active: true, role: true } } },
  });
  const withdrawn = rows.filter((row) => !canDecide(row)).map(({ id }) => id);
  if (withdrawn.length > 0) await db.approval.deleteMany({ where: { id: { in: withdrawn } } });
  await db.approval.updateMany({
    where: { ticketId: { in: ticketIds }, decision: { not: 'PENDING' } },
    data: { decision: 'PENDING', comment: null, decidedAt: null },
  });
  return changes.map((change) => {
    if (!change.resetsApprovals) return change;
    return addReset(
      change,
      rows.filter(({ ticketId }) => Number(ticketId) === change.after.id),
    );
  });
}

type DecidedBy = Approval & { approver: { active: boolean; role: UserRole } };

/** Returns true if the approver can decide again. */
function canDecide({ approver }: DecidedBy): boolean {
  return approver.active && approver.role !== 'REQUESTER';
}

/** Adds the reset approvals to a change. @param approvals the approvals before the reset */
function addReset<Change extends ResettingChange>(change: Change, approvals: readonly DecidedBy[]): Change {
  const approvalStatus = approvals.some(canDecide) ? 'PENDING' : 'NONE';
  const { approvalStatus: changed, ...others } = change.changes;
  const from = changed?.from ?? 'PENDING';
  const before = approvals.filter((each) => !canDecide(each) || each.decision !== 'PENDING');
  const after = before.filter(canDecide).map((each) => toChangedApproval({ ...each, decision: 'PENDING' }));
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
