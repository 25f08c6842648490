import type { TicketQuery } from '@itsm-api/contract';
import { selectPlanned } from '../../database/statements.ts';
import type { TenantClient } from '../../database/tenant-client.ts';
import { mostCounted } from '../lists.ts';
import { havingWords, mostFound, refusingTooBroad, searchTexts } from '../search.ts';
import { type CountedFilters, filterColumns, filterNames, type TicketPage, type TicketRange } from './pages.ts';
import { columns, type TicketRow } from './sql.ts';

/*
 * Pages of tickets by what no counter holds: the ids that match are gathered, up to a number at which counting ends.
 * PostgreSQL plans each statement for its very values, since they decide which index leads to the fewest rows
 * (docs/decisions/search.md).
 */

/** What tickets may be found by. */
export interface TicketFilters extends CountedFilters, Omit<Pick<TicketQuery, (typeof uncounted)[number]>, 'parentId'> {
  parentId: number[] | undefined;
  /** Whether those that nobody is assigned to are asked for, beside those of `assigneeId`. */
  unassigned: boolean;
}

const uncounted = ['requesterId', 'parentId', 'watcherUserId', 'createdSince', 'createdBefore', 'q'] as const;

/** Whether the totals tell how many tickets the filters match. */
export function isCounted(filters: TicketFilters): boolean {
  return !filters.unassigned && uncounted.every((name) => filters[name] === undefined);
}

/**
 * Some of the tickets that the filters match, and how many there are in all, as far as they are counted.
 * @throws ApiError QUERY_TOO_BROAD
 */
export async function findTickets(db: TenantClient, filters: TicketFilters, range: TicketRange): Promise<TicketPage> {
  const { q, ...others } = filters;
  if (q === undefined) return ask(db, byFilters(filters), { ...range, most: mostCounted });
  const asked = { ...range, most: mostFound };
  if (Object.values(others).some((asked) => asked !== undefined && asked !== false)) {
    // Those that have the words, or those that are the rest, are few enough to be all asked for the other.
    for (const way of [byWords(q, filters), byWordsAmong(q, filters)]) {
      const found = await ask(db, way, { ...asked, unlessTooMany: true });
      if (found.isWhole) return found;
    }
  }
  // Else the first of those that have the words are asked for the rest.
  return ask(db, byWords(q, filters), asked);
}

/** Adds a value to a statement's; answers what names it there. */
type Put = (value: unknown, type: string) => string;
type Direction = 'ASC' | 'DESC';

/** A way to the ids of tickets, in SQL: those that are looked at, one more than `mostLooked` at most, and those found. */
type Way = (put: Put, order: Direction) => { looked: string; mostLooked: number; found: string };

const byFilters =
  (filters: TicketFilters): Way =>
  (put) => ({ looked: 'SELECT 0 AS id WHERE false', mostLooked: 0, found: `SELECT id FROM ${matching(filters, put)}` });

const byWords =
  (q: string, filters: TicketFilters): Way =>
  (put, order) => ({
    looked: searchTexts(`'tickets'`, put(q, 'text'), order),
    mostLooked: mostFound,
    found: `SELECT id FROM ${matching(filters, put, ['looked'])}`,
  });

const byWordsAmong =
  (q: string, filters: TicketFilters): Way =>
  (put, order) => ({
    looked: `SELECT id, ordinal >> 15 AS place FROM ${matching(filters, put, ['tickets AS t'])}
      ORDER BY id ${order} LIMIT ${mostFound + 1}`,
    mostLooked: mostFound,
    found: havingWords(`'tickets'`, put(q, 'text')),
  });

interface Asked extends TicketRange {
  /** How many are counted. */
  most: number;
  /** Whether nothing is to be found where more would have to be looked at than may be. */
  unlessTooMany?: boolean;
}

