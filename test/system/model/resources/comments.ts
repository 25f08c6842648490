import type { Changes, Comment, NewComment, Ticket, User } from '@itsm-api/contract';
import { unknownId, unknownText } from '../values.ts';
import { importRejections } from './imports.ts';
import { changesBetween, type Outcome } from './rows.ts';
import type { References } from './users.ts';

/* Models comments (docs/decisions/tickets.md, imports.md). */

/** Returns the new comment, or the expected error codes. */
export function newComment(
  ticketId: number,
  input: NewComment,
  { key, references }: { key: { userId: number; isImport: boolean }; references: References },
): Outcome<Comment> {
  const { authorId = key.userId, body, visibility, externalId = null, createdAt = unknownText } = input;
  const codes = importRejections(input, key);
  if (!references.isUser(authorId)) codes.push('INVALID_REFERENCE');
  if (codes.length > 0) return { codes };
  const row = { id: unknownId, ticketId, authorId, body, visibility, attachmentIds: [], externalId, createdAt };
  return { row: { ...row, redactedAt: null } };
}

/** A comment in a request, and the comment in the response. Without a response, both are the same. */
interface Reported {
  expected: Comment;
  reported: Comment;
}

function commentedTicket(before: Ticket, { expected, reported }: Reported, authors: readonly User[]): Ticket {
  const { authorId, visibility } = expected;
  const { role } = authors.find(({ id }) => id === authorId) ?? {};
  const isResponse = visibility === 'PUBLIC' && authorId !== before.requesterId && role !== 'REQUESTER';
  const { firstRespondedAt } = before;
  const at = latest(reported.createdAt, before.createdAt);
  // Only a comment whose time a request has set can be earlier than the first response.
  const isEarlier = firstRespondedAt === null || (expected.createdAt !== unknownText && isBefore(at, firstRespondedAt));
  return {
    ...before,
    commentCount: before.commentCount + 1,
    firstRespondedAt: isResponse && isEarlier ? at : firstRespondedAt,
    etag: unknownText,
    updatedAt: unknownText,
  };
}

/** Returns true if a time is before another. An unknown time is during the run, and times in requests are before it. */
const isBefore = (one: string, other: string) => one !== unknownText && (other === unknownText || one < other);

function latest(one: string, other: string): string {
  if (one === unknownText || other === unknownText) return unknownText;
  return one > other ? one : other;
}

/** A new comment, and its effect on its ticket. */
export interface Added<Row = Ticket> {
  comment: Comment;
  changes: Changes;
  after: Row;
}

/** Adds comments to a ticket, in the given order. */
export function addComments(ticket: Ticket, comments: readonly Reported[], authors: readonly User[]): Added[] {
  let before = ticket;
  return comments.map((each) => {
    const after = commentedTicket(before, each, authors);
    const changes = changesBetween(before, after);
    before = after;
    return { comment: each.reported, changes, after };
  });
}
