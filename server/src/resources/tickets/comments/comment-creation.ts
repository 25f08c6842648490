import {
  type Comment,
  type InvalidItem,
  NewComment,
  type NewCommentResult,
  type Ticket,
  type TicketReference,
} from '@itsm-api/contract';
import { sql, tenant } from '../../../database/client/sql.ts';
import { type Bound, rows } from '../../../database/client/statements.ts';
import { lockOf, lockRow } from '../../../database/row-lock.ts';
import { type ActorIds, actorIdsOf } from '../../../shared/actor.ts';
import { notFound, requireRow } from '../../../shared/errors.ts';
import { emitAll, type HasSubscribers, querySubscribers } from '../../../webhooks/outbox/emit.ts';
import { insertActivity, timestampChange } from '../../activities/record.ts';
import { BulkItems } from '../../shared/bulk-items.ts';
import { type Context, type Transaction, transaction, type UserContext } from '../../shared/context.ts';
import {
  addExternalIds,
  lockExternalId,
  lockExternalIds,
  rejectTaken,
  withoutRepeated,
} from '../../shared/external-ids.ts';
import {
  assertKnown,
  assertReferences,
  checkUsers,
  findKnown,
  listed,
  noReferences,
  noSuchAttachment,
  type References,
  reference,
} from '../../shared/foreign-keys.ts';
import { checkImportFields } from '../../shared/imports.ts';
import { resolveTicketId } from '../../shared/ticket-reference.ts';
import { findAttachmentsOf } from '../attachments/queries.ts';
import { ticketValues } from '../columns.ts';
import { presentTicket } from '../presenter.ts';
import { nextUpdatedAt, type TicketValues, toTicketRow } from '../sql.ts';
import { columns, presentComment } from './queries.ts';

/** A comment to insert. */
export interface NewCommentRow extends NewComment {
  ticketId: number;
}

/**
 * Checks a new comment, and returns the users that it references.
 * @param path the path of the comment in the request body, which ends with a dot; empty if the comment is the body
 * @throws ApiError VALIDATION_ERROR if the input has a field that only an import key can set
 */
export function checkComment(context: Context, input: NewComment, path = ''): References['users'] {
  checkImportFields(context, NewComment, input, path);
  return reference(`${path}authorId`, input.authorId);
}

/**
 * Checks the attachments that a new comment names.
 * @param known the ids of the ticket's attachments
 * @param path the path of the comment in the request body, which ends with a dot; empty if the comment is the body
 * @throws ApiError INVALID_REFERENCE; the details list up to 20 fields with unknown ids
 */
export function checkAttachments({ attachmentIds }: NewComment, known: ReadonlySet<number>, path = ''): void {
  assertReferences(listed(`${path}attachmentIds`, attachmentIds), known, noSuchAttachment);
}

/**
 * Inserts a comment and updates its ticket.
 *
 * A comment with an earlier creation time, which only an import key can set, can make `first_responded_at` earlier.
 */
const insert = rows<CommentParameters, InsertedRow>((given) => {
  const { ticketId, now, userId, keyId, authorId, createdAt } = given;
  return sql`WITH t AS (
    UPDATE tickets SET comment_count = comment_count + 1, updated_at = ${nextUpdatedAt(now)},
      first_responded_at = CASE WHEN (first_responded_at IS NULL OR ${createdAt}::timestamptz < first_responded_at)
          AND ${given.visibility} = 'PUBLIC' AND requester_id <> ${authorId} AND EXISTS (
            SELECT FROM users WHERE tenant_id = ${tenant} AND id = ${authorId} AND role IN ('ADMIN', 'AGENT'))
        THEN greatest(COALESCE(${createdAt}, ${nextUpdatedAt(now)}), created_at) ELSE first_responded_at END
    WHERE tenant_id = ${tenant} AND id = ${ticketId}
    RETURNING *, (
      SELECT before.first_responded_at FROM tickets AS before WHERE before.tenant_id = ${tenant} AND before.id = ${ticketId}
    ) AS responded_before
  ), c AS (
    INSERT INTO comments (tenant_id, ticket_id, author_id, body, visibility, external_id, created_at, attachment_ids)
    SELECT ${tenant}, id, ${authorId}, ${given.body}, ${given.visibility}, ${given.externalId},
      COALESCE(${createdAt}, updated_at), ${given.attachmentIds} FROM t RETURNING *
  ), activity AS (${insertActivity({
    resource: 'TICKET',
    action: 'COMMENTED',
    ...{ userId, keyId },
    rows: sql`t`,
    at: sql`updated_at`,
    changes: sql`jsonb_build_object('commentCount', jsonb_build_object('from', comment_count - 1, 'to', comment_count)) ||
      CASE WHEN first_responded_at IS DISTINCT FROM responded_before
        THEN ${timestampChange('firstRespondedAt', sql`responded_before`, sql`first_responded_at`)} ELSE '{}' END`,
  })})
  SELECT CASE WHEN ${given.returnsTicket} THEN (SELECT ${ticketValues} FROM t) END AS ticket,
    (SELECT to_json(comment) FROM (SELECT ${columns} FROM c) AS comment) AS comment`;
});

