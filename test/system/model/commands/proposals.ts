import { setTimeout as sleep } from 'node:timers/promises';
import type { Proposal, Ticket } from '@itsm-api/contract';
import fc from 'fast-check';
import { changesBetween, isSame } from '../resources/rows.ts';
import { changeTicket, type TicketPatch } from '../resources/tickets.ts';
import { accepted, conditionStep } from '../steps.ts';
import type { Turn } from '../turn.ts';
import { agrees } from '../values.ts';
import { isRejection, type KnownProposal, type Sent } from '../world.ts';
import { answered, paging, place, sending, valuesOf, words } from './arbitraries.ts';
import { kind } from './command.ts';
import { askForeign, askList } from './lists.ts';
import { patchBody, patchGiven } from './tickets.ts';

/** The fields that a preview does not contain. */
const hidden = ['resolvedAt', 'closedAt', 'firstRespondedAt', 'commentCount', 'linkCount', 'attachmentCount'];

/** Returns true if a preview shows exactly the differences between two states of a ticket. */
function isPreview(preview: KnownProposal['preview'], before: Ticket, after: Ticket, body: TicketPatch): boolean {
  const isShown = (name: string) => !hidden.includes(name) && (name !== 'dueAt' || 'dueAt' in body);
  const changes = Object.entries(changesBetween(before, after)).filter(([name]) => isShown(name));
  return preview.status === before.status && agrees(Object.fromEntries(changes), preview.changes);
}

/** Returns the references of an accepted request, which no right of an import key changes. */
function referencesOf({ references, workspace }: Turn) {
  return { ...references, hasChangePolicy: workspace.hasChangePolicy };
}

/** Takes a pending proposal, so that no other command decides about it. */
function take({ workspace: { proposals } }: Turn, place: number): KnownProposal | undefined {
  return proposals.splice(Math.floor(place * proposals.length), 1)[0];
}

/** Requests a proposal of another workspace. Only an existing proposal determines which scope the key needs. */
async function askForeignProposal(turn: Turn, operation: string): Promise<void> {
  if (turn.key.scopes.includes('tickets:write')) await askForeign(turn, operation, { id: turn.other.proposals[0]?.id });
}

/** Repeats a decision or a withdrawal until its outcome is known. Then, reads the proposal. */
async function endAndRead(turn: Turn, operation: string, { id }: KnownProposal, body?: object) {
  const ask = async (operation: string, body?: object) => {
    for (let attempt = 0; attempt < 300; attempt++) {
      const sent = await turn.ask(operation, { params: { id }, body });
      if (sent === undefined || sent.answer !== undefined) return sent;
      await sleep(100);
    }
    return undefined;
  };
  const begin = turn.world.next();
  const beganAt = Date.now();
  const sent = await ask(operation, body);
  if (sent?.answer === undefined) return undefined;
  const read = await ask('proposals.get');
  if (read?.answer === undefined) return undefined;
  const proposal = read.answer.body.data as Proposal;
  return { sent: { ...sent, begin, beganAt }, read, proposal };
}

