import type { NewComment, Ticket } from '@itsm-api/contract';
import fc from 'fast-check';
import { addComments, newComment } from '../resources/comments.ts';
import type { Answer } from '../send.ts';
import { commented, itemOf, listed } from '../steps.ts';
import type { Turn } from '../turn.ts';
import { isRejection, type Sent } from '../world.ts';
import {
  answered,
  anyUser,
  filterOf,
  importFields,
  missingId,
  paging,
  place,
  seldom,
  sending,
  userId,
  words,
} from './arbitraries.ts';
import { kind } from './command.ts';
import { askForeign, askList } from './lists.ts';

/** External ids from a smaller set, because requests create fewer comments than tickets. */
const commentId = fc.nat(19).map((number) => `old:${number}`);

/** The arguments of a new comment. */
export const commentGiven = fc.record({
  words,
  visibility: fc.constantFrom('PUBLIC' as const, 'INTERNAL' as const),
  externalId: seldom(commentId),
  author: fc.oneof({ weight: 9, arbitrary: anyUser }, fc.record({ kind: fc.constant('foreign' as const), place })),
  createdAt: fc.constantFrom(undefined, '2018-03-01T08:00:00.000Z', '2020-06-01T08:00:00.000Z', '2999-01-01T00:00:00Z'),
});
type CommentInput = typeof commentGiven extends fc.Arbitrary<infer Input> ? Input : never;

export function commentBody(turn: Turn, given: CommentInput, marker: string): NewComment {
  const { words, visibility, externalId, author, createdAt } = given;
  const authorId = author.kind === 'none' ? undefined : (userId(turn, author) ?? missingId);
  return { body: `${marker} ${words}`, visibility, externalId, ...importFields(turn, { authorId, createdAt }) };
}

export const comments = {
  list: kind(4, fc.record({ place, externalId: filterOf(commentId), ...paging }), async (turn, { place, ...query }) => {
    const id = turn.workspace.tickets.pick(place);
    if (id === undefined) return;
    const sent = await askList(turn, 'comments.list', query, { id });
    if (sent?.answer !== undefined) turn.workspace.tickets.of(id).steps.push(listed(sent, 'comments', query));
  }),

  create: kind(
    7,
    fc.record({ place, given: commentGiven, sending, isForeign: fc.nat(29) }),
    async (turn, { place, given, sending, isForeign }) => {
      const body = commentBody(turn, given, `c${turn.number}`);
      if (isForeign === 0) {
        return askForeign(turn, 'comments.create', {
          id: turn.other.tickets.pick(place),
          body: { body: 'Seized', visibility: 'PUBLIC' },
        });
      }
      const id = turn.workspace.tickets.pick(place);
      if (id === undefined) return;
      const other = { ...body, body: 'Another.' };
      const mode = body.externalId === undefined ? sending : answered(sending);
      const sent = await turn.ask('comments.create', { params: { id }, body, sending: mode, other });
      if (sent !== undefined) noteComments(turn, id, [body], sent, sent.answer && [sent.answer]);
    },
  ),

  createMany: kind(
    2,
    fc.record({ place, many: fc.array(commentGiven, { minLength: 1, maxLength: 5 }), sending }),
    async (turn, { place, many, sending }) => {
      const id = turn.workspace.tickets.pick(place);
      if (id === undefined) return;
      const comments = many.map((given, index) => commentBody(turn, given, `c${turn.number}.${index}`));
      const other = { comments: [...comments, { body: 'Another.', visibility: 'PUBLIC' }] };
      const mode = comments.every(({ externalId }) => externalId === undefined) ? sending : answered(sending);
      const sent = await turn.ask('comments.createMany', { params: { id }, body: { comments }, sending: mode, other });
      if (sent === undefined) return;
      const answers = sent.answer && comments.map((_, index) => itemOf(sent.answer as Answer, index));
      noteComments(turn, id, comments, sent, answers);
    },
  ),
};

/** Records the result of a request that adds comments to a ticket. */
function noteComments(turn: Turn, id: number, bodies: NewComment[], sent: Sent, answers: Answer[] | undefined): void {
  const { world, workspace, actor } = turn;
  const created = bodies.flatMap((body, index) => {
    const answer = answers?.[index];
    const outcome = newComment(id, body, turn);
    if ('codes' in outcome) {
      const isRight = answer === undefined || isRejection(answer, outcome.codes);
      world.expect(isRight, 'an invalid comment was not rejected', sent);
      return [];
    }
    return noteTakenComment(turn, answer, { externalId: body }) ? [] : [{ expected: outcome.row, answer }];
  });
  if (created.length === 0) return;
  const step = commented<Ticket>(sent, {
    actor,
    comments: created,
    add: (row, comments) => addComments(row, comments, workspace.users),
  });
  workspace.tickets.of(id).steps.push(step);
}

/**
 * If a request was rejected because a comment has an external id of the request, records the id of this comment, and
 * returns true.
 * @param comments the comments of the request, by the path of their external ids
 */
export function noteTakenComment(
  { workspace }: Turn,
  answer: Answer | undefined,
  comments: Record<string, NewComment>,
): boolean {
  if (!isRejection(answer, ['EXTERNAL_ID_EXISTS'])) return false;
  const { path, id } = answer?.body.error.details[0] ?? {};
  const externalId = comments[path]?.externalId;
  if (externalId == null) return false;
  workspace.taken.push({ externalId, id });
  return true;
}