/** The parameters of the statement that inserts a comment. */
interface CommentParameters extends ActorIds {
  ticketId: number;
  now: Date;
  authorId: bigint | number;
  body: string;
  visibility: Comment['visibility'];
  externalId: string | null;
  /** The creation time, or null for the current time. */
  createdAt: string | null;
  /** In ascending order. */
  attachmentIds: number[];
  /** Whether to return the ticket. */
  returnsTicket: boolean;
}

/** A row of `insert`: the comment, and its ticket after the comment. Both are null if the ticket doesn't exist. */
interface InsertedRow {
  comment: Comment | null;
  ticket: TicketValues | null;
}

/** Returns the statement that inserts a comment, including its parameters. */
function toInsertStatement(
  context: UserContext,
  { ticketId, authorId, body, visibility, externalId, createdAt, attachmentIds }: NewCommentRow,
  { returnsTicket }: { returnsTicket: boolean },
): Bound<InsertedRow> {
  return context.db.$bind(insert, {
    ...{ ticketId, ...actorIdsOf(context), body, visibility, returnsTicket },
    now: context.now(),
    authorId: authorId ?? context.userId,
    externalId: externalId ?? null,
    createdAt: createdAt ?? null,
    attachmentIds: [...new Set(attachmentIds)].sort((a, b) => a - b),
  });
}

/**
 * Inserts the comments of new tickets, in the given order. Returns the comments in the same order, and the tickets after
 * their last comments. Emits no events, because `ticket.created` contains the tickets with their comment counts.
 */
export async function insertComments(
  context: UserContext & Transaction,
  rows: readonly NewCommentRow[],
): Promise<{ comments: Comment[]; tickets: Ticket[] }> {
  const lastOf = new Map(rows.map((row) => [row.ticketId, row]));
  const statements = rows.map((row) => {
    return toInsertStatement(context, row, { returnsTicket: lastOf.get(row.ticketId) === row });
  });
  const found = (await context.db.$pipeline(statements)).flat();
  return {
    comments: found.flatMap(({ comment }) => (comment ? [presentComment(comment)] : [])),
    tickets: found.flatMap(({ ticket }) => (ticket ? [presentTicket(toTicketRow(ticket))] : [])),
  };
}

/** A new comment, and its ticket after the comment. */
interface AddedComment {
  comment: Comment;
  ticket: Ticket;
}

/**
 * Adds comments to a ticket with any status, in the given order. Locks the ticket, increases its comment count, and
 * emits `ticket.updated` for each comment (docs/decisions/tickets.md). If the ticket doesn't exist, returns no comments.
 */
