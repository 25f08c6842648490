import { setTimeout as sleep } from 'node:timers/promises';
import { type Proposal, type ProposalPreview, ProposalStatus, type Ticket } from '@itsm-api/contract';
import fc from 'fast-check';
import { changeAsset } from '../resources/assets.ts';
import { changesBetween, isSame, type Outcome } from '../resources/rows.ts';
import { changeTask } from '../resources/tasks.ts';
import { changeTicket, type NewTicket, newTicket } from '../resources/tickets.ts';
import type { References } from '../resources/users.ts';
import type { Answer } from '../send.ts';
import { accepted, conditionStep, made } from '../steps.ts';
import type { PostMode, RequestOptions, Turn } from '../turn.ts';
import { agrees } from '../values.ts';
import { isRejection, type KnownProposal, type Sent, type Workspace } from '../world.ts';
import { answered, paging, place, sending, valuesOf, words } from './arbitraries.ts';
import { assetPatch, assetPatchGiven } from './assets.ts';
import { kind } from './command.ts';
import { askForeign, askList } from './lists.ts';
import { taskPatchGiven, withAssignee } from './tasks.ts';
import { newBody, newTicketGiven, patchBody, patchGiven } from './tickets.ts';

/** The fields that a preview does not contain. */
const hidden = new Set([
  ...['id', 'ticketNumber', 'etag', 'createdAt', 'updatedAt', 'resolvedAt', 'closedAt', 'completedAt'],
  ...['firstResponseDueAt', 'firstRespondedAt', 'redactedAt', 'commentCount', 'linkCount', 'attachmentCount'],
]);

type ProposedRequest = Pick<KnownProposal, 'operation' | 'params' | 'body'>;

/**
 * Returns true if a preview shows exactly the differences between two states of a row.
 * @param before the row before the request, or undefined for a new row
 */
function isPreview(
  { preview, body }: { preview: ProposalPreview | undefined; body: object },
  before: object | undefined,
  after: object,
): boolean {
  const isShown = (name: string) => !hidden.has(name) && (name !== 'dueAt' || 'dueAt' in body);
  const hasValue = (value: unknown) =>
    value !== null && (typeof value !== 'object' || Object.keys(value as object).length > 0);
  const ofNewRow = () => Object.entries(after).map(([name, to]) => [name, { from: null, to }] as const);
  const changes = before === undefined ? ofNewRow() : Object.entries(changesBetween(before, after));
  const shown = changes.filter(([name, { to }]) => isShown(name) && (before !== undefined || hasValue(to)));
  const { status = null } = (before ?? {}) as { status?: string };
  return preview?.status === status && agrees(Object.fromEntries(shown), preview.changes);
}

/** Returns the references of an accepted request, which no right of an import key changes. */
function referencesOf({ references, workspace }: Turn) {
  return { ...references, hasChangePolicy: workspace.hasChangePolicy };
}

interface Change {
  history(workspace: Workspace, params: Record<string, number>): { steps: object[] };
  change(row: object, body: object, references: References): Outcome<object>;
}

/** The proposed changes of rows: the history of the row, and the effect on the row. */
const changes: Record<string, Change> = {
  tickets_update: { history: ({ tickets }, { id = 0 }) => tickets.of(id), change: changeTicket as Change['change'] },
  assets_update: { history: ({ assets }, { id = 0 }) => assets.of(id), change: changeAsset as Change['change'] },
  tasks_update: { history: ({ tasks }, { taskId = 0 }) => tasks.of(taskId), change: changeTask as Change['change'] },
};

const sendingGiven = { reason: words, sending };

