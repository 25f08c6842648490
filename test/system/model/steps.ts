import type { Actor, Attachment, Comment, ErrorCode, EventComment, Link } from '@itsm-api/contract';
import type { Step } from './linearize.ts';
import {
  type ApprovalOutcome,
  approvalChanges,
  approvalsOf,
  resetDecisions,
  type WithApprovals,
} from './resources/approvals.ts';
import { settleDates } from './resources/business-hours.ts';
import type { Added } from './resources/comments.ts';
import { anyOf } from './resources/lists.ts';
import { changesBetween, keptChanges, type Mutation, type Outcome, type State } from './resources/rows.ts';
import type { Answer } from './send.ts';
import { agrees, unknownId, unknownText } from './values.ts';
import { answerText, isRejection, requestText, type Sent } from './world.ts';

/* Models each request as a step in the history of a row. The step describes the effect of the request on the row. */

/** The response for one row: the response to a single request, or one item of a bulk response. */
export interface RowResponse {
  sent: Sent;
  /** The response, or the item of a bulk response. Undefined if the outcome is unknown. */
  answer: Answer | undefined;
}

/** Converts an item of a bulk response to the format of a single response. */
export function itemOf(answer: Answer, index: number): Answer {
  const item = answer.body?.data?.[index];
  return { status: item?.status ?? answer.status, headers: {}, body: item ?? answer.body };
}

type Explained<Row> = Pick<Step<State<Row>>, 'after' | 'isRead'>;

function step<Row>({ sent, answer }: RowResponse, { isRead, after }: Explained<Row>): Step<State<Row>> {
  const { request, begin, end } = sent;
  const isCertain = answer !== undefined;
  return {
    describe: () => `${requestText(request)}\n    ${answerText(answer)}`,
    begin,
    end: isCertain ? end : Number.POSITIVE_INFINITY,
    isCertain,
    isRead,
    after,
  };
}

/**
 * Returns the step for a request that reads a row.
 * @param reported the values of the row in the response
 */
export function readStep<Row extends object>(sent: Sent, reported: object): Step<State<Row>> {
  return {
    ...step<Row>(
      { sent, answer: sent.answer },
      { isRead: true, after: (state) => (state === undefined ? undefined : applyReported(state, reported)) },
    ),
    describe: () => `${requestText(sent.request)}\n    ${JSON.stringify(reported)}`,
  };
}

/**
 * Adds the values of a response to a state. Returns undefined if the values contradict the state.
 * @param isOwn true if the response is that of the last change
 */
function applyReported<Row extends object>(state: State<Row>, reported: object, isOwn = false): State<Row> | undefined {
  const { etag } = reported as { etag?: string };
  if (etag !== undefined && !canHaveETag(state, etag)) return undefined;
  const names = Object.keys(reported) as (keyof Row)[];
  const ofState = Object.fromEntries(names.map((name) => [name, state.row[name]]));
  if (!agrees(ofState, reported)) return undefined;
  const row = settleDates({ ...state.row, ...reported }, isOwn);
  return row && { ...state, row };
}

/** Returns the ETag of a state. The ETag is unknown until a response contains it. */
function etagOf({ row }: State<unknown>): string {
  return (row as { etag?: string }).etag ?? unknownText;
}

/** Returns true if the ETag can be the ETag of the state. */
function canHaveETag(state: State<unknown>, tag: string): boolean {
  const { formerTags } = state;
  const etag = etagOf(state);
  return etag === unknownText ? !formerTags.includes(tag) : etag === tag;
}

/** The maximum number of earlier ETags to store per row. Commands use fewer. */
const maxFormerTags = 10;

/** Returns the former ETags of a row after a change. */
function formerTagsAfter(state: State<unknown>): readonly string[] {
  const { formerTags } = state;
  const etag = etagOf(state);
  return etag === unknownText ? formerTags : [...formerTags, etag].slice(-maxFormerTags);
}

/**
 * Returns the step for a GET request with If-None-Match. The response must be 304 if the ETag matches, and must not be
 * 304 otherwise.
 */
