import type { NewComment, Ticket } from '@itsm-api/contract';
import fc from 'fast-check';
import { addComments, newComment } from '../resources/comments.ts';
import type { ImportFields } from '../resources/imports.ts';
import type { ListQuery } from '../resources/lists.ts';
import {
  changeTicket,
  isTicketIn,
  type NewTicket,
  newTicket,
  prefixes,
  type TicketPatch,
} from '../resources/tickets.ts';
import type { Answer } from '../send.ts';
import { changed, conditionalReadStep, itemOf, made, type RowResponse, readStep } from '../steps.ts';
import type { PostMode, Turn } from '../turn.ts';
import { unknownId, unknownText } from '../values.ts';
import { isRejection, type Table } from '../world.ts';
import {
  answered,
  anyUser,
  customFields,
  externalId,
  importFields,
  missingId,
  normalizedTag,
  paging,
  place,
  priority,
  question,
  seldom,
  sending,
  some,
  tagChanges,
  tags,
  teamId,
  type UserRef,
  user,
  userId,
  valuesOf,
  words,
} from './arbitraries.ts';
import { type Kind, kind } from './command.ts';
import { commentBody, commentGiven, noteTakenComment } from './comments.ts';
import { askForeign, askList, noteList } from './lists.ts';

const status = fc.constantFrom('OPEN', 'IN_PROGRESS', 'PENDING', 'RESOLVED', 'CLOSED', 'CANCELLED');
const type = fc.constantFrom('INCIDENT', 'PROBLEM', 'CHANGE', 'SERVICE_REQUEST');
const category = fc.constantFrom('SOFTWARE', 'HARDWARE', 'NETWORK', 'ACCESS', 'EMAIL', 'OTHER');
const padding = fc.constantFrom('', '', ' ', '\t');
const [first, second, third] = ['2020-01-01T00:00:00.000Z', '2025-01-01T00:00:00.000Z', '2030-01-01T00:00:00.000Z'];
/** Planned windows. The last ones are invalid for every ticket. */
const planned = fc.constantFrom<Pick<TicketPatch, 'plannedStartAt' | 'plannedEndAt'>>(
  { plannedStartAt: first, plannedEndAt: second },
  { plannedStartAt: second, plannedEndAt: third },
  { plannedStartAt: first, plannedEndAt: third },
  { plannedStartAt: null, plannedEndAt: null },
  { plannedStartAt: third, plannedEndAt: first },
);
/** Changes of one time. They are valid if the ticket has a matching window. */
const plannedChange = fc.constantFrom<Pick<TicketPatch, 'plannedStartAt' | 'plannedEndAt'>>(
  { plannedStartAt: null },
  { plannedEndAt: null },
  { plannedStartAt: first },
  { plannedStartAt: second },
  { plannedEndAt: third },
);
const dueAt = fc.constantFrom('2020-01-01T00:00:00.000Z', '2030-01-01T00:00:00.000Z', null);
/** The ids of an active, a refining, an inactive and an unknown ticket category, as `system.ts` creates them. */
const categoryConfigId = fc.constantFrom('cat-1', 'cat-1', 'cat-2', 'cat-2', 'cat-3', 'cat-4');
const parent = fc.record({ kind: fc.constantFrom('known', 'known', 'known', 'none', 'foreign'), place });
export const assets = fc.array(
  fc.record({ kind: fc.oneof({ weight: 19, arbitrary: fc.constant('known') }, fc.constant('foreign')), place }),
  { maxLength: 3 },
);

