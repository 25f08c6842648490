import {
  type Approval,
  type ApprovalQuery,
  type Decision,
  maxApprovals,
  type NewApproval,
  type PageQuery,
  type TicketReference,
} from '@itsm-api/contract';
import type { Approval as ApprovalRow } from '../../../../generated/prisma/client.ts';
import { sql, tenant } from '../../../database/client/sql.ts';
import { oneAsJson } from '../../../database/client/statements.ts';
import { lockRow } from '../../../database/row-lock.ts';
import { ApiError, invalidField, requireRow } from '../../../shared/errors.ts';
import { requireMatch, withEtag } from '../../../shared/etag.ts';
import { serializeId, serializeTimestamp, serializeTimestamps } from '../../../shared/serialize.ts';
import { chunksOf } from '../../shared/chunks.ts';
import { type Context, type Transaction, transaction } from '../../shared/context.ts';
import { diffFields } from '../../shared/diff.ts';
import { anyOf, type Page, readPage, slicePage } from '../../shared/lists.ts';
import { resolveTicketId } from '../../shared/ticket-reference.ts';
import { toApprovalStatus, toChangedApproval } from '../approval-status.ts';
import { presentTicket } from '../presenter.ts';
import { getTicket } from '../queries.ts';
import { lockTicket, lockTickets, type TicketRow } from '../sql.ts';
import { type StoredChange, writeChanges } from '../ticket-update.ts';

/** The context of a request that a user makes, with an API key or in the developer area. */
type ApproverContext = Context & { userId: bigint };

/**
 * Returns a page of a ticket's approvals, newest first. Reads all of them, because a ticket has at most `maxApprovals`.
 * @throws ApiError NOT_FOUND if the ticket doesn't exist
 */
export async function listTicketApprovals(
  context: Context,
  reference: TicketReference,
  query: PageQuery,
): Promise<Page<Approval>> {
  const { id } = await getTicket(context, reference);
  const approvals = await context.db.approval.findMany({ where: { ticketId: id }, orderBy: { id: 'desc' } });
  return slicePage(query, approvals.map(presentApproval));
}

/** Returns a page of the approvals of all tickets, newest first. */
export function listApprovals(
  { db, userId }: ApproverContext,
  { approverId, decision, ...query }: ApprovalQuery,
): Promise<Page<Approval>> {
  const approverIds = approverId?.map((id) => (id === 'me' ? Number(userId) : id));
  const where = { ...anyOf('approverId', approverIds), ...anyOf('decision', decision) };
  return readPage(query, {
    count: () => db.approval.count({ where }),
    find: async (range) =>
      (await db.approval.findMany({ where, orderBy: { id: 'desc' }, ...range })).map(presentApproval),
  });
}

/** Returns one approval. @throws ApiError NOT_FOUND */
export async function getApproval(context: Context, id: number): Promise<Approval> {
  return presentApproval(await findApproval(context, id));
}

async function findApproval({ db }: Context, id: number): Promise<ApprovalRow> {
  return requireRow(await db.approval.findFirst({ where: { id } }), 'approval');
}

/**
 * Requests the approval of a change. Changes the ticket, and emits `ticket.updated` (docs/decisions/changes.md).
 * @throws ApiError NOT_FOUND if the ticket doesn't exist; INVALID_REFERENCE if the approver isn't an active ADMIN or
 * AGENT; VALIDATION_ERROR if the ticket isn't a CHANGE, if the user can't approve it, or if it has `maxApprovals`
 * approvals
 */
export function createApproval(
  context: ApproverContext,
  reference: TicketReference,
  { approverId, note = null }: NewApproval,
): Promise<Approval> {
  return transaction(context, async (context) => {
    const { db, now, userId } = context;
    const ticketId = await resolveTicketId(context, reference);
    // Locks the approver before the ticket, as a deactivation does. Otherwise, transactions could deadlock.
    await lockRow(db, 'users', approverId);
    const ticket = await lockTicket(context.db, ticketId);
    if (ticket.type !== 'CHANGE') {
      throw new ApiError('VALIDATION_ERROR', 'Only tickets of the type CHANGE have approvals. Choose another ticket.');
    }
    const before = await db.approval.findMany({ where: { ticketId } });
    await checkApprover(context, { approverId, ticket, before });
    const at = now();
    const data = { ticketId, approverId, createdById: userId, note, createdAt: at, updatedAt: at };
    const row = await db.approval.create({ data });
    await writeChanges(context, [toChange(ticket, [...before, row], { to: row })]);
    return presentApproval(row);
  });
}

