import {
  type Comment,
  type CommentQuery,
  type InvalidItem,
  NewComment,
  type NewCommentAnswer,
  type Ticket,
  type TicketReference,
} from '@itsm-api/contract';
import { queryOne, queryPipelined, tenantQuery } from '../../database/client/raw-sql.ts';
import { lockOf, lockRow } from '../../database/row-lock.ts';
import { notFound } from '../../shared/errors.ts';
import { serializeTimestamp } from '../../shared/serialize.ts';
import { emitAll, querySubscribers } from '../../webhooks/outbox/emit.ts';
import { insertActivity, timestampChange } from '../activities/record.ts';
import { BulkItems } from '../shared/bulk-items.ts';
import { chunksOf } from '../shared/chunks.ts';
import { type Context, type Transaction, transaction, type UserContext } from '../shared/context.ts';
import {
  addExternalIds,
  lockExternalId,
  lockExternalIds,
  rejectTaken,
  withoutRepeated,
} from '../shared/external-ids.ts';
import { assertKnown, checkUsers, findKnown, type References, reference } from '../shared/foreign-keys.ts';
import { checkImportFields } from '../shared/imports.ts';
import type { Page } from '../shared/lists.ts';
import type { Rows } from '../sync/change-feed.ts';
import { presentTicket } from '../tickets/presenter.ts';
import { nextUpdatedAt, type TicketRow, columns as ticketColumns } from '../tickets/sql.ts';
import { resolveTicketId } from '../tickets/ticket-reference.ts';

const columns = `c.id, c.ticket_id AS "ticketId", c.author_id AS "authorId", c.body, c.visibility,
  c.external_id AS "externalId", c.created_at AS "createdAt"`;

/**
 * The query for a page of comments. It skips rows with an index-only scan, and looks up the rows of the page by primary
 * key.
 */
const listing = tenantQuery(`SELECT t.comment_count AS "totalCount", CASE WHEN t.comment_count > $3::bigint THEN (
    SELECT json_agg(comment ORDER BY comment.id DESC) FROM (
      SELECT id FROM comments WHERE tenant_id = $1 AND ticket_id = $2 ORDER BY id DESC OFFSET $3::bigint LIMIT $4::int
    ) AS page CROSS JOIN LATERAL (
      SELECT ${columns} FROM comments c WHERE c.tenant_id = $1 AND c.id = page.id LIMIT 1
    ) AS comment) END AS comments
  FROM tickets t WHERE t.tenant_id = $1 AND t.id = $2`);

/**
 * The query for a page of the comments with one of the given external ids. The CTE reads at most 100 rows. It is
 * materialized, because the index on the ticket would be slow for a ticket with many comments.
 */
const filteredListing = tenantQuery(`WITH named AS MATERIALIZED (
    SELECT * FROM comments WHERE tenant_id = $1 AND external_id = ANY ($5::text[])
  ), c AS (SELECT * FROM named WHERE ticket_id = $2)
  SELECT (SELECT count(*) FROM c) AS "totalCount", (SELECT json_agg(comment ORDER BY comment.id DESC) FROM (
      SELECT ${columns} FROM c ORDER BY id DESC OFFSET $3::bigint LIMIT $4::int
    ) AS comment) AS comments
  FROM tickets t WHERE t.tenant_id = $1 AND t.id = $2`);

/** Returns a page of a ticket's comments, newest first. @throws ApiError NOT_FOUND if the ticket doesn't exist */
export async function listComments(
  context: Context,
  ticket: TicketReference,
  { page, perPage, externalId }: CommentQuery,
): Promise<Page<Comment>> {
  const { db } = context;
  const ticketId = await resolveTicketId(context, ticket);
  const values = [ticketId, BigInt(page - 1) * BigInt(perPage), perPage];
  const [query, all] = externalId === undefined ? [listing, values] : [filteredListing, [...values, externalId]];
  const row = await queryOne<{ totalCount: number; comments: Comment[] | null }>(db, query, all);
  if (row === undefined) throw notFound('ticket');
  return { data: (row.comments ?? []).map(presentComment), meta: { page, perPage, totalCount: row.totalCount } };
}

const afterQuery = tenantQuery(`SELECT json_agg(comment) AS comments FROM (
  SELECT ${columns} FROM comments c WHERE c.tenant_id = $1 AND c.id > $2 ORDER BY c.id LIMIT $3) AS comment`);