const [created, resolved, closed] = [
  '2019-03-01T08:00:00.000Z',
  '2019-03-02T08:00:00.000Z',
  '2020-03-05T08:00:00.000Z',
];
/** The status and the times of imported tickets. The last ones are invalid. */
const histories = [
  {},
  { status: 'PENDING', createdAt: created },
  { status: 'CANCELLED' },
  { status: 'RESOLVED' },
  { status: 'RESOLVED', createdAt: created, resolvedAt: resolved },
  { status: 'CLOSED', createdAt: created },
  { status: 'CLOSED', createdAt: created, closedAt: closed },
  { status: 'CLOSED', createdAt: created, resolvedAt: resolved, closedAt: closed },
  { createdAt: '2999-01-01T00:00:00.000Z' },
  { status: 'CLOSED', closedAt: closed },
  { status: 'CLOSED', createdAt: resolved, resolvedAt: created },
  { status: 'OPEN', createdAt: created, resolvedAt: resolved },
] as const satisfies ImportFields[];

/** The arguments of a command that creates a ticket. The arguments reference rows by position. */
export const newTicketGiven = fc.record(
  {
    title: fc.tuple(words, padding),
    description: words,
    type,
    category,
    categoryConfigId,
    priority,
    assignee: user,
    team: user,
    requester: user,
    watchers: fc.array(user, { maxLength: 4 }),
    assets,
    parent,
    externalId: seldom(externalId),
    tags,
    customFields,
    dueAt,
    planned,
    imported: fc.record({ history: fc.constantFrom(...histories), assignee: anyUser, requester: anyUser }),
  },
  { requiredKeys: ['title', 'description', 'type', 'category', 'imported'], noNullPrototype: true },
);
type NewTicketInput = typeof newTicketGiven extends fc.Arbitrary<infer Input> ? Input : never;

export const patchGiven = some({
  title: fc.tuple(words, padding),
  description: words,
  status,
  priority,
  category: fc.option(category, { freq: 8 }),
  categoryConfigId: fc.option(categoryConfigId),
  assignee: user,
  team: user,
  watchers: fc.array(user, { maxLength: 4 }),
  assets,
  parent,
  externalId: fc.option(externalId),
  tagChanges,
  customFields,
  resolution: fc.option(words),
  dueAt,
  planned: fc.oneof(planned, plannedChange),
});
type PatchInput = typeof patchGiven extends fc.Arbitrary<infer Input> ? Input : never;

const queryGiven = fc.record({
  ...paging,
  status: valuesOf(status),
  priority: valuesOf(priority),
  type: valuesOf(type),
  category: valuesOf(category),
  assignees: valuesOf(fc.oneof(fc.constantFrom('me' as const, 'none' as const), user)),
  teams: valuesOf(user),
  // The values can contain commas, so `searchOf` can send only one.
  categoryConfigId: categoryConfigId.map((id) => [id]),
  formKey: valuesOf(fc.constantFrom('laptop', 'outage', 'retired')),
  requesters: valuesOf(user),
  watchers: valuesOf(user),
  concerned: valuesOf(place),
  tag: valuesOf(normalizedTag),
  parents: valuesOf(place),
  created: seldom(fc.tuple(fc.constantFrom('createdSince', 'createdBefore'), place)),
  externalId: valuesOf(externalId),
  approvalStatus: valuesOf(fc.constantFrom('NONE', 'PENDING', 'APPROVED', 'REJECTED')),
  due: seldom(
    fc.constantFrom(
      { dueSince: '2025-01-01T00:00:00.000Z' },
      { dueBefore: '2030-01-01T00:00:00.000Z' },
      { overdue: true },
      { firstResponseOverdue: true },
      { plannedSince: '2025-01-01T00:00:00.000Z' },
      { plannedBefore: '2025-01-01T00:00:00.000Z' },
      { plannedSince: '2019-01-01T00:00:00.000Z', plannedBefore: '2030-01-01T00:00:00.000Z' },
    ),
  ),
  q: question,
  sort: fc.constantFrom(undefined, 'id', '-id'),
  /** The indexes of the filters that the request uses. If requests used all filters, most lists would be empty. */
  kept: fc.uniqueArray(fc.nat(15), { maxLength: 3 }),
});
type QueryInput = typeof queryGiven extends fc.Arbitrary<infer Input> ? Input : never;

interface RowRef {
  kind: string;
  place: number;
}

