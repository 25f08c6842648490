import type { User } from '@itsm-api/contract';
import { queryRows } from '../../database/client/raw-sql.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import type { Context } from '../shared/context.ts';
import type { TicketRow } from '../tickets/sql.ts';
import { formatTicketNumber } from '../tickets/ticket-number.ts';

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

/**
 * Finds the tickets whose number, title or description contains all words of a user's name or of the email address, as
 * the search with `q` does. Also finds comments and file names with these words. The search has no index on them, so
 * the function reads all comments and attachments of the workspace. Requires the database role `itsm_request`.
 */
export async function findMentions(
  { db }: Pick<Context, 'db'>,
  { name, email }: Pick<User, 'name' | 'email'>,
): Promise<Mentions> {
  const texts = [name, email];
  const found = new Map<number, string>();
  let isCapped = false;
  for (const text of texts) {
    const rows = await queryRows<Pick<TicketRow, 'type' | 'number'> & { id: string }>(db, {
      text: `SELECT t.id, t.type, t.number FROM search_texts('tickets', $2, true, $3) AS s
        JOIN tickets t ON t.tenant_id = $1 AND t.id = s.id`,
      values: [db.$tenantId, text, maxTickets + 1],
    });
    for (const { id, type, number } of rows) found.set(Number(id), formatTicketNumber(type, number));
    isCapped ||= rows.length > maxTickets;
  }
  const tickets = [...found].map(([id, ticketNumber]) => ({ id, ticketNumber })).sort((a, b) => a.id - b.id);
  return {
    tickets,
    comments: await scan(db, 'comments', 'body', texts),
    attachments: await scan(db, 'attachments', 'name', texts),
    isCapped,
  };
}

/**
 * The number of rows that one statement reads. A statement must end before the statement timeout: a comment of 64 KiB
 * without ASCII takes 12 ms.
 */
const batchSize = 500;

/** Finds the rows of tickets whose column contains all words of one of the texts. Reads all rows of the tenant. */
async function scan(db: TenantClient, table: 'comments' | 'attachments', column: string, texts: string[]) {
  // ILIKE takes a fifth of the time of splitting a text into words, and a tenth of the time of normalizing it.
  const text = `WITH page AS MATERIALIZED (
      SELECT id, ticket_id, ${column} AS text FROM ${table} WHERE tenant_id = $1 AND id > $3 ORDER BY id LIMIT ${batchSize}
    ), queries AS MATERIALIZED (
      SELECT replace(text_query(q), chr(1), '')::tsquery AS query,
        ARRAY(SELECT '%' || left(word, 64) || '%' FROM unnest(tsvector_to_array(text_words(q))) AS word) AS patterns
      FROM unnest($2::text[]) AS q
    )
    SELECT (SELECT max(id) FROM page) AS last, (
      SELECT json_agg(json_build_object('id', id, 'ticketId', ticket_id) ORDER BY id) FROM page
      WHERE EXISTS (
        SELECT FROM queries WHERE query IS NOT NULL AND text_words(text) @@ query
          AND CASE WHEN octet_length(text) > char_length(text) THEN normalize(text) ELSE text END ILIKE ALL (patterns)
      )
    ) AS found`;
  const found: { id: number; ticketId: number }[] = [];
  for (let after: string | null = '0'; after !== null; ) {
    const [row]: { last: string | null; found: typeof found | null }[] = await queryRows(db, {
      text,
      values: [db.$tenantId, texts, after],
    });
    found.push(...(row?.found ?? []));
    after = row?.last ?? null;
  }
  return found;
}