/** Proposes a request. If the server stores the proposal, later commands decide about it. */
async function propose(
  turn: Turn,
  request: ProposedRequest,
  { reason, sending }: { reason: string; sending: PostMode },
): Promise<void> {
  const { workspace, world, key } = turn;
  const { operation, params, body } = request;
  const proposed = { operation, ...(operation in changes && { params }), body, reason };
  const other = { ...proposed, reason: 'Another.' };
  const sent = await turn.ask('proposals.create', { body: proposed, sending: answered(sending), other });
  if (sent?.answer === undefined) return;
  const { answer } = sent;
  const { data } = answer.body as { data?: Proposal };
  const [preview] = data?.preview ?? [];
  const isRight = (before: object | undefined, outcome: Outcome<object>) => {
    if ('codes' in outcome) return isRejection(answer, outcome.codes);
    return isPreview({ preview, body }, before, outcome.row);
  };
  const references = referencesOf(turn);
  const { history, change } = changes[operation] ?? {};
  if (history && change) {
    const step = conditionStep<object>(sent, (row) => isRight(row, change(row, body, references)));
    history(workspace, params).steps.push(step);
  } else {
    const isExpected = isRight(undefined, newTicket(body as NewTicket, { key, references }));
    world.expect(isExpected, 'a proposal of a new ticket differs from the model', sent);
  }
  if (data && preview) workspace.proposals.push({ ...request, id: data.id, preview, key });
}

/** Records an acceptance. The response contains the proposal, which is ACCEPTED or STALE. */
async function noteAcceptance(turn: Turn, known: KnownProposal, sent: Sent, answer: Answer): Promise<void> {
  const { workspace, world } = turn;
  const { operation, params, body, key } = known;
  const references = referencesOf(turn);
  // The user who accepts, and the key that proposed.
  const actor = { userId: turn.key.userId, keyId: key.id };
  const { history, change } = changes[operation] ?? {};
  if (history && change) {
    const isAsProposed = (before: object, after: object) => isPreview(known, before, after);
    const step = accepted<object>(
      { sent, answer },
      { actor, change: (row) => change(row, body, references), isAsProposed },
    );
    history(workspace, params).steps.push(step);
    return;
  }
  const outcome = newTicket(body as NewTicket, { key, references });
  const isAsProposed = 'row' in outcome && isPreview(known, undefined, outcome.row);
  const { status, createdId } = answer.body.data as Proposal;
  world.expect(status === (isAsProposed ? 'ACCEPTED' : 'STALE'), 'a new ticket has another outcome', sent);
  if (!isAsProposed || createdId === null) return;
  // No other command changes the ticket before the model knows it.
  const read = await askUntilAnswered(turn, 'tickets.get', { params: { id: createdId } });
  const step = made<Ticket>({ sent, answer: read?.answer }, { row: outcome.row, actor, id: createdId });
  workspace.tickets.of(createdId).steps.push(step);
  workspace.tickets.know(createdId);
}

/** Takes a pending proposal, so that no other command decides about it. */
function take({ workspace: { proposals } }: Turn, place: number): KnownProposal | undefined {
  return proposals.splice(Math.floor(place * proposals.length), 1)[0];
}

/** Requests a proposal of another workspace. Only an existing proposal determines which scope the key needs. */
async function askForeignProposal(turn: Turn, operation: string): Promise<void> {
  if (turn.key.scopes.includes('tickets:write')) await askForeign(turn, operation, { id: turn.other.proposals[0]?.id });
}

/** Repeats a request until its outcome is known. */
async function askUntilAnswered(turn: Turn, operation: string, options: RequestOptions): Promise<Sent | undefined> {
  for (let attempt = 0; attempt < 300; attempt++) {
    const sent = await turn.ask(operation, options);
    if (sent === undefined || sent.answer !== undefined) return sent;
    await sleep(100);
  }
  return undefined;
}

/** Repeats a decision or a withdrawal until its outcome is known. Then, reads the proposal. */
async function endAndRead(turn: Turn, operation: string, { id }: KnownProposal, body?: object) {
  const begin = turn.world.next();
  const beganAt = Date.now();
  const sent = await askUntilAnswered(turn, operation, { params: { id }, body });
  if (sent?.answer === undefined) return undefined;
  const read = await askUntilAnswered(turn, 'proposals.get', { params: { id } });
  if (read?.answer === undefined) return undefined;
  const { answer } = read;
  return { sent: { ...sent, begin, beganAt }, read: { ...read, answer }, proposal: answer.body.data as Proposal };
}