/** Returns the id of the referenced ticket or asset, or null if there is none. */
function rowId({ workspace, other }: Turn, table: 'tickets' | 'assets', { kind, place }: RowRef): number | null {
  if (kind === 'none') return null;
  return (kind === 'foreign' ? other : workspace)[table].pick(place) ?? null;
}

/** Returns the fields of the request body that reference other rows. */
export function toReferences(turn: Turn, given: References) {
  return {
    ...(given.assignee && { assigneeId: userId(turn, given.assignee) }),
    ...(given.team && { teamId: teamId(turn, given.team) }),
    ...(given.watchers && {
      watcherUserIds: given.watchers.map((each) => userId(turn, each)).filter((id) => id !== null),
    }),
    ...(given.assets && {
      assetIds: given.assets.map((each) => rowId(turn, 'assets', each)).filter((id) => id !== null),
    }),
    ...(given.parent && { parentId: rowId(turn, 'tickets', given.parent) }),
  };
}

interface References {
  assignee?: UserRef;
  team?: UserRef;
  watchers?: UserRef[];
  assets?: RowRef[];
  parent?: RowRef;
}

export function newBody(turn: Turn, given: NewTicketInput, marker: string): NewTicket {
  const { title, assignee, team, requester, watchers, assets, parent, planned, imported, ...fields } = given;
  const { assignee: importedAssignee, requester: importedRequester, history } = imported;
  return {
    ...(fields as NewTicket),
    title: `${title[1]}${marker} ${title[0]}${title[1]}`,
    ...toReferences(turn, given),
    // Other types can't have a window.
    ...(fields.type === 'CHANGE' && planned),
    ...(requester && { requesterId: userId(turn, requester) }),
    ...importFields(turn, {
      ...history,
      assigneeId: userId(turn, importedAssignee),
      requesterId: userId(turn, importedRequester),
    }),
  };
}

export function patchBody(turn: Turn, given: PatchInput, marker: string): TicketPatch {
  const { title, assignee, team, watchers, assets, parent, tagChanges, planned, ...fields } = given;
  return {
    ...(fields as TicketPatch),
    ...tagChanges,
    ...planned,
    ...(title && { title: `${title[1]}${marker} ${title[0]}${title[1]}` }),
    ...toReferences(turn, given),
  };
}

/** Returns the query parameters of a ticket list, with references converted to row ids. */
export function ticketQuery(turn: Turn, given: QueryInput): ListQuery {
  const {
    page,
    perPage,
    sort,
    kept,
    assignees,
    teams,
    requesters,
    watchers,
    concerned,
    parents,
    created,
    due,
    ...others
  } = given;
  const ids = (users: UserRef[] | undefined) => users?.map((each) => userId(turn, each) ?? missingId);
  const { tickets, assets } = turn.workspace;
  const moment = created && tickets.of(tickets.pick(created[1]) ?? missingId).state?.row.createdAt;
  const filters: Record<string, unknown> = {
    ...others,
    assigneeId: assignees?.map((each) => (typeof each === 'string' ? each : (userId(turn, each) ?? 'none'))),
    teamId: teams.map((each) => teamId(turn, each) ?? 'none'),
    requesterId: ids(requesters),
    watcherUserId: ids(watchers),
    assetId: concerned.map((each) => assets.pick(each) ?? missingId),
    parentId: parents?.map((each) => tickets.pick(each) ?? missingId),
    ...due,
    ...(moment !== undefined && moment !== '(unknownText)' && { [created?.[0] ?? '']: moment }),
  };
  const names = Object.keys(filters);
  const chosen = names.filter(
    (name) => kept.some((each) => names[each] === name) || /^(created|due|overdue|firstResponse|planned)/.test(name),
  );
  return { page, perPage, ...(sort && { sort }), ...Object.fromEntries(chosen.map((name) => [name, filters[name]])) };
}
export { queryGiven as ticketQueryGiven };

/**
 * Records the result of creating a ticket with a single request, with a bulk request, or with a form.
 * @param formKey the key of the form, whose requests get no exceptions for import keys
 */