async function writeComments(
  context: UserContext & Transaction,
  ticketId: number,
  inputs: readonly NewComment[],
): Promise<Comment[]> {
  const { db } = context;
  // Locks the ticket first, so that later statements see its latest version.
  const results = await db.$pipeline<Bound[]>([
    lockOf(db, 'tickets', [ticketId]),
    ...inputs.map((input) => toInsertStatement(context, { ...input, ticketId }, { returnsTicket: true })),
    querySubscribers(db, 'ticket.updated'),
  ]);
  const found = results.slice(1, -1).flat() as InsertedRow[];
  const written = found.flatMap(({ ticket, comment }) => {
    return ticket && comment ? [{ ticket: presentTicket(toTicketRow(ticket)), comment: presentComment(comment) }] : [];
  });
  const [subscribers] = results.at(-1) as HasSubscribers[];
  if (subscribers?.hasSubscribers) await emitAll(context, 'ticket.updated', written.map(toEmission));
  return written.map(({ comment }) => comment);
}

/** Returns the content of the event for a new comment. */
function toEmission({ ticket, comment }: AddedComment) {
  const { id, authorId, body, visibility, createdAt } = comment;
  const { commentCount, firstRespondedAt, requesterId } = ticket;
  const isResponse = firstRespondedAt === createdAt && visibility === 'PUBLIC' && authorId !== requesterId;
  return {
    payload: ticket,
    changes: {
      commentCount: { from: commentCount - 1, to: commentCount },
      ...(isResponse && { firstRespondedAt: { from: null, to: firstRespondedAt } }),
    },
    comment: { id, authorId, body, visibility, createdAt },
  };
}

/**
 * Adds a comment to a ticket.
 * @throws ApiError EXTERNAL_ID_EXISTS; NOT_FOUND if the ticket doesn't exist; VALIDATION_ERROR and INVALID_REFERENCE as
 * for `checkComment`
 */
export function createComment(context: UserContext, ticket: TicketReference, input: NewComment): Promise<Comment> {
  return transaction(context, async (context) => {
    const ticketId = await resolveTicketId(context, ticket);
    await checkUsers(context, checkComment(context, input), { allowInactive: context.isImport });
    const { externalId, attachmentIds } = input;
    if (externalId != null || attachmentIds != null) {
      // Locks the ticket first, as updates of tickets do. Otherwise, transactions could deadlock.
      if (!(await lockRow(context.db, 'tickets', ticketId))) throw notFound('ticket');
      checkAttachments(input, await findAttachmentsOf(context, ticketId, attachmentIds ?? []));
      await lockExternalId(context, 'comment', externalId);
    }
    return requireRow((await writeComments(context, ticketId, [input]))[0], 'ticket');
  });
}

/**
 * Adds the valid comments of a bulk request to a ticket. Resolves to one result per item.
 * @throws ApiError NOT_FOUND if the ticket doesn't exist
 */
export function createComments(
  context: UserContext,
  ticket: TicketReference,
  given: readonly (NewComment | InvalidItem)[],
): Promise<NewCommentResult[]> {
  return transaction(context, async (context) => {
    const ticketId = await resolveTicketId(context, ticket);
    if (!(await lockRow(context.db, 'tickets', ticketId))) throw notFound('ticket');
    const items = BulkItems.of(given).next((input) => {
      return { input, references: { ...noReferences, users: checkComment(context, input) } };
    });
    const known = await findKnown(
      context,
      items.accepted.map(({ references }) => references),
      { allowInactive: context.isImport },
    );
    const attachments = await findAttachmentsOf(
      context,
      ticketId,
      items.accepted.flatMap(({ input }) => input.attachmentIds ?? []),
    );
    const taken = await lockExternalIds(
      context,
      'comment',
      items.accepted.map(({ input }) => input.externalId),
    );
    const rows = items.next(({ input, references }) => {
      assertKnown(references, known);
      checkAttachments(input, attachments);
      rejectTaken('comment', taken, input.externalId);
      return input;
    });
    const unique = withoutRepeated(rows.accepted, ({ externalId }) => [externalId]);
    const comments = unique.length === 0 ? [] : await writeComments(context, ticketId, unique);
    const commentOf = new Map(unique.map((row, index) => [row, comments[index]]));
    addExternalIds(taken, comments);
    const created = rows.next((row) => {
      const comment = commentOf.get(row);
      if (comment === undefined) rejectTaken('comment', taken, row.externalId);
      return comment as Comment;
    });
    return created.results((data) => ({ status: 201, data }), context.publicUrl);
  });
}