export const proposals = {
  list: kind(
    2,
    fc.record({ ...paging, status: valuesOf(fc.constantFrom(...ProposalStatus.options)) }),
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
    fc.record({ place, patch: patchGiven, ...sendingGiven }),
    async (turn, { place, patch, ...given }) => {
      const id = turn.workspace.tickets.pick(place);
      if (id === undefined || turn.key.isImport) return;
      // Whether the server accepts these two fields depends on other tickets.
      const { parentId: _, externalId: __, ...body } = patchBody(turn, patch, `p${turn.number}`);
      if (Object.keys(body).length === 0) return;
      await propose(turn, { operation: 'tickets_update', params: { id }, body }, given);
    },
  ),

  createForAsset: kind(
    4,
    fc.record({ place, patch: assetPatchGiven, ...sendingGiven }),
    async (turn, { place, patch, ...given }) => {
      const id = turn.workspace.assets.pick(place);
      if (id === undefined || turn.key.isImport) return;
      // Whether the server accepts an external id depends on other assets.
      const { externalId: _, ...body } = assetPatch(turn, patch);
      if (Object.keys(body).length === 0) return;
      await propose(turn, { operation: 'assets_update', params: { id }, body }, given);
    },
  ),

  createForTask: kind(
    4,
    fc.record({ place, patch: taskPatchGiven, ...sendingGiven }),
    async (turn, { place, patch, ...given }) => {
      const taskId = turn.workspace.tasks.pick(place);
      if (taskId === undefined) return;
      const body = withAssignee(turn, patch);
      await propose(turn, { operation: 'tasks_update', params: { taskId }, body }, given);
    },
  ),

  createForNewTicket: kind(
    6,
    fc.record({ ticket: newTicketGiven, ...sendingGiven }),
    async (turn, { ticket, ...given }) => {
      if (turn.key.isImport) return;
      const { parentId: _, externalId: __, ...body } = newBody(turn, ticket, `c${turn.number}`);
      await propose(turn, { operation: 'tickets_create', params: {}, body }, given);
    },
  ),

  decide: kind(
    16,
    fc.record({
      place,
      decision: fc.constantFrom('ACCEPTED', 'ACCEPTED', 'ACCEPTED', 'REJECTED'),
      isTwice: fc.boolean(),
      expiry: fc.constantFrom('none', 'none', 'none', 'none', 'before', 'concurrent'),
    }),
    async (turn, { place, decision, isTwice, expiry }) => {
      const { workspace, world, servers } = turn;
      const known = take(turn, place);
      if (known === undefined) return;
      const expiring = expiry === 'none' ? undefined : servers.expireProposal(workspace, known.id);
      const hasExpired = expiry === 'before' && (await expiring);
      const attempts = Array.from({ length: isTwice ? 2 : 1 }, () => {
        return endAndRead(turn, 'proposals.decide', known, { decision });
      });
      const ended = (await Promise.all(attempts)).filter((each) => each !== undefined);
      await expiring;
      const [first] = ended.toSorted((a, b) => a.sent.end - b.sent.end);
      if (first === undefined) {
        // The key had no scope.
        if (expiring === undefined) workspace.proposals.push(known);
        return;
      }
      const { proposal, read } = first;
      const isLeft = !workspace.users.some((user) => user.id === known.key.userId && user.active);
      const decided = hasExpired ? [] : decision === 'REJECTED' ? ['REJECTED'] : ['ACCEPTED', 'STALE'];
      const statuses = [...decided, ...(expiring ? ['EXPIRED'] : []), ...(isLeft ? ['WITHDRAWN'] : [])];
      world.expect(
        statuses.includes(proposal.status),
        'a decision about a proposal has another status',
        first.sent,
        read,
      );
      const isSameStatus = ended.every((each) => each.proposal.status === proposal.status);
      world.expect(isSameStatus, 'two decisions differ', ...ended.map(({ sent }) => sent));
      if (!['ACCEPTED', 'STALE'].includes(proposal.status)) return;
      const sent: Sent = {
        ...first.sent,
        begin: Math.min(...ended.map(({ sent }) => sent.begin)),
        beganAt: Math.min(...ended.map(({ sent }) => sent.beganAt)),
      };
      await noteAcceptance(turn, known, sent, read.answer);
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
