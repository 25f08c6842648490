import type { Approval, ApprovalStatus, Changes, Decision, Ticket } from '@itsm-api/contract';
import { unknownText } from '../values.ts';
import { anyOf, type ListQuery } from './lists.ts';
import { isSame, type Outcome } from './rows.ts';

/* Models the approvals of changes (docs/decisions/changes.md). */

/**
 * The name of the property of a ticket with its approvals, oldest first. It is a symbol, because comparisons with
 * responses ignore symbols.
 */
export const approvalsOf = Symbol('approvals');
/** The name of the property that is true after the first decision about a ticket, also if an edit has reset it. */
const hasDecision = Symbol('hasDecision');
export type WithApprovals = Ticket & { [approvalsOf]?: readonly Approval[]; [hasDecision]?: boolean };

/** The maximum number of approvals of a ticket. */
const maxApprovals = 20;

function toStatus(approvals: readonly Approval[]): ApprovalStatus {
  const decisions = approvals.map(({ decision }) => decision);
  if (decisions.includes('REJECTED')) return 'REJECTED';
  if (decisions.includes('PENDING')) return 'PENDING';
  return decisions.length > 0 ? 'APPROVED' : 'NONE';
}

function withApprovals(ticket: WithApprovals, approvals: readonly Approval[]): WithApprovals {
  const times = { etag: unknownText, updatedAt: unknownText };
  return { ...ticket, [approvalsOf]: approvals, approvalStatus: toStatus(approvals), ...times };
}

/** Values of an approval that each of its writes changes, and that the model learns from responses. */
const newVersion = { etag: unknownText, updatedAt: unknownText };

/**
 * Resets the approvals of a ticket if a request changes what the approvers decided on. Rejections stay.
 * @param isApprover whether a user is an active ADMIN or AGENT
 */
export function resetDecisions(
  before: WithApprovals,
  after: WithApprovals,
  isApprover: (id: number) => boolean,
): WithApprovals {
  const approvals = before[approvalsOf] ?? [];
  const statuses = [before.status, after.status];
  const isWaiting = statuses.includes('OPEN') || statuses.includes('PENDING');
  const isMaterial =
    ((isWaiting || statuses.includes('IN_PROGRESS')) &&
      (['title', 'plannedStartAt', 'plannedEndAt', 'assetIds'] as const).some(
        (field) => !isSame(before[field], after[field]),
      )) ||
    (isWaiting &&
      (['description', 'customFields', 'attachmentCount'] as const).some(
        (field) => !isSame(before[field], after[field]),
      ));
  if (approvals.length === 0 || !isMaterial) return after;
  const reset = approvals
    .filter(({ decision, approverId }) => decision === 'REJECTED' || isApprover(approverId))
    .map((each) =>
      each.decision === 'REJECTED'
        ? { ...each, ...newVersion }
        : { ...each, decision: 'PENDING' as const, comment: null, decidedAt: null, ...newVersion },
    );
  return { ...after, [approvalsOf]: reset, approvalStatus: toStatus(reset) };
}

/** Withdraws the pending approval of a user who is deactivated or becomes a REQUESTER. */
export function withdrawOfUser(ticket: WithApprovals, userId: number): ApprovalOutcome {
  const approvals = ticket[approvalsOf] ?? [];
  const others = approvals.filter(({ approverId, decision }) => approverId !== userId || decision !== 'PENDING');
  return { row: others.length < approvals.length ? withApprovals(ticket, others) : ticket };
}

/** Returns the changed approvals between two states of a ticket, in the format of activity and events. */
export function approvalChanges(before: WithApprovals, after: WithApprovals): Changes {
  const [from, to] = [before, after].map((row) =>
    (row[approvalsOf] ?? []).map(({ id, approverId, decision }) => ({ id, approverId, decision })),
  ) as [object[], object[]];
  const without = (some: object[], others: object[]) =>
    some.filter((each) => !others.some((other) => isSame(each, other)));
  const approvals = { from: without(from, to), to: without(to, from) };
  return approvals.from.length + approvals.to.length === 0 ? {} : { approvals };
}

/** A change of an approval: the new ticket, and the approval in the response. */
export type ApprovalOutcome = Outcome<WithApprovals> & { approval?: Approval };

/** Adds an approval to a ticket. @param isApprover whether the approver is an active ADMIN or AGENT */
export function addApproval(ticket: WithApprovals, approval: Approval, isApprover: boolean): ApprovalOutcome {
  const approvals = ticket[approvalsOf] ?? [];
  const { approverId, createdById } = approval;
  const isInvalid =
    ticket.type !== 'CHANGE' ||
    [ticket.requesterId, createdById, ...approvals.map((each) => each.approverId)].includes(approverId) ||
    approvals.length >= maxApprovals;
  const codes = [
    ...(isInvalid ? (['VALIDATION_ERROR'] as const) : []),
    ...(isApprover ? [] : (['INVALID_REFERENCE'] as const)),
  ];
  return codes.length > 0 ? { codes } : { row: withApprovals(ticket, [...approvals, approval]), approval };
}

/** Decides about a ticket. @param by `isApprover` is true if the user is an active ADMIN or AGENT */
export function decideApproval(
  ticket: WithApprovals,
  id: number,
  { decision, comment = null, userId, isApprover }: Decision & { userId: number; isApprover: boolean },
): ApprovalOutcome {
  const approvals = ticket[approvalsOf] ?? [];
  const before = approvals.find((each) => each.id === id);
  if (before === undefined) return { codes: ['NOT_FOUND'] };
  if (before.approverId !== userId) return { codes: ['VALIDATION_ERROR'] };
  if (before.decision === decision && before.comment === comment) return { row: ticket, approval: before };
  const isReplaced = before.decision === 'REJECTED' && decision === 'APPROVED';
  if ((before.decision !== 'PENDING' && !isReplaced) || !isApprover) return { codes: ['VALIDATION_ERROR'] };
  const approval = { ...before, decision, comment, decidedAt: unknownText, ...newVersion };
  const after = approvals.map((each) => (each === before ? approval : each));
  return { row: { ...withApprovals(ticket, after), [hasDecision]: true }, approval };
}

/**
 * Withdraws a pending approval for its approver, or for the user who requested it if no approver has decided.
 * Administrators can also withdraw decided approvals, in the developer area.
 */
export function removeApproval(ticket: WithApprovals, id: number, userId: number | 'administrator'): ApprovalOutcome {
  const approvals = ticket[approvalsOf] ?? [];
  const approval = approvals.find((each) => each.id === id);
  if (approval === undefined) return { codes: ['NOT_FOUND'] };
  const isUndecided = ticket[hasDecision] !== true;
  const isAllowed = approval.approverId === userId || (approval.createdById === userId && isUndecided);
  if (userId !== 'administrator' && (approval.decision !== 'PENDING' || !isAllowed)) {
    return { codes: ['VALIDATION_ERROR'] };
  }
  const others = approvals.filter((each) => each !== approval);
  return { row: withApprovals(ticket, others), approval };
}

/** Returns true if an approval matches a list query. @param me the id of the API key's user */
export function matchesApprovalQuery({ approverId, decision }: Approval, query: ListQuery, me: number): boolean {
  const approverIds = (query.approverId as (number | string)[] | undefined)?.map((each) => (each === 'me' ? me : each));
  return anyOf(approverIds, approverId) && anyOf(query.decision, decision);
}
