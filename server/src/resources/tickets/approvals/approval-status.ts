import type { ApprovalDecision, ApprovalStatus, ChangedApproval, Changes, Ticket } from '@itsm-api/contract';
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
 * Sets all decisions of the changes that reset approvals to PENDING. Withdraws the approvals of inactive users, because
 * they can't decide again. Returns all changes, with the changed approvals. The caller must lock the tickets.
 */
export async function resetApprovals<Change extends ResettingChange>(
  { db }: Context,
  changes: readonly Change[],
): Promise<Change[]> {
  const ticketIds = changes.filter(({ resetsApprovals }) => resetsApprovals).map(({ after }) => after.id);
  const rows = await db.approval.findMany({
    where: { ticketId: { in: ticketIds } },
    orderBy: { id: 'asc' },
    include: { approver: { select: { active: true } } },
  });
  const withdrawn = rows.filter(({ approver }) => !approver.active).map(({ id }) => id);
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

/** Adds the reset approvals to a change. @param approvals the approvals before the reset */
function addReset<Change extends ResettingChange>(
  change: Change,
  approvals: readonly (Approval & { approver: { active: boolean } })[],
): Change {
  const kept = approvals.filter(({ approver }) => approver.active);
  const pending = kept.map((approval) => ({ ...approval, decision: 'PENDING' as const }));
  const approvalStatus = toApprovalStatus(pending);
  const { approvalStatus: changed, ...others } = change.changes;
  const from = changed?.from ?? 'PENDING';
  const isDecided = ({ id }: Approval) => approvals.find((each) => each.id === id)?.decision !== 'PENDING';
  const before = approvals.filter((each) => !each.approver.active || isDecided(each));
  return {
    ...change,
    after: { ...change.after, approvalStatus },
    changes: {
      ...others,
      ...(from !== approvalStatus && { approvalStatus: { from, to: approvalStatus } }),
      ...(before.length > 0 && {
        approvals: { from: before.map(toChangedApproval), to: pending.filter(isDecided).map(toChangedApproval) },
      }),
    },
  };
}
