import type { TicketQuery } from '@itsm-api/contract';
import { type Statement, selectPlanned } from '../../database/statements.ts';
import type { TenantClient } from '../../database/tenant-client.ts';
import { mostFound, refusingTooBroad, searchTexts } from '../search.ts';
import { type CountedFilters, filterColumns, filterNames, type TicketPage, type TicketRange } from './pages.ts';
import { columns, type TicketRow } from './sql.ts';

/*
 * Pages of tickets by what no counter holds: the ids that match are gathered, up to a number at which counting ends.
 * PostgreSQL plans each statement for its very values, since they decide which index leads to the fewest rows
 * (docs/decisions/search.md).
 */

/** What tickets may be found by. */
export interface TicketFilters extends CountedFilters, Pick<TicketQuery, (typeof uncounted)[number]> {
  /** Whether those that nobody is assigned to are asked for, beside those of `assigneeId`. */
  unassigned: boolean;
}

const uncounted = ['requesterId', 'parentId', 'watcherUserId', 'createdSince', 'createdBefore', 'q'] as const;

/** Whether the totals tell how many tickets the filters match. */
export function isCounted(filters: TicketFilters): boolean {
  return !filters.unassigned && uncounted.every((name) => filters[name] === undefined);
}

/** How many tickets are counted at most. */
const mostCounted = 100_000;

/**
 * Some of the tickets that the filters match, and how many there are in all, as far as they are counted.
 * @throws ApiError QUERY_TOO_BROAD
 */
export async function findTickets(db: TenantClient, filters: TicketFilters, range: TicketRange): Promise<TicketPage> {
  const most = filters.q === undefined ? mostCounted : mostFound;
  type Found = { count: number; words: number; tickets: TicketRow[] | null };
  const statement = statementOf(db, filters, { ...range, most });
  const [found] = await refusingTooBroad(() => selectPlanned<Found>(db, statement));
  const { count = 0, words = 0, tickets } = found ?? {};
  return { rows: tickets ?? [], totalCount: Math.min(count, most), isCapped: Math.max(count, words) > most };
}

/** Adds a value to a statement's; answers what names it there. */
type Put = (value: unknown, type: string) => string;

function statementOf(
  db: TenantClient,
  filters: TicketFilters,
  { skip, take, sort, most }: TicketRange & { most: number },
): Statement {
  const { q, watcherUserId } = filters;
  const values: unknown[] = [db.$tenantId, Math.min(skip, most), take];
  const put: Put = (value, type) => `$${values.push(value)}::${type}`;
  const order = sort === 'id' ? 'ASC' : 'DESC';
  const conditions = conditionsOf(filters, put);
  const sources = [
    ...(q === undefined ? [] : ['words']),
    ...(watcherUserId === undefined ? [] : [`(${watchedBy(watcherUserId, put)}) AS watched`]),
    // Every id of the others is a ticket's.
    ...(conditions.length === 0 ? [] : ['tickets AS t']),
  ];
  const [first, ...others] = sources;
  const where = conditions.length === 0 ? '' : `WHERE ${['t.tenant_id = $1', ...conditions].join(' AND ')}`;
  const words = q === undefined ? 'SELECT 0 AS id WHERE false' : searchTexts(`'tickets'`, put(q, 'text'), order);
  const text = `WITH words AS MATERIALIZED (${words}), found AS MATERIALIZED (
      SELECT id FROM ${[first, ...others.map((source) => `${source} USING (id)`)].join(' JOIN ')} ${where}
      ORDER BY id ${order} LIMIT ${most + 1}
    ), page AS (
      SELECT id FROM (SELECT id FROM found ORDER BY id ${order} LIMIT ${most}) AS counted
      ORDER BY id ${order} LIMIT $3::int OFFSET $2::int
    )
    SELECT (SELECT count(*) FROM found)::int AS count, (SELECT count(*) FROM words)::int AS words,
      (SELECT json_agg(ticket) FROM (
        SELECT ${columns} FROM page JOIN tickets t ON t.tenant_id = $1 AND t.id = page.id ORDER BY t.id ${order}
      ) AS ticket) AS tickets`;
  return { text, values };
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
