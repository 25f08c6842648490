import type { Approval, Decision, Ticket } from '@itsm-api/contract';
import fc from 'fast-check';
import {
  type ApprovalOutcome,
  addApproval,
  approvalsOf,
  decideApproval,
  matchesApprovalQuery,
  removeApproval,
  type WithApprovals,
} from '../resources/approvals.ts';
import type { Answer } from '../send.ts';
import { approved, conditionStep, listed } from '../steps.ts';
import type { Turn } from '../turn.ts';
import { agrees, unknownId, unknownText } from '../values.ts';
import { isRejection, type Key, type Sent } from '../world.ts';
import {
  answered,
  missingId,
  paging,
  place,
  seldom,
  sending,
  type UserRef,
  user,
  userId,
  valuesOf,
  words,
} from './arbitraries.ts';
import { kind } from './command.ts';
import { askForeign, askList } from './lists.ts';

const decision = fc.constantFrom('APPROVED' as const, 'APPROVED' as const, 'REJECTED' as const);

/** Records the result of a request that changed an approval of a ticket. */
function noteApproval(turn: Turn, sent: Sent, ticketId: number, change: (row: WithApprovals) => ApprovalOutcome): void {
  const reported = { sent, answer: sent.answer };
  turn.workspace.tickets.of(ticketId).steps.push(approved(reported, { actor: turn.actor, change }) as never);
}

/** Returns an approval that a response contained, most often the newest. It may be withdrawn. */
function pick({ workspace: { approvals } }: Turn, place: number) {
  return approvals.at(-1 - Math.floor(place ** 2 * approvals.length));
}

/** Returns an approval whose approver is the user of the key. */
function pickOwn({ workspace: { approvals }, key: { userId } }: Turn, place: number) {
  const own = approvals.filter(({ approverId }) => approverId === userId);
  return own.at(-1 - Math.floor(place ** 2 * own.length));
}

/** The number of changes that commands reference, so that their approvals get several decisions. */
const maxChanges = 40;

/** Selects one of the first changes. Other tickets have no approvals. */
function pickChange({ workspace: { changes } }: Turn, place: number): number | undefined {
  return changes[Math.floor(place * Math.min(changes.length, maxChanges))];
}

/** Selects a user. Most of them can approve, and half of them have an API key with which they can decide. */
function pickApprover(turn: Turn, { kind, place }: UserRef): number {
  const withKey = turn.workspace.members.filter(({ userId }) => userId !== turn.key.userId);
  if (kind === 'active' && place < 0.5) return withKey[Math.floor(2 * place * withKey.length)]?.userId ?? missingId;
  const approvers = turn.workspace.users.filter(({ id }) => turn.references.isApprover(id));
  if (kind === 'active') return approvers[Math.floor(place * approvers.length)]?.id ?? missingId;
  return userId(turn, { kind, place }) ?? missingId;
}