/** Functions that read comments for incremental sync and exports. */
export const commentRows: Rows<Comment> = {
  resource: 'comments',
  positions: "SELECT *, recorded_at AS changed_at FROM comments WHERE tenant_id = $1 AND $2 = 'comments'",
  named: {
    text: `SELECT json_agg(comment) FROM (SELECT ${columns} FROM page AS c) AS comment`,
    present: (rows) => ((rows ?? []) as Comment[]).map(presentComment),
  },
  after: async (db, id, take) => {
    const row = await queryOne<{ comments: Comment[] | null }>(db, afterQuery, [id, take]);
    return (row?.comments ?? []).map(presentComment);
  },
};

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
 * Inserts comments and updates their tickets.
 *
 * - $1: the tenant
 * - $2: the current time
 * - $3: the comments as JSON; `place` is the position of a comment in the request, and `nth` its position among the new
 *   comments of its ticket
 * - $4: the ids of the tickets
 * - $5, $6: the user and the API key of the request
 *
 * Comments with an earlier `createdAt`, which only import keys set, can make `first_responded_at` earlier.
 */
const insert = `WITH given AS MATERIALIZED (
    SELECT * FROM json_to_recordset($3::json)
      AS given (place int, nth int, "ticketId" bigint, "authorId" bigint, body text, visibility text,
        "externalId" text, "createdAt" timestamptz)
  ), t AS (
    UPDATE tickets SET comment_count = tickets.comment_count + added.count, updated_at = ${nextUpdatedAt('$2')},
      first_responded_at = CASE WHEN tickets.first_responded_at IS NULL OR "hasTimes"
        THEN least(tickets.first_responded_at, (
          SELECT min(COALESCE(g."createdAt", ${nextUpdatedAt('$2')})) FROM given g
          JOIN users u ON u.tenant_id = $1 AND u.id = COALESCE(g."authorId", $5) AND u.role IN ('ADMIN', 'AGENT')
          WHERE g."ticketId" = tickets.id AND g.visibility = 'PUBLIC' AND u.id <> tickets.requester_id
        )) ELSE tickets.first_responded_at END
    FROM (
      SELECT "ticketId", count(*)::int AS count, bool_or("createdAt" IS NOT NULL) AS "hasTimes" FROM given GROUP BY 1
    ) AS added JOIN tickets AS earlier ON earlier.tenant_id = $1 AND earlier.id = "ticketId"
    WHERE tickets.tenant_id = $1 AND tickets.id = ANY ($4::bigint[]) AND tickets.id = "ticketId"
    RETURNING tickets.*, tickets.comment_count - added.count AS count_before,
      earlier.first_responded_at AS responded_before,
      CASE WHEN tickets.first_responded_at IS DISTINCT FROM earlier.first_responded_at THEN (
        SELECT min(nth) FROM given g WHERE g."ticketId" = tickets.id AND g.visibility = 'PUBLIC'
          AND COALESCE(g."authorId", $5) <> tickets.requester_id
          AND COALESCE(g."createdAt", tickets.updated_at) = tickets.first_responded_at
      ) END AS response_nth
  ), c AS (
    INSERT INTO comments (tenant_id, ticket_id, author_id, body, visibility, external_id, created_at)
    SELECT $1, t.id, COALESCE("authorId", $5::bigint), body, visibility, "externalId",
      COALESCE("createdAt", t.updated_at)
    FROM given JOIN t ON t.id = "ticketId" ORDER BY place
    RETURNING *
  ), activity AS (${insertActivity({
    resource: 'TICKET',
    action: 'COMMENTED',
    tenantId: '$1',
    rows: 'given JOIN t ON t.id = "ticketId" ORDER BY place',
    at: 'updated_at',
    userId: '$5',
    keyId: '$6',
    changes: `jsonb_build_object('commentCount',
        jsonb_build_object('from', count_before + nth - 1, 'to', count_before + nth)) ||
      CASE WHEN nth = response_nth
        THEN ${timestampChange('firstRespondedAt', 'responded_before', 'first_responded_at')} ELSE '{}' END`,
  })})
  SELECT (SELECT json_agg(ticket) FROM (SELECT ${ticketColumns} FROM t) AS ticket) AS tickets,
    (SELECT json_agg(comment ORDER BY id) FROM (SELECT ${columns} FROM c) AS comment) AS comments`;

/** The maximum number of events that one statement writes, because each event contains the whole ticket. */
const eventBatch = 100;

/**
 * Adds comments to tickets with any status, in the given order. Locks the tickets, increases their comment counts, and
 * emits `ticket.updated` for each comment (docs/decisions/tickets.md). Resolves to the comments in the given order and
 * to the changed tickets. If a ticket doesn't exist, its comments are missing from the result.
 */
