import type { User } from '@itsm-api/contract';
import { identifier, sql, tenant } from '../../database/client/sql.ts';
import { rows } from '../../database/client/statements.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import type { Context } from '../shared/context.ts';
import { formatTicketNumber } from '../shared/ticket-number.ts';
import type { TicketRow } from '../tickets/sql.ts';
import { isErased } from '../users/queries.ts';

/** Tickets, comments and attachments that contain the name or the email address of a user, in ascending order. */
export interface Mentions {
  tickets: { id: number; ticketNumber: string }[];
  comments: { id: number; ticketId: number }[];
  /** Attachments whose file name contains the name or the address. */
  attachments: { id: number; ticketId: number }[];
  /** Whether more tickets match. For each text, the list contains at most the newest 10,000 tickets. */
  isCapped: boolean;
}

const maxTickets = 10_000;

const searchTickets = rows<{ text: string }, Pick<TicketRow, 'type' | 'number'> & { id: bigint }>(
  ({ text }) => sql`
    SELECT t.id, t.type, t.number FROM search_texts('tickets', ${text}, true, ${maxTickets + 1}) AS s
    JOIN tickets t ON t.tenant_id = ${tenant} AND t.id = s.id`,
);

/**
 * Finds the tickets whose number, title or description contains all words of a user's name or of the email address, as
 * the search with `q` does. Also finds comments and file names with these words. The search has no index on them, so
 * the function reads all comments and attachments of the workspace. Finds nothing for an erased user, whose former name
 * is unknown. Requires the database role `itsm_request`.
 */
export async function findMentions(
  { db }: Pick<Context, 'db'>,
  user: Pick<User, 'id' | 'name' | 'email'>,
): Promise<Mentions> {
  if (isErased(user)) return { tickets: [], comments: [], attachments: [], isCapped: false };
  const { name, email } = user;
  const texts = [name, email];
  const found = new Map<number, string>();
  let isCapped = false;
  for (const text of texts) {
    const matching = await db.$sql(searchTickets, { text });
    for (const { id, type, number } of matching) found.set(Number(id), formatTicketNumber(type, number));
    isCapped ||= matching.length > maxTickets;
  }
  const tickets = [...found].map(([id, ticketNumber]) => ({ id, ticketNumber })).sort((a, b) => a.id - b.id);
  return {
    tickets,
    comments: await scan(db, selectComments, texts),
    attachments: await scan(db, selectAttachments, texts),
    isCapped,
  };
}

/**
 * The number of rows that one statement reads. A statement must end before the statement timeout: a comment of 64 KiB
 * without ASCII takes 12 ms.
 */
const batchSize = 500;

/** A page of rows: the last id, or null at the end, and the rows that contain all words of one of the texts. */
interface ScannedPage {
  last: bigint | null;
  found: { id: number; ticketId: number }[] | null;
}

/** Defines the statement that searches the next rows of tickets. */
const defineScan = (table: string, column: string) =>
  // ILIKE takes a fifth of the time of splitting a text into words, and a tenth of the time of normalizing it.
  rows<{ texts: string[]; after: bigint }, ScannedPage>(
    ({ texts, after }) => sql`WITH page AS MATERIALIZED (
      SELECT id, ticket_id, ${identifier(column)} AS text FROM ${identifier(table)}
      WHERE tenant_id = ${tenant} AND id > ${after} ORDER BY id LIMIT ${batchSize}
    ), queries AS MATERIALIZED (
      SELECT replace(text_query(q), chr(1), '')::tsquery AS query,
        ARRAY(SELECT '%' || left(word, 64) || '%' FROM unnest(tsvector_to_array(text_words(q))) AS word) AS patterns
      FROM unnest(${texts}::text[]) AS q
    )
    SELECT (SELECT max(id) FROM page) AS last, (
      SELECT json_agg(json_build_object('id', id, 'ticketId', ticket_id) ORDER BY id) FROM page
      WHERE EXISTS (
        SELECT FROM queries WHERE query IS NOT NULL AND text_words(text) @@ query
          AND CASE WHEN octet_length(text) > char_length(text) THEN normalize(text) ELSE text END ILIKE ALL (patterns)
      )
    ) AS found`,
  );
const selectComments = defineScan('comments', 'body');
const selectAttachments = defineScan('attachments', 'name');

/** Finds the rows of tickets that contain all words of one of the texts. Reads all rows of the tenant. */
async function scan(db: TenantClient, statement: typeof selectComments, texts: string[]) {
  const found: { id: number; ticketId: number }[] = [];
  for (let after: bigint | null = 0n; after !== null; ) {
    const [page]: ScannedPage[] = await db.$sql(statement, { texts, after });
    found.push(...(page?.found ?? []));
    after = page?.last ?? null;
  }
  return found;
}