export function conditionalReadStep<Row extends object>(sent: Sent, tag: string): Step<State<Row>> {
  const { answer } = sent;
  if (answer?.status === 200) {
    const reading = readStep<Row>(sent, answer.body.data);
    return { ...reading, after: (state) => (state && etagOf(state) === tag ? undefined : reading.after(state)) };
  }
  return step<Row>(
    { sent, answer },
    {
      isRead: true,
      after: (state) => {
        if (state === undefined || answer?.status !== 304) return undefined;
        return canHaveETag(state, tag) ? { ...state, row: { ...state.row, etag: tag } } : undefined;
      },
    },
  );
}

interface Creation<Row> {
  row: Row;
  actor: Actor;
  /** The id of the row, from the response or from a later list that contains the row. */
  id: number;
  select?: Selector;
  /** The comments that the request creates together with a ticket. The row contains their effects. */
  added?: readonly Added[];
}

/** Selects the row from a response. */
type Selector = (data: never) => object;

/** Returns the row values from a response. */
function parseReported(answer: Answer, select: Selector = (data: object) => data): object {
  return select(answer.body.data as never);
}

/** Returns the step for a request that creates a row. */
export function made<Row extends object>(
  reported: RowResponse,
  { row, actor, id, select, added = [] }: Creation<Row>,
): Step<State<Row>> {
  const { sent, answer } = reported;
  return step<Row>(reported, {
    isRead: false,
    after: (state) => {
      if (state !== undefined) return undefined;
      const begun: State<Row> = {
        row: { ...row, id },
        formerTags: [],
        mutations: [],
        comments: [],
        links: [],
        attachments: [],
      };
      const done = answer === undefined ? begun : applyReported(begun, parseReported(answer, select), true);
      if (done === undefined || (answer !== undefined && !hasRequestTimes(done.row, sent))) return undefined;
      const created: Mutation<Row> = { action: 'CREATED', actor, changes: {}, after: done.row, ...placeOf(sent) };
      const comments = added.map((each) => commentedBy({ actor, sent }, { ...each, after: done.row }));
      return {
        ...done,
        comments: added.map(({ comment }) => comment),
        mutations: [created, ...comments.map((each) => ({ ...each, isSilent: true }))],
      };
    },
  });
}

interface Changing<Row> {
  actor: Actor;
  /** The value of the If-Match header, which must equal the ETag of the row. */
  ifMatch?: string | undefined;
  change(row: Row): Outcome<Row>;
  /** Returns true if the server may reject the request for a reason that doesn't depend on the row. */
  mayBeRejected?(answer: Answer): boolean;
  select?: Selector;
}

/** Returns the step for a request that depends on a row but doesn't change it. The response must match the row. */
export function conditionStep<Row>(sent: Sent, isRight: (row: Row, answer: Answer) => boolean): Step<State<Row>> {
  const { answer } = sent;
  const after = (state: State<Row> | undefined) =>
    state !== undefined && answer !== undefined && isRight(state.row, answer) ? state : undefined;
  return step<Row>({ sent, answer }, { isRead: true, after });
}