/** Checks that a user can approve a locked ticket. @throws ApiError INVALID_REFERENCE, VALIDATION_ERROR */
async function checkApprover(
  context: ApproverContext,
  { approverId, ticket, before }: { approverId: number; ticket: TicketRow; before: readonly ApprovalRow[] },
): Promise<void> {
  if (!(await isApprover(context, approverId))) {
    throw invalidField('INVALID_REFERENCE', 'approverId', 'must be an active ADMIN or AGENT of this workspace');
  }
  const reject = (message: string) => invalidField('VALIDATION_ERROR', 'approverId', message);
  if (approverId === ticket.requesterId) throw reject('must not be the requester of the ticket');
  if (approverId === Number(context.userId)) throw reject('must not be the user who requests the approval');
  if (before.some((approval) => Number(approval.approverId) === approverId)) {
    throw reject('already has an approval of this ticket');
  }
  if (before.length >= maxApprovals) throw reject(`can't be added, because the ticket has ${maxApprovals} approvals`);
}

/** Returns true if a user can approve changes. */
async function isApprover({ db }: Context, id: number | bigint): Promise<boolean> {
  return (await db.user.count({ where: { id, active: true, role: { not: 'REQUESTER' } } })) > 0;
}

/**
 * Records the decision of an approver. Changes the ticket, and emits `ticket.updated`. Repeating the same decision with
 * the same comment changes nothing, with any `If-Match`.
 * @throws ApiError NOT_FOUND; PRECONDITION_FAILED; VALIDATION_ERROR if the user isn't the approver or can no longer
 * approve, or if the decision can't change to this one
 */
export function decide(
  context: ApproverContext,
  id: number,
  { decision, comment = null }: Decision,
): Promise<Approval> {
  return transaction(context, async (context) => {
    const { db, ifMatch, now, userId } = context;
    const { ticket, approval, others } = await lockApproval(context, id);
    if (approval.approverId !== userId) {
      throw new ApiError('VALIDATION_ERROR', 'Only the approver can decide. Use an API key of the approver.');
    }
    if (approval.decision === decision && approval.comment === comment) return presentApproval(approval);
    requireMatch(ifMatch, presentApproval(approval));
    assertCanBecome(approval, decision);
    if (!(await isApprover(context, userId))) {
      throw new ApiError(
        'VALIDATION_ERROR',
        `You can no longer approve changes, because you are a REQUESTER. ${askAdministrator}`,
      );
    }
    const data = { decision, comment, decidedAt: now(), updatedAt: now() };
    const decided = requireRow((await db.approval.updateManyAndReturn({ where: { id }, data }))[0], 'approval');
    await writeChanges(context, [toChange(ticket, [...others, decided], { from: approval, to: decided })]);
    return presentApproval(decided);
  });
}

const askAdministrator = 'Ask an administrator to withdraw this approval in the developer area.';

/** Checks that an approver can make a decision. REJECTED can become APPROVED. @throws ApiError VALIDATION_ERROR */
function assertCanBecome(approval: ApprovalRow, decision: Decision['decision']): void {
  if (approval.decision === 'PENDING' || (approval.decision === 'REJECTED' && decision === 'APPROVED')) return;
  const message =
    approval.decision === 'APPROVED'
      ? "is already APPROVED, and can't change"
      : 'is already REJECTED. Only APPROVED can replace it.';
  throw invalidField('VALIDATION_ERROR', 'decision', message);
}

/**
 * Withdraws a pending approval. Changes the ticket, and emits `ticket.updated`.
 * @throws ApiError NOT_FOUND; PRECONDITION_FAILED; VALIDATION_ERROR if the approver has decided, if the user is neither
 * the approver nor the user who requested the approval, or if that user sends the request after a decision
 */
export function deleteApproval(context: ApproverContext, id: number): Promise<Approval> {
  return transaction(context, async (context) => {
    const { ifMatch, userId } = context;
    const locked = await lockApproval(context, id);
    const { approval, ticket } = locked;
    if (approval.approverId !== userId && approval.createdById !== userId) {
      const allowed = 'Only its approver and the user who requested it can withdraw an approval';
      throw new ApiError('VALIDATION_ERROR', `${allowed}. Use an API key of one of them. ${orAdministrator}`);
    }
    requireMatch(ifMatch, presentApproval(approval));
    if (approval.decision !== 'PENDING') {
      const message = `This approval is ${approval.decision}. Only a PENDING approval can be withdrawn by a request.`;
      throw new ApiError('VALIDATION_ERROR', `${message} ${orAdministrator}`);
    }
    if (approval.approverId !== userId && (await hasDecision(context, ticket.id))) {
      const message =
        'An approver of this ticket has already decided, so only the approver can withdraw this approval.';
      throw new ApiError('VALIDATION_ERROR', `${message} ${orAdministrator}`);
    }
    return removeApproval(context, locked);
  });
}

