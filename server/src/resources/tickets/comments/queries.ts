import type { Comment, CommentQuery, TicketReference } from '@itsm-api/contract';
import { sql, tenant } from '../../../database/client/sql.ts';
import { manyAsJson, oneAsJson } from '../../../database/client/statements.ts';
import { notFound } from '../../../shared/errors.ts';
import { serializeTimestamp } from '../../../shared/serialize.ts';
import type { Context } from '../../shared/context.ts';
import type { Page } from '../../shared/lists.ts';
import { resolveTicketId } from '../../shared/ticket-reference.ts';
import type { Rows } from '../../sync/change-feed.ts';

export const columns = sql`c.id, c.ticket_id AS "ticketId", c.author_id AS "authorId", c.body, c.visibility,
  c.attachment_ids AS "attachmentIds", c.external_id AS "externalId", c.created_at AS "createdAt",
  c.redacted_at AS "redactedAt"`;

/** The parameters and the result of the queries for a page of comments. */
type PageOf = { ticketId: number; skip: bigint; take: number };

type FoundPage = { totalCount: number; comments: Comment[] | null };

/**
 * The query for a page of comments. It skips rows with an index-only scan, and looks up the rows of the page by primary
 * key.
 */
const selectPage = oneAsJson<PageOf, FoundPage>(
  ({ ticketId, skip, take }) => sql`SELECT t.comment_count AS "totalCount",
    CASE WHEN t.comment_count > ${skip}::bigint THEN (
      SELECT json_agg(comment ORDER BY comment.id DESC) FROM (
        SELECT id FROM comments WHERE tenant_id = ${tenant} AND ticket_id = ${ticketId}
        ORDER BY id DESC OFFSET ${skip}::bigint LIMIT ${take}::int
      ) AS page CROSS JOIN LATERAL (
        SELECT ${columns} FROM comments c WHERE c.tenant_id = ${tenant} AND c.id = page.id LIMIT 1
      ) AS comment) END AS comments
    FROM tickets t WHERE t.tenant_id = ${tenant} AND t.id = ${ticketId}`,
);

/**
 * The query for a page of the comments with one of the given external ids. The CTE reads at most 100 rows. It is
 * materialized, because the index on the ticket would be slow for a ticket with many comments.
 */
const selectNamedPage = oneAsJson<PageOf & { externalIds: string[] }, FoundPage>(
  ({ ticketId, skip, take, externalIds }) => sql`WITH with_external_id AS MATERIALIZED (
      SELECT * FROM comments WHERE tenant_id = ${tenant} AND external_id = ANY (${externalIds}::text[])
    ), c AS (SELECT * FROM with_external_id WHERE ticket_id = ${ticketId})
    SELECT (SELECT count(*) FROM c) AS "totalCount", (SELECT json_agg(comment ORDER BY comment.id DESC) FROM (
        SELECT ${columns} FROM c ORDER BY id DESC OFFSET ${skip}::bigint LIMIT ${take}::int
      ) AS comment) AS comments
    FROM tickets t WHERE t.tenant_id = ${tenant} AND t.id = ${ticketId}`,
);

/** Returns a page of a ticket's comments, newest first. @throws ApiError NOT_FOUND if the ticket doesn't exist */
export async function listComments(
  context: Context,
  ticket: TicketReference,
  { page, perPage, externalId }: CommentQuery,
): Promise<Page<Comment>> {
  const { db } = context;
  const ticketId = await resolveTicketId(context, ticket);
  const range = { ticketId, skip: BigInt(page - 1) * BigInt(perPage), take: perPage };
  const row = await (externalId === undefined
    ? db.$sql(selectPage, range)
    : db.$sql(selectNamedPage, { ...range, externalIds: externalId }));
  if (row === undefined) throw notFound('ticket');
  return { data: (row.comments ?? []).map(presentComment), meta: { page, perPage, totalCount: row.totalCount } };
}

const selectAfter = manyAsJson<{ id: number; take: number }, Comment>(
  ({ id, take }) =>
    sql`SELECT ${columns} FROM comments c WHERE c.tenant_id = ${tenant} AND c.id > ${id} ORDER BY c.id LIMIT ${take}`,
);

/** Functions that read comments for incremental sync and exports. */
export const commentRows: Rows<Comment> = {
  resource: 'comments',
  positions: ({ resource }) =>
    sql`SELECT *, recorded_at AS changed_at FROM comments WHERE tenant_id = ${tenant} AND ${resource} = 'comments'`,
  selectRows: {
    select: sql`SELECT json_agg(comment) FROM (SELECT ${columns} FROM page AS c) AS comment`,
    present: (rows) => ((rows ?? []) as Comment[]).map(presentComment),
  },
  after: async (db, id, take) => (await db.$sql(selectAfter, { id, take })).map(presentComment),
};

export function presentComment(row: Comment): Comment {
  return { ...row, createdAt: serializeTimestamp(row.createdAt), redactedAt: serializeTimestamp(row.redactedAt) };
}