export const approvals = {
  ofTicket: kind(3, fc.record({ place, ...paging }), async (turn, { place, ...query }) => {
    const id = pickChange(turn, place);
    if (id === undefined) return;
    const sent = await askList(turn, 'approvals.ofTicket', query, { id });
    if (sent?.answer !== undefined) turn.workspace.tickets.of(id).steps.push(listed(sent, 'approvals', query));
  }),

  list: kind(
    3,
    fc.record({
      ...paging,
      approverId: seldom(fc.constant(['me'])),
      decision: seldom(valuesOf(fc.constantFrom('PENDING', 'APPROVED', 'REJECTED'))),
    }),
    async (turn, query) => {
      const sent = await askList(turn, 'approvals.list', query);
      if (sent?.answer === undefined) return;
      turn.world.expect(sent.answer.status === 200, 'a list of approvals was rejected', sent);
      for (const approval of (sent.answer.body.data ?? []) as Approval[]) {
        const isMatch = matchesApprovalQuery(approval, query, turn.key.userId);
        turn.world.expect(isMatch, 'a list contains an approval that does not match its filters', sent);
        const isCurrent = (row: Ticket) =>
          ((row as WithApprovals)[approvalsOf] ?? []).some((each) => agrees(each, approval));
        turn.workspace.tickets.of(approval.ticketId).steps.push(conditionStep<Ticket>(sent, isCurrent));
      }
    },
  ),

  get: kind(4, fc.record({ place, isForeign: fc.nat(9) }), async (turn, { place, isForeign }) => {
    if (isForeign === 0) return askForeign(turn, 'approvals.get', { id: turn.other.approvals[0]?.id });
    const known = pick(turn, place);
    if (known === undefined) return;
    const sent = await turn.ask('approvals.get', { params: { id: known.id } });
    if (sent?.answer === undefined) return;
    const isRight = (row: Ticket, answer: Answer) => {
      const approval = ((row as WithApprovals)[approvalsOf] ?? []).find(({ id }) => id === known.id);
      if (approval === undefined) return isRejection(answer, ['NOT_FOUND'], 404);
      return answer.status === 200 && agrees(approval, answer.body.data);
    };
    turn.workspace.tickets.of(known.ticketId).steps.push(conditionStep<Ticket>(sent, isRight));
  }),

  create: kind(
    10,
    fc.record({ place, user, note: fc.option(words), sending, isForeign: fc.nat(29), isChange: fc.nat(9) }),
    async (turn, { place, user, note, sending, isForeign, isChange }) => {
      const { workspace, key } = turn;
      const body = { approverId: pickApprover(turn, user), note };
      if (isForeign === 0) return askForeign(turn, 'approvals.create', { id: turn.other.tickets.pick(place), body });
      const id = isChange === 0 ? workspace.tickets.pick(place) : pickChange(turn, place);
      if (id === undefined) return;
      const sent = await turn.ask('approvals.create', {
        params: { id },
        body,
        sending: answered(sending),
        other: { ...body, note: 'Another.' },
      });
      if (sent === undefined) return;
      const made = (sent.answer?.body?.data ?? {}) as Partial<Approval>;
      const { id: approvalId = unknownId, createdAt = unknownText, updatedAt = unknownText, etag = unknownText } = made;
      if (approvalId !== unknownId)
        workspace.approvals.push({ id: approvalId, ticketId: id, approverId: body.approverId });
      const approval: Approval = {
        ...{ id: approvalId, ticketId: id, approverId: body.approverId, createdById: key.userId, note },
        ...{ decision: 'PENDING', comment: null, decidedAt: null, createdAt },
        ...{ updatedAt, etag },
      };
      const canApprove = turn.references.isApprover(body.approverId);
      noteApproval(turn, sent, id, (row) => addApproval(row, approval, canApprove));
    },
  ),

  decide: kind(
    24,
    fc.record({ place, decision, comment: seldom(words), isForeign: fc.nat(29), isOwn: fc.boolean() }),
    async (turn, { place, decision, comment, isForeign, isOwn }) => {
      const body: Decision = { decision, comment };
      if (isForeign === 0) return askForeign(turn, 'approvals.decide', { id: turn.other.approvals[0]?.id, body });
      const known = isOwn ? pickOwn(turn, place) : pick(turn, place);
      if (known === undefined) return;
      const sent = await turn.ask('approvals.decide', { params: { id: known.id }, body });
      if (sent === undefined) return;
      const { userId } = turn.key;
      const by = { ...body, userId, isApprover: turn.references.isApprover(userId) };
      noteApproval(turn, sent, known.ticketId, (row) => {
        const outcome = decideApproval(row, known.id, by);
        // A repeated decision changes nothing.
        if ('row' in outcome && outcome.row === row) return outcome;
        return withVersion(outcome, (sent.answer?.body?.data ?? {}) as Partial<Approval>);
      });
    },
  ),

  delete: kind(10, fc.record({ place }), async (turn, { place }) => {
    const known = pick(turn, place);
    if (known === undefined) return;
    const sent = await turn.ask('approvals.delete', { params: { id: known.id } });
    if (sent === undefined) return;
    noteApproval(turn, sent, known.ticketId, (row) => removeApproval(row, known.id, turn.key.userId));
  }),

  /** Withdraws an approval as an administrator in the developer area, which isn't an operation of the contract. */
  withdraw: kind(3, fc.record({ place }), async (turn, { place }) => {
    const { world, workspace, servers } = turn;
    const known = pick(turn, place);
    if (known === undefined) return;
    const [begin, beganAt] = [world.next(), Date.now()];
    const result = await servers.withdrawApproval(workspace, known.id);
    const body = result === 'NOT_FOUND' ? { error: { code: result } } : {};
    const answer = result && { status: result === 'done' ? 200 : 404, headers: {}, body };
    const request = { method: 'withdraw', path: `/approvals/${known.id}` };
    const sent: Sent = { request, begin, end: world.next(), beganAt, endedAt: Date.now(), answer };
    const [{ id, userId }] = workspace.members as [Key];
    const change = (row: WithApprovals) => {
      const outcome = removeApproval(row, known.id, 'administrator');
      return 'row' in outcome ? { row: outcome.row } : outcome;
    };
    workspace.tickets
      .of(known.ticketId)
      .steps.push(approved({ sent, answer }, { actor: { userId, keyId: id }, change }) as never);
  }),
};

/** Replaces the unknown times and the unknown ETag of a decision with the values in the response. */
function withVersion(outcome: ApprovalOutcome, { id, decidedAt, updatedAt, etag }: Partial<Approval>): ApprovalOutcome {
  if ('codes' in outcome || outcome.approval?.etag !== unknownText || etag === undefined) return outcome;
  const version = { decidedAt: decidedAt as string, updatedAt: updatedAt as string, etag };
  const approvals = (outcome.row[approvalsOf] ?? []).map((each) => (each.id === id ? { ...each, ...version } : each));
  return { row: { ...outcome.row, [approvalsOf]: approvals }, approval: { ...outcome.approval, ...version } };
}