export async function writeComments(
  context: UserContext & Transaction,
  rows: readonly NewCommentRow[],
): Promise<{ comments: Comment[]; tickets: Map<number, Ticket> }> {
  const { db, now, userId, keyId } = context;
  const counts = new Map<number, number>();
  const firstPublic = new Map<number, number>();
  const given = rows.map((row, place) => {
    const nth = (counts.get(row.ticketId) ?? 0) + 1;
    counts.set(row.ticketId, nth);
    if (row.visibility === 'PUBLIC' && !firstPublic.has(row.ticketId)) firstPublic.set(row.ticketId, nth);
    return { ...row, place, nth };
  });
  const ids = [...counts.keys()];
  // Locks the tickets first, so that later statements see their latest versions.
  const [, [written], [subscribers]] = (await queryPipelined(db, [
    lockOf(db, 'tickets', ids),
    { text: insert, values: [db.$tenantId, now(), JSON.stringify(given), ids, userId, keyId] },
    querySubscribers(db, 'ticket.updated'),
  ])) as [object[], { tickets: TicketRow[] | null; comments: Comment[] | null }[], { hasSubscribers: boolean }[]];
  const tickets = new Map((written?.tickets ?? []).map((row) => [row.id, presentTicket(row)]));
  const comments = (written?.comments ?? []).map(presentComment);
  if (subscribers?.hasSubscribers) {
    const inserted = given.filter(({ ticketId }) => tickets.has(ticketId));
    const emissions = inserted.map(({ ticketId, nth }, index) => {
      const payload = tickets.get(ticketId) as Ticket;
      const { id, authorId, body, visibility, createdAt } = comments[index] as Comment;
      const to = payload.commentCount - (counts.get(ticketId) ?? 0) + nth;
      // Import keys, which set other times, send no events.
      const { firstRespondedAt, updatedAt } = payload;
      const isResponse = firstRespondedAt === updatedAt && firstPublic.get(ticketId) === nth;
      const response = isResponse && { firstRespondedAt: { from: null, to: firstRespondedAt } };
      return {
        payload,
        changes: { commentCount: { from: to - 1, to }, ...response },
        comment: { id, authorId, body, visibility, createdAt },
      };
    });
    for (const batch of chunksOf(emissions, eventBatch)) await emitAll(context, 'ticket.updated', batch);
  }
  return { comments, tickets };
}

/**
 * Adds a comment to a ticket.
 * @throws ApiError EXTERNAL_ID_EXISTS; NOT_FOUND if the ticket doesn't exist; VALIDATION_ERROR and INVALID_REFERENCE as
 * for `checkComment`
 */
export function createComment(context: UserContext, ticket: TicketReference, input: NewComment): Promise<Comment> {
  return transaction(context, async (context) => {
    const ticketId = await resolveTicketId(context, ticket);
    await checkUsers(context, checkComment(context, input));
    if (input.externalId != null) {
      // Locks the ticket first, as updates of tickets do. Otherwise, transactions could deadlock.
      if (!(await lockRow(context.db, 'tickets', ticketId))) throw notFound('ticket');
      await lockExternalId(context, 'comment', input.externalId);
    }
    const [comment] = (await writeComments(context, [{ ...input, ticketId }])).comments;
    if (comment === undefined) throw notFound('ticket');
    return comment;
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
): Promise<NewCommentAnswer[]> {
  return transaction(context, async (context) => {
    const ticketId = await resolveTicketId(context, ticket);
    if (!(await lockRow(context.db, 'tickets', ticketId))) throw notFound('ticket');
    const items = BulkItems.of(given).next((input) => {
      return { input, references: { users: checkComment(context, input), tickets: [], assets: [] } };
    });
    const known = await findKnown(
      context,
      items.accepted.map(({ references }) => references),
    );
    const taken = await lockExternalIds(
      context,
      'comment',
      items.accepted.map(({ input }) => input.externalId),
    );
    const rows = items.next(({ input, references }): NewCommentRow => {
      assertKnown(references, known);
      rejectTaken('comment', taken, input.externalId);
      return { ...input, ticketId };
    });
    const unique = withoutRepeated(rows.accepted, ({ externalId }) => [externalId]);
    const { comments } = unique.length === 0 ? { comments: [] } : await writeComments(context, unique);
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

function presentComment(row: Comment): Comment {
  return { ...row, createdAt: serializeTimestamp(row.createdAt) };
}