/** @returns also whether all were looked at that may match */
async function ask(
  db: TenantClient,
  way: Way,
  { skip, take, sort, most, unlessTooMany = false }: Asked,
): Promise<TicketPage & { isWhole: boolean }> {
  const values: unknown[] = [db.$tenantId, Math.min(skip, most), take];
  const order = sort === 'id' ? 'ASC' : 'DESC';
  const { looked, mostLooked, found } = way((value, type) => `$${values.push(value)}::${type}`, order);
  const where = unlessTooMany ? `WHERE (SELECT count(*) FROM looked) <= ${mostLooked}` : '';
  const text = `WITH looked AS MATERIALIZED (${looked}), found AS MATERIALIZED (
      SELECT id FROM (${found}) AS matching ${where} ORDER BY id ${order} LIMIT ${most + 1}
    ), page AS (
      SELECT id FROM (SELECT id FROM found ORDER BY id ${order} LIMIT ${most}) AS counted
      ORDER BY id ${order} LIMIT $3::int OFFSET $2::int
    )
    SELECT (SELECT count(*) FROM found)::int AS count, (SELECT count(*) FROM looked)::int AS looked,
      (SELECT json_agg(ticket) FROM (
        SELECT ${columns} FROM page JOIN tickets t ON t.tenant_id = $1 AND t.id = page.id ORDER BY t.id ${order}
      ) AS ticket) AS tickets`;
  type Row = { count: number; looked: number; tickets: TicketRow[] | null };
  const [row] = await refusingTooBroad(() => selectPlanned<Row>(db, { text, values }));
  if (row === undefined) throw new Error('Nothing was counted.');
  const isWhole = row.looked <= mostLooked;
  const isCapped = row.count > most || !isWhole;
  return { rows: row.tickets ?? [], totalCount: Math.min(row.count, most), isCapped, isWhole };
}

/** What stands behind FROM for the filters, but for `q`; every id of the others is a ticket's. */
function matching(filters: TicketFilters, put: Put, among: string[] = []): string {
  const { watcherUserId } = filters;
  const conditions = conditionsOf(filters, put);
  const [first, ...others] = new Set([
    ...among,
    ...(watcherUserId === undefined ? [] : [`(${watchedBy(watcherUserId, put)}) AS watched`]),
    ...(conditions.length === 0 ? [] : ['tickets AS t']),
  ]);
  const sources = [first, ...others.map((source) => `${source} USING (id)`)].join(' JOIN ');
  const tenant = sources.includes('tickets AS t') ? ['t.tenant_id = $1'] : [];
  const where = [...tenant, ...conditions];
  return where.length === 0 ? sources : `${sources} WHERE ${where.join(' AND ')}`;
}

/** What is asked of the tickets themselves. */
function conditionsOf(filters: TicketFilters, put: Put): string[] {
  const { assigneeId, unassigned, requesterId, parentId, createdSince, createdBefore } = filters;
  const assigned = anyOf('t.assignee_id', assigneeId, 'bigint', put);
  return [
    ...(unassigned ? [`(${['t.assignee_id IS NULL', ...assigned].join(' OR ')})`] : assigned),
    ...filterNames
      .filter((name) => name !== 'assigneeId')
      .flatMap((name) => anyOf(`t.${filterColumns[name].column}`, filters[name], filterColumns[name].type, put)),
    ...anyOf('t.requester_id', requesterId, 'bigint', put),
    ...anyOf('t.parent_id', parentId, 'bigint', put),
    ...(createdSince === undefined ? [] : [`t.created_at >= ${put(createdSince, 'timestamptz')}`]),
    ...(createdBefore === undefined ? [] : [`t.created_at < ${put(createdBefore, 'timestamptz')}`]),
  ];
}

/** Of one value an index gives the tickets in their order. */
function anyOf(column: string, values: readonly (string | number)[] | undefined, type: string, put: Put): string[] {
  if (values === undefined) return [];
  const [value, ...others] = new Set(values);
  return [others.length === 0 ? `${column} = ${put(value, type)}` : `${column} = ANY (${put(values, `${type}[]`)})`];
}

function watchedBy(users: number[], put: Put): string {
  const where = ['tenant_id = $1', ...anyOf('user_id', users, 'bigint', put)].join(' AND ');
  return `SELECT ${new Set(users).size > 1 ? 'DISTINCT' : ''} ticket_id AS id FROM ticket_watchers WHERE ${where}`;
}