export const proposals = {
  list: kind(
    2,
    fc.record({ ...paging, status: valuesOf(fc.constantFrom('PENDING', 'ACCEPTED', 'REJECTED', 'STALE')) }),
    async (turn, query) => {
      const sent = await askList(turn, 'proposals.list', query);
      if (sent?.answer === undefined) return;
      const { data = [] } = sent.answer.body as { data?: Proposal[] };
      const isRight =
        sent.answer.status === 200 && data.every((each) => query.status.some((status) => status === each.status));
      turn.world.expect(isRight, 'a list contains a proposal that does not match its filters', sent);
    },
  ),

  get: kind(2, fc.record({ place, isForeign: fc.nat(2) }), async (turn, { place, isForeign }) => {
    if (isForeign === 0) return askForeignProposal(turn, 'proposals.get');
    const { proposals } = turn.workspace;
    const known = proposals[Math.floor(place * proposals.length)];
    if (known === undefined) return;
    const sent = await turn.ask('proposals.get', { params: { id: known.id } });
    if (sent?.answer === undefined) return;
    const isRight = isSame(sent.answer.body?.data?.preview, [known.preview]);
    turn.world.expect(isRight, 'a proposal differs from the model', sent);
  }),

  create: kind(
    10,
    fc.record({ place, patch: patchGiven, reason: words, sending }),
    async (turn, { place, patch, reason, sending }) => {
      const { workspace, key, number } = turn;
      const id = workspace.tickets.pick(place);
      if (id === undefined || key.isImport) return;
      // Whether the server accepts these two fields depends on other tickets.
      const { parentId: _, externalId: __, ...body } = patchBody(turn, patch, `p${number}`);
      if (Object.keys(body).length === 0) return;
      const proposed = { operation: 'tickets_update', params: { id }, body, reason };
      const other = { ...proposed, reason: 'Another.' };
      const sent = await turn.ask('proposals.create', { body: proposed, sending: answered(sending), other });
      if (sent?.answer === undefined) return;
      const { data } = sent.answer.body as { data?: Proposal };
      const [preview] = data?.preview ?? [];
      const references = referencesOf(turn);
      const isRight = (row: Ticket) => {
        const outcome = changeTicket(row, body, references);
        if ('codes' in outcome) return isRejection(sent.answer, outcome.codes);
        return preview !== undefined && isPreview(preview, row, outcome.row, body);
      };
      workspace.tickets.of(id).steps.push(conditionStep<Ticket>(sent, isRight));
      if (data !== undefined && preview !== undefined) {
        workspace.proposals.push({ id: data.id, ticketId: id, body, preview, key });
      }
    },
  ),

  decide: kind(
    12,
    fc.record({
      place,
      decision: fc.constantFrom('ACCEPTED', 'ACCEPTED', 'ACCEPTED', 'REJECTED'),
      isTwice: fc.boolean(),
    }),
    async (turn, { place, decision, isTwice }) => {
      const { workspace, world, key } = turn;
      const known = take(turn, place);
      if (known === undefined) return;
      const { id, ticketId, body, preview } = known;
      const attempts = Array.from({ length: isTwice ? 2 : 1 }, () => {
        return endAndRead(turn, 'proposals.decide', known, { decision });
      });
      const ended = (await Promise.all(attempts)).filter((each) => each !== undefined);
      const [first] = ended.toSorted((a, b) => a.sent.end - b.sent.end);
      // The key had no scope.
      if (first === undefined) {
        workspace.proposals.push(known);
        return;
      }
      const { proposal, read } = first;
      const isLeft = !workspace.users.some((user) => user.id === known.key.userId && user.active);
      const statuses = decision === 'REJECTED' ? ['REJECTED'] : ['ACCEPTED', 'STALE'];
      const isRight = statuses.includes(proposal.status) || (isLeft && proposal.status === 'WITHDRAWN');
      world.expect(isRight, 'a decision about a proposal has another status', first.sent, read);
      const isSameStatus = ended.every((each) => each.proposal.status === proposal.status);
      world.expect(isSameStatus, 'two decisions differ', ...ended.map(({ sent }) => sent));
      if (decision === 'REJECTED' || proposal.status === 'WITHDRAWN') return;
      const sent: Sent = {
        ...first.sent,
        begin: Math.min(...ended.map(({ sent }) => sent.begin)),
        beganAt: Math.min(...ended.map(({ sent }) => sent.beganAt)),
      };
      const references = referencesOf(turn);
      const step = accepted<Ticket>(
        { sent, answer: read.answer },
        {
          // The user who accepts, and the key that proposed.
          actor: { userId: key.userId, keyId: known.key.id },
          change: (row) => changeTicket(row, body, references),
          isAsProposed: (before, after) => isPreview(preview, before, after, body),
        },
      );
      workspace.tickets.of(ticketId).steps.push(step);
      turn.world.expect(proposal.id === id, 'another proposal was returned', read);
    },
  ),

  delete: kind(4, fc.record({ place, isForeign: fc.nat(9) }), async (turn, { place, isForeign }) => {
    if (isForeign === 0) return askForeignProposal(turn, 'proposals.delete');
    const { workspace, world, key } = turn;
    const { proposals } = workspace;
    const own = proposals.findIndex((each) => key.line.some((id) => each.key.line.includes(id)));
    const isOwn = own !== -1 && place < 0.8;
    const known = isOwn ? proposals.splice(own, 1)[0] : take(turn, place);
    if (known === undefined) return;
    const ended = await endAndRead(turn, 'proposals.delete', known);
    if (ended === undefined) {
      proposals.push(known);
      return;
    }
    const isSameKey = key.line.some((id) => known.key.line.includes(id));
    const isRight = isSameKey
      ? ended.proposal.status === 'WITHDRAWN'
      : isRejection(ended.sent.answer, ['VALIDATION_ERROR']);
    world.expect(isRight, 'a withdrawal has another outcome', ended.sent, ended.read);
    if (!isSameKey && ended.proposal.status === 'PENDING') proposals.push(known);
  }),
};