/** Returns true if an approver has decided about a ticket. An edit resets decisions, but the activity keeps them. */
async function hasDecision({ db }: Context, ticketId: number): Promise<boolean> {
  return (await db.$sql(selectDecision, { ticketId })) !== undefined;
}

const selectDecision = oneAsJson<{ ticketId: number }, { id: number }>(
  ({ ticketId }) => sql`SELECT id FROM activities
    WHERE tenant_id = ${tenant} AND resource = 'TICKET' AND resource_id = ${ticketId}
      AND jsonb_path_exists(changes, '$.approvals.to[*].decision ? (@ != "PENDING")') LIMIT 1`,
);

const orAdministrator = 'Or ask an administrator to withdraw it in the developer area.';

/**
 * Withdraws any approval, also a decided one. Changes the ticket, and emits `ticket.updated`. The caller must check that
 * the user is an administrator.
 * @throws ApiError NOT_FOUND, PRECONDITION_FAILED
 */
export function withdrawApproval(context: Context, id: number): Promise<Approval> {
  return transaction(context, async (context) => {
    const locked = await lockApproval(context, id);
    requireMatch(context.ifMatch, presentApproval(locked.approval));
    return removeApproval(context, locked);
  });
}

async function removeApproval(context: Context & Transaction, { ticket, approval, others }: LockedApproval) {
  await context.db.approval.deleteMany({ where: { id: approval.id } });
  await writeChanges(context, [toChange(ticket, others, { from: approval })]);
  return presentApproval(approval);
}

/** The number of tickets that one statement changes. */
const ticketsPerBatch = 500;

/** Withdraws the pending approvals of a user who can no longer decide. The caller must lock the user. */
export function withdrawApprovals(context: Context, userId: number | bigint): Promise<void> {
  return transaction(context, async (context) => {
    const { db } = context;
    const where = { approverId: userId, decision: 'PENDING' as const };
    const found = await db.approval.findMany({ where, select: { ticketId: true }, orderBy: { ticketId: 'asc' } });
    for (const ticketIds of chunksOf(
      found.map(({ ticketId }) => serializeId(ticketId)),
      ticketsPerBatch,
    )) {
      const tickets = await lockTickets(db, ticketIds);
      const before = await db.approval.findMany({ where: { ticketId: { in: ticketIds } } });
      const isWithdrawn = ({ approverId, decision }: ApprovalRow) =>
        approverId === BigInt(userId) && decision === 'PENDING';
      await db.approval.deleteMany({ where: { ...where, ticketId: { in: ticketIds } } });
      const changes = tickets.flatMap((ticket) => {
        const ofTicket = before.filter(({ ticketId }) => Number(ticketId) === ticket.id);
        const from = ofTicket.find(isWithdrawn);
        const others = ofTicket.filter((approval) => approval !== from);
        return from === undefined ? [] : toChange(ticket, others, { from });
      });
      if (changes.length > 0) await writeChanges(context, changes);
    }
  });
}

/** An approval with its locked ticket, and the other approvals of the ticket. */
interface LockedApproval {
  ticket: TicketRow;
  approval: ApprovalRow;
  others: ApprovalRow[];
}

/** Locks the ticket of an approval, and reads the approval again, because an earlier transaction may have changed it. */
async function lockApproval(context: Context & Transaction, id: number): Promise<LockedApproval> {
  const { ticketId } = await findApproval(context, id);
  const ticket = await lockTicket(context.db, serializeId(ticketId));
  const approval = await findApproval(context, id);
  return { ticket, approval, others: await context.db.approval.findMany({ where: { ticketId, id: { not: id } } }) };
}

/**
 * Returns the change of a ticket by a new, decided or withdrawn approval.
 * @param approvals all approvals of the ticket after the change
 */
function toChange(
  row: TicketRow,
  approvals: readonly ApprovalRow[],
  { from, to }: { from?: ApprovalRow; to?: ApprovalRow },
): StoredChange {
  const before = presentTicket(row);
  const after = { ...before, approvalStatus: toApprovalStatus(approvals) };
  const listed = (approval: ApprovalRow | undefined) => (approval === undefined ? [] : [toChangedApproval(approval)]);
  const changes = { ...diffFields(before, after), approvals: { from: listed(from), to: listed(to) } };
  return { after, dueAtSet: row.dueAtSet, changes };
}

function presentApproval(row: ApprovalRow): Approval {
  return withEtag(row.version, {
    id: serializeId(row.id),
    ticketId: serializeId(row.ticketId),
    approverId: serializeId(row.approverId),
    createdById: serializeId(row.createdById),
    note: row.note,
    decision: row.decision,
    comment: row.comment,
    decidedAt: serializeTimestamp(row.decidedAt),
    ...serializeTimestamps(row),
  });
}