/** Returns the step for a request that updates a row. */
export function changed<Row extends object>(reported: RowResponse, changing: Changing<Row>): Step<State<Row>> {
  const { sent, answer } = reported;
  const { actor, ifMatch, change, mayBeRejected, select } = changing;
  return step<Row>(reported, {
    isRead: answer !== undefined && answer.status >= 400,
    after: (state) => {
      if (state === undefined) return undefined;
      if (answer?.status === 412) {
        return ifMatch !== undefined && ifMatch !== etagOf(state) ? state : undefined;
      }
      if (ifMatch !== undefined && !canHaveETag(state, ifMatch)) {
        return answer === undefined ? state : undefined;
      }
      const outcome = change(state.row);
      if ('codes' in outcome) {
        const isRight =
          answer === undefined || outcome.codes.some((code) => isRejection(answer, [code], statusOf(code)));
        return isRight ? state : undefined;
      }
      if (answer !== undefined && answer.status !== 200) return mayBeRejected?.(answer) ? state : undefined;
      const isChanged = outcome.row !== state.row;
      const after = { ...state, row: outcome.row, ...(isChanged && { formerTags: formerTagsAfter(state) }) };
      const data = answer && parseReported(answer, select);
      const done = data === undefined ? after : applyReported(after, data, isChanged);
      if (done === undefined || !isChanged) return done;
      if (data !== undefined && !hasRequestTimes(done.row, sent)) return undefined;
      // Some values, such as the resolution time, are unknown until a response contains them. A value that becomes
      // known isn't a change by this request.
      const between = {
        ...changesBetween(state.row, after.row),
        ...approvalChanges(state.row as never, after.row as never),
      };
      const changed = Object.entries(between);
      const changes = Object.fromEntries(
        changed
          .map(([name, { from, to }]) => [name, { from, to: done.row[name as keyof Row] ?? to }] as const)
          .filter(([, { from, to }]) => from !== to),
      );
      const mutation: Mutation<Row> = { action: 'UPDATED', actor, changes, after: done.row, ...placeOf(sent) };
      return { ...done, mutations: [...state.mutations, mutation] };
    },
  });
}

interface Accepting<Row> {
  actor: Actor;
  change(row: Row): Outcome<Row>;
  /** Returns true if the request changes a row exactly as the proposal shows. */
  isAsProposed(before: Row, after: Row): boolean;
}

/**
 * Returns the step for a request that accepts a proposal, which runs the proposed request only if it changes the row as
 * the proposal shows. The response contains the proposal.
 */
export function accepted<Row extends object>(
  reported: RowResponse,
  { actor, change, isAsProposed }: Accepting<Row>,
): Step<State<Row>> {
  const { sent, answer } = reported;
  const isRun = answer?.body?.data?.status === 'ACCEPTED';
  return step<Row>(reported, {
    isRead: answer !== undefined && !isRun,
    after: (state) => {
      if (state === undefined) return undefined;
      const outcome = change(state.row);
      const mayRun = 'row' in outcome && isAsProposed(state.row, outcome.row);
      if (answer !== undefined && mayRun !== isRun) return undefined;
      if (!mayRun || outcome.row === state.row) return state;
      const { row } = outcome;
      const changes = { ...changesBetween(state.row, row), ...approvalChanges(state.row as never, row as never) };
      const mutation: Mutation<Row> = { action: 'UPDATED', actor, changes, after: row, ...placeOf(sent) };
      return { ...state, row, formerTags: formerTagsAfter(state), mutations: [...state.mutations, mutation] };
    },
  });
}

const statusOf = (code: string) => (code === 'NOT_FOUND' ? 404 : 400);

/** Returns the change of a ticket by a new comment. */
function commentedBy<Row>(
  { actor, sent }: { actor: Actor; sent: Sent },
  { comment: { id, authorId, body, visibility, createdAt }, changes, after }: Added<Row>,
): Mutation<Row> {
  const comment: EventComment = { id, authorId, body, visibility, createdAt };
  return { action: 'COMMENTED', actor, changes, comment, after, ...placeOf(sent) };
}

interface Commenting<Row> {
  actor: Actor;
  /** The new comments, in order, with their responses. */
  comments: readonly { expected: Comment; answer: Answer | undefined }[];
  /** Returns the effects of the comments on a ticket. */
  add(row: Row, comments: { expected: Comment; reported: Comment }[]): Added<Row>[];
}

/**
 * Returns the step for new comments. The comments change the ticket, but the response contains only the comments.
 */