export function noteNew(
  turn: Turn,
  reported: RowResponse,
  body: NewTicketItem,
  { marker, formKey = null }: { marker: string; formKey?: string | null },
): void {
  const { world, workspace, actor, references } = turn;
  const key = formKey === null ? turn.key : { ...turn.key, isImport: false };
  const { sent, answer } = reported;
  const { comments = [] } = body;
  const outcome = newTicket(body, { key, references, formKey });
  const ticket = answer?.body?.data as Ticket | undefined;
  const ofComments = comments.map((comment) => newComment(ticket?.id ?? unknownId, comment, turn));
  const codes = [outcome, ...ofComments].flatMap((each) => ('codes' in each ? each.codes : []));
  const externalIds = comments.flatMap(({ externalId }) => externalId ?? []);
  if (new Set(externalIds).size < externalIds.length) codes.push('VALIDATION_ERROR');
  const byPath = Object.fromEntries(comments.map((comment, index) => [`comments.${index}.externalId`, comment]));
  if (codes.length > 0 || 'codes' in outcome) {
    // The server can report a taken external id before the other faults.
    const isTaken = noteTaken(workspace.tickets, reported, body) || noteTakenComment(turn, answer, byPath);
    const isRight = answer === undefined || isRejection(answer, codes) || isTaken;
    world.expect(isRight, `an invalid ticket was not rejected: ${marker}`, sent);
    return;
  }
  if (noteTaken(workspace.tickets, reported, body) || noteTakenComment(turn, answer, byPath)) return;
  // The response contains the creation time, which is the earliest time of a first response.
  const { createdAt } = outcome.row.createdAt === unknownText && ticket !== undefined ? ticket : outcome.row;
  const rows = ofComments.flatMap((each) => ('row' in each ? { expected: each.row, reported: each.row } : []));
  const added = addComments({ ...outcome.row, createdAt }, rows, workspace.users);
  const row = added.at(-1)?.after ?? outcome.row;
  if (answer === undefined) {
    const step = (id: number) => ({ ...made(reported, { row, actor, id, added }), isCertain: true });
    // The server rejects a ticket whose external id another ticket has.
    const request = body.externalId == null ? turn.number : undefined;
    workspace.tickets.creations.push({ marker, request, step });
    return;
  }
  const isMade = answer.status === 201 && ticket?.ticketNumber.startsWith(`${prefixes[body.type]}-`) === true;
  world.expect(isMade, `a ticket was not created: ${marker}`, sent);
  if (ticket === undefined) return;
  workspace.tickets.of(ticket.id).steps.push(made(reported, { row, actor, id: ticket.id, added }));
  workspace.tickets.know(ticket.id);
  if (ticket.type === 'CHANGE') workspace.changes.push(ticket.id);
  noteParent(turn, ticket.id, ticket.parentId);
}

/**
 * If a request was rejected because a ticket or an asset has the external id, records that this row has it, and returns
 * true. The error contains the id of the row.
 */
export function noteTaken<Row extends { id: number }>(
  table: Table<Row>,
  { sent, answer }: RowResponse,
  { externalId }: { externalId?: string | null | undefined },
): boolean {
  if (externalId == null || !isRejection(answer, ['EXTERNAL_ID_EXISTS'])) return false;
  const { path, id } = answer?.body.error.details[0] ?? {};
  if (path !== 'externalId') return false;
  table.of(id).steps.push(readStep(sent, { externalId }));
  return true;
}

function noteParent({ workspace: { parents } }: Turn, id: number, parentId: number | null | undefined): void {
  if (parentId == null) return;
  parents.set(id, (parents.get(id) ?? new Set()).add(parentId));
}

