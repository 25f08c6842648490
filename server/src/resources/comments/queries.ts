import type { Comment, CommentQuery, NewComment, TicketReference } from '@itsm-api/contract';
import { queryOne, queryPipelined, tenantQuery } from '../../database/client/raw-sql.ts';
import { lockOf } from '../../database/row-lock.ts';
import { notFound } from '../../shared/errors.ts';
import { serializeTimestamp } from '../../shared/serialize.ts';
import { emit, querySubscribers } from '../../webhooks/outbox/emit.ts';
import { insertActivity } from '../activities/record.ts';
import { type Context, transaction, type UserContext } from '../shared/context.ts';
import type { Page } from '../shared/lists.ts';
import { presentTicket } from '../tickets/presenter.ts';
import { nextUpdatedAt, type TicketRow, columns as ticketColumns } from '../tickets/sql.ts';
import { resolveTicketId } from '../tickets/ticket-reference.ts';

const columns =
  'c.id, c.ticket_id AS "ticketId", c.author_id AS "authorId", c.body, c.visibility, c.created_at AS "createdAt"';

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

/** Returns a page of a ticket's comments, newest first. @throws ApiError NOT_FOUND if the ticket doesn't exist */
export async function listComments(
  context: Context,
  reference: TicketReference,
  { page, perPage }: CommentQuery,
): Promise<Page<Comment>> {
  const { db } = context;
  const ticketId = await resolveTicketId(context, reference);
  const values = [ticketId, BigInt(page - 1) * BigInt(perPage), perPage];
  const row = await queryOne<{ totalCount: number; comments: Comment[] | null }>(db, listing, values);
  if (row === undefined) throw notFound('ticket');
  return { data: (row.comments ?? []).map(presentComment), meta: { page, perPage, totalCount: row.totalCount } };
}

const insert = `WITH t AS (
    UPDATE tickets SET comment_count = comment_count + 1, updated_at = ${nextUpdatedAt('$3')} WHERE tenant_id = $1 AND id = $2
    RETURNING *
  ), c AS (
    INSERT INTO comments (tenant_id, ticket_id, author_id, body, visibility, created_at)
    SELECT $1::bigint, id, $4::bigint, $6::text, $7::text, updated_at FROM t RETURNING *
  ), activity AS (${insertActivity({
    resource: 'TICKET',
    action: 'COMMENTED',
    tenantId: '$1',
    rows: 't',
    at: 'updated_at',
    userId: '$4',
    keyId: '$5',
    changes: "jsonb_build_object('commentCount', jsonb_build_object('from', comment_count - 1, 'to', comment_count))",
  })})
  SELECT (SELECT to_json(ticket) FROM (SELECT ${ticketColumns} FROM t) AS ticket) AS ticket,
    (SELECT to_json(comment) FROM (SELECT ${columns} FROM c) AS comment) AS comment`;

/**
 * Adds a comment to a ticket with any status. Locks the ticket, increments its comment count, and emits
 * `ticket.updated` (docs/decisions/tickets.md).
 * @throws ApiError NOT_FOUND if the ticket doesn't exist
 */
export function createComment(context: UserContext, reference: TicketReference, input: NewComment): Promise<Comment> {
  return transaction(context, async (context) => {
    const { db, now, userId, keyId } = context;
    const ticketId = await resolveTicketId(context, reference);
    const values = [db.$tenantId, ticketId, now(), userId, keyId, input.body, input.visibility];
    // Locks the ticket first, so that later statements see its latest version.
    const [, [written], [subscribers]] = (await queryPipelined(db, [
      lockOf(db, 'tickets', [ticketId]),
      { text: insert, values },
      querySubscribers(db, 'ticket.updated'),
    ])) as [object[], { ticket: TicketRow | null; comment: Comment | null }[], { hasSubscribers: boolean }[]];
    if (!written?.ticket || !written.comment) throw notFound('ticket');
    if (subscribers?.hasSubscribers) {
      const ticket = presentTicket(written.ticket);
      const changes = { commentCount: { from: ticket.commentCount - 1, to: ticket.commentCount } };
      await emit(context, 'ticket.updated', { payload: ticket, changes });
    }
    return presentComment(written.comment);
  });
}

function presentComment(row: Comment): Comment {
  return { ...row, createdAt: serializeTimestamp(row.createdAt) };
}