export function commented<Row extends object>(sent: Sent, { actor, comments, add }: Commenting<Row>): Step<State<Row>> {
  return step<Row>(
    { sent, answer: sent.answer },
    {
      isRead: false,
      after: (state) => {
        if (state === undefined) return undefined;
        const isRight = comments.every(
          ({ expected, answer }) =>
            answer === undefined || (answer.status === 201 && agrees(expected, answer.body.data)),
        );
        if (!isRight) return undefined;
        const added = add(
          state.row,
          comments.map(({ expected, answer }) => ({ expected, reported: answer?.body.data ?? expected })),
        );
        return {
          ...state,
          row: added.at(-1)?.after ?? state.row,
          formerTags: formerTagsAfter(state),
          comments: [...state.comments, ...added.map(({ comment }) => comment)],
          mutations: [...state.mutations, ...added.map((each) => commentedBy({ actor, sent }, each))],
        };
      },
    },
  );
}

interface Linking {
  actor: Actor;
  /** Returns the changed links of the ticket, or undefined if the server must reject the request. */
  change(links: readonly Link[]): Link[] | undefined;
  /** The error code of a rejected request. */
  code: ErrorCode;
  /** True if the ticket is in the path of the request, so that the response describes the link of this ticket. */
  isInPath: boolean;
}

/** Returns the step for a request that creates or deletes a link. Each of the two tickets has such a step. */
export function linked<Row extends { linkCount: number }>(
  reported: RowResponse,
  { actor, change, code, isInPath }: Linking,
): Step<State<Row>> {
  const { sent, answer } = reported;
  return step<Row>(reported, {
    isRead: answer !== undefined && answer.status >= 400,
    after: (state) => {
      if (state === undefined) return undefined;
      const links = change(state.links);
      if (links === undefined || (answer !== undefined && answer.status >= 400)) {
        const isRight = links === undefined && (answer === undefined || isRejection(answer, [code], statusOf(code)));
        return isRight ? state : undefined;
      }
      const [from = null] = state.links.filter((link) => !links.includes(link));
      const [to = null] = links.filter((link) => !state.links.includes(link));
      if (answer !== undefined && isInPath && !agrees(to ?? from, answer.body.data)) return undefined;
      const row = { ...state.row, linkCount: links.length, etag: unknownText, updatedAt: unknownText };
      const changes = {
        linkCount: { from: state.row.linkCount, to: links.length },
        links: { from: from && changedLink(from), to: to && changedLink(to) },
      };
      const mutation: Mutation<Row> = { action: 'UPDATED', actor, changes, after: row, ...placeOf(sent) };
      return { ...state, row, links, formerTags: formerTagsAfter(state), mutations: [...state.mutations, mutation] };
    },
  });
}

interface Attaching {
  actor: Actor;
  /** Returns the changed attachments of the ticket, or undefined if the server must respond with 404. */
  change(attachments: readonly Attachment[]): Attachment[] | undefined;
  /** Returns true if a user can approve changes. */
  isApprover(id: number): boolean;
}

/** Returns the step for a request that adds or deletes an attachment. */
export function attached(reported: RowResponse, { actor, change, isApprover }: Attaching): Step<State<WithApprovals>> {
  const { sent, answer } = reported;
  const isRejected = answer !== undefined && answer.status >= 400;
  return step<WithApprovals>(reported, {
    isRead: isRejected,
    after: (state) => {
      if (state === undefined) return undefined;
      const attachments = change(state.attachments);
      if (attachments === undefined || isRejected) {
        const isRight = attachments === undefined && (answer === undefined || isRejection(answer, ['NOT_FOUND'], 404));
        return isRight ? state : undefined;
      }
      const [from = null] = state.attachments.filter((each) => !attachments.includes(each));
      const [to = null] = attachments.filter((each) => !state.attachments.includes(each));
      if (answer !== undefined && !agrees(to ?? from, answer.body.data)) return undefined;
      const counted = { ...state.row, attachmentCount: attachments.length, etag: unknownText, updatedAt: unknownText };
      const row = resetDecisions(state.row, counted, isApprover);
      const summarize = (each: Attachment | null) => each && { id: each.id, name: each.name };
      const changes = {
        ...changesBetween(state.row, row),
        ...approvalChanges(state.row, row),
        attachments: { from: summarize(from), to: summarize(to) },
      };
      const mutation: Mutation<WithApprovals> = { action: 'UPDATED', actor, changes, after: row, ...placeOf(sent) };
      return {
        ...{ ...state, row, attachments },
        formerTags: formerTagsAfter(state),
        mutations: [...state.mutations, mutation],
      };
    },
  });
}