/** Records the result of a ticket update. */
function notePatch(
  turn: Turn,
  reported: RowResponse,
  { id, body, ifMatch }: { id: number; body: TicketPatch; ifMatch?: string | undefined },
): void {
  const { workspace, references, actor } = turn;
  const parentsBefore = workspace.parents;
  noteParent(turn, id, body.parentId);
  const isTaken = noteTaken(workspace.tickets, reported, body);
  const step = changed<Ticket>(reported, {
    actor,
    ifMatch,
    change: (row) => changeTicket(row, body, references),
    mayBeRejected: (answer) =>
      isTaken ||
      (isRejection(answer, ['VALIDATION_ERROR']) && body.parentId != null && isAbove(parentsBefore, body.parentId, id)),
  });
  workspace.tickets.of(id).steps.push(step);
  noteTag(workspace.tickets.of(id), reported.answer);
}

/**
 * Returns true if the ticket `to` is the ticket `from` or may be one of its ancestors. Considers all possible parents
 * of each ticket.
 */
function isAbove(parents: ReadonlyMap<number, ReadonlySet<number>>, from: number, to: number): boolean {
  const seen = new Set<number>();
  const ways = [from];
  for (let id = ways.pop(); id !== undefined; id = ways.pop()) {
    if (id === to) return true;
    if (seen.has(id)) continue;
    seen.add(id);
    ways.push(...(parents.get(id) ?? []));
  }
  return false;
}

/** Adds the ETag of a response to the recent ETags of a row. */
export function noteTag(row: { tags: string[] }, answer: Answer | undefined): void {
  const tag = answer?.body?.data?.etag;
  if (typeof tag === 'string' && !row.tags.includes(tag)) row.tags = [...row.tags.slice(-3), tag];
}

const newItemGiven = fc.record({
  ticket: newTicketGiven,
  comments: seldom(fc.array(commentGiven, { minLength: 1, maxLength: 3 })),
});
type NewTicketItem = NewTicket & { comments?: NewComment[] | undefined };

const withTag = fc.option(fc.nat(2), { nil: undefined, freq: 3 });
const itemGiven = fc.record({ place, patch: patchGiven, tag: withTag });
type ItemInput = typeof itemGiven extends fc.Arbitrary<infer Input> ? Input : never;

/** Returns a recent ETag of a row, or undefined if there is none. `which` counts from the newest ETag. */
export function tagOf({ tags }: { tags: string[] }, which: number | undefined): string | undefined {
  return which === undefined ? undefined : tags[tags.length - 1 - which];
}

/** Returns the id or the number of a ticket. Request paths accept either. */
function referenceOf({ workspace }: Turn, id: number, byNumber: boolean): number | string {
  const number = workspace.tickets.of(id).state?.row.ticketNumber;
  return byNumber && number?.includes('-') ? number : id;
}

async function create(turn: Turn, { given, sending }: { given: NewTicketInput; sending: PostMode }): Promise<void> {
  const marker = `c${turn.number}`;
  const body = newBody(turn, given, marker);
  const other = { ...body, description: 'Another.' };
  const sent = await turn.ask('tickets.create', { body, sending, other });
  if (sent !== undefined) noteNew(turn, { sent, answer: sent.answer }, body, { marker });
}