interface Approving {
  actor: Actor;
  change(row: WithApprovals): ApprovalOutcome;
}

/** Returns the step for a request that adds, decides or withdraws an approval of a ticket. */
export function approved(reported: RowResponse, { actor, change }: Approving): Step<State<WithApprovals>> {
  const { sent, answer } = reported;
  return step<WithApprovals>(reported, {
    isRead: answer !== undefined && answer.status >= 400,
    after: (state) => {
      if (state === undefined) return undefined;
      const outcome = change(state.row);
      if ('codes' in outcome) {
        const isRight =
          answer === undefined || outcome.codes.some((code) => isRejection(answer, [code], statusOf(code)));
        return isRight ? state : undefined;
      }
      if (answer !== undefined && (answer.status >= 400 || !agrees(outcome.approval, answer.body.data)))
        return undefined;
      const { row } = outcome;
      if (row === state.row) return state;
      const changes = { ...changesBetween(state.row, row), ...approvalChanges(state.row, row) };
      const mutation: Mutation<WithApprovals> = { action: 'UPDATED', actor, changes, after: row, ...placeOf(sent) };
      return { ...state, row, formerTags: formerTagsAfter(state), mutations: [...state.mutations, mutation] };
    },
  });
}

const changedLink = ({ type, direction, ticketNumber }: Link) => ({ type, direction, ticketNumber });

/** What a request can list of a row. */
type Listed = 'comments' | 'links' | 'attachments' | 'approvals' | 'mutations';

/** Returns the step for a request that lists the comments, links, attachments, approvals or activities of a row. */
export function listed<Row>(
  sent: Sent,
  kind: Listed,
  { page, perPage, externalId }: { page: number; perPage: number; externalId?: string[] | undefined },
) {
  const { answer } = sent;
  return step<Row>(
    { sent, answer },
    {
      isRead: true,
      after: (state) => {
        if (state === undefined || answer?.status !== 200) return undefined;
        const rows = rowsOf(state, kind);
        const all = rows.filter((row) => anyOf(externalId, (row as Partial<Comment>).externalId));
        const expected = all.toReversed().slice((page - 1) * perPage, page * perPage);
        const { data, meta } = answer.body;
        if (meta.totalCount !== all.length || !agrees(expected, data)) return undefined;
        // A reset gives each approval an ETag that only a list contains.
        const isLearned = kind === 'approvals' && data.length === all.length;
        return isLearned ? { ...state, row: { ...state.row, [approvalsOf]: data.toReversed() } } : state;
      },
    },
  );
}

function rowsOf<Row>(state: State<Row>, kind: Listed): readonly object[] {
  if (kind === 'mutations') return state.mutations.map(activityOf);
  return kind === 'approvals' ? ((state.row as WithApprovals)[approvalsOf] ?? []) : state[kind];
}

/** Returns the activity entry of a change to a ticket or an asset. */
export function activityOf<Row>({ action, actor, changes, after }: Mutation<Row>) {
  const { id, assetTag } = after as { id: number; assetTag?: string };
  const owner = assetTag === undefined ? { ticketId: id } : { assetId: id };
  return { id: unknownId, ...owner, at: unknownText, action, actor, changes: keptChanges(changes) };
}

const placeOf = ({ begin, end }: Sent) => ({ begin, end });

/** The maximum difference between the clocks of processes on one machine, in milliseconds. */
const slack = 2000;

/**
 * Returns true if the update time of a row lies between the request that changed the row and the response to this
 * request. Allows for clock differences.
 */
function hasRequestTimes(row: object, { beganAt, endedAt }: Sent): boolean {
  const { updatedAt } = row as { updatedAt: string };
  const at = Date.parse(updatedAt);
  return at >= beganAt - slack && at <= endedAt + slack;
}