export const tickets: Record<string, Kind> & Record<'update', Kind> = {
  list: kind(14, queryGiven, async (turn, given) => {
    const query = ticketQuery(turn, given);
    const sent = await askList(turn, 'tickets.list', query);
    const me = turn.key.userId;
    noteList(turn, turn.workspace.tickets, sent, { query, isIn: (row, sent) => isTicketIn(row, query, me, sent) });
  }),

  get: kind(
    16,
    fc.record({ place, byNumber: fc.boolean(), tag: withTag, isForeign: fc.nat(19) }),
    async (turn, { place, byNumber, tag, isForeign }) => {
      if (isForeign === 0) return askForeign(turn, 'tickets.get', { id: turn.other.tickets.pick(place) });
      const { tickets } = turn.workspace;
      const id = tickets.pick(place);
      if (id === undefined) return;
      const etag = tagOf(tickets.of(id), tag);
      const params = { id: referenceOf(turn, id, byNumber) };
      const sent = await turn.ask('tickets.get', { params, ...(etag && { headers: { 'if-none-match': etag } }) });
      if (sent?.answer === undefined) return;
      noteTag(tickets.of(id), sent.answer);
      if (etag !== undefined) tickets.of(id).steps.push(conditionalReadStep(sent, etag));
      else {
        turn.world.expect(sent.answer.status === 200, 'a ticket was not found', sent);
        if (sent.answer.status === 200) tickets.of(id).steps.push(readStep(sent, sent.answer.body.data));
      }
    },
  ),

  create: kind(14, fc.record({ given: newTicketGiven, sending }), create),

  update: kind(
    26,
    fc.record({ place, patch: patchGiven, byNumber: fc.boolean(), tag: withTag, isForeign: fc.nat(29) }),
    async (turn, { place, patch, byNumber, tag, isForeign }) => {
      const body = patchBody(turn, patch, `p${turn.number}`);
      if (isForeign === 0) {
        return askForeign(turn, 'tickets.update', { id: turn.other.tickets.pick(place), body: { priority: 'HIGH' } });
      }
      const id = turn.workspace.tickets.pick(place);
      if (id === undefined) return;
      const ifMatch = tagOf(turn.workspace.tickets.of(id), tag);
      const sent = await turn.ask('tickets.update', {
        params: { id: referenceOf(turn, id, byNumber) },
        body,
        ...(ifMatch && { headers: { 'if-match': ifMatch } }),
      });
      if (sent !== undefined) notePatch(turn, { sent, answer: sent.answer }, { id, body, ifMatch });
    },
  ),

  /** Pauses or continues one of the first tickets, so that some of them are paused several times. */
  pause: kind(
    20,
    fc.record({ place, patch: fc.record({ status: fc.constantFrom('PENDING', 'IN_PROGRESS') }) }),
    (turn, { place, patch }) => tickets.update.run(turn, { place: place * 0.3, patch, byNumber: false, isForeign: 1 }),
  ),

  createMany: kind(
    3,
    fc.record({ many: fc.array(newItemGiven, { minLength: 1, maxLength: 20, size: 'max' }), sending }),
    async (turn, { many, sending }) => {
      const markers = many.map((_, index) => `c${turn.number}.${index}`);
      const bodies = many.map(({ ticket, comments }, index): NewTicketItem => {
        const marker = markers[index] as string;
        return {
          ...newBody(turn, ticket, marker),
          comments: comments?.map((comment, number) => commentBody(turn, comment, `${marker}.${number}`)),
        };
      });
      const mode = bodies.every(({ comments }) => comments === undefined) ? sending : answered(sending);
      const other = { tickets: [...bodies.slice(1), { ...bodies[0], description: 'Another.' }] };
      const sent = await turn.ask('tickets.createMany', { body: { tickets: bodies }, sending: mode, other });
      if (sent === undefined) return;
      for (const [index, body] of bodies.entries()) {
        const marker = markers[index] as string;
        noteNew(turn, { sent, answer: sent.answer && itemOf(sent.answer, index) }, body, { marker });
      }
    },
  ),

  updateMany: kind(4, fc.array(itemGiven, { minLength: 1, maxLength: 6 }), async (turn, many) => {
    const { tickets } = turn.workspace;
    const byId = new Map(many.map((item) => [tickets.pick(item.place), item]));
    byId.delete(undefined);
    const items = [...(byId as Map<number, ItemInput>)].map(([id, { patch, tag }], index) => {
      return { id, ifMatch: tagOf(tickets.of(id), tag), body: patchBody(turn, patch, `p${turn.number}.${index}`) };
    });
    if (items.length === 0) return;
    const body = { tickets: items.map(({ id, ifMatch, body }) => ({ id, ifMatch, ...body })) };
    const sent = await turn.ask('tickets.updateMany', { body });
    if (sent === undefined) return;
    for (const [index, item] of items.entries()) {
      notePatch(turn, { sent, answer: sent.answer && itemOf(sent.answer, index) }, item);
    }
  }),
};
