import type { TicketQuery } from '@itsm-api/contract';
import { selectPlanned } from '../../database/statements.ts';
import type { TenantClient } from '../../database/tenant-client.ts';
import { mostCounted } from '../lists.ts';
import { havingWords, mostFound, searchTexts } from '../search.ts';
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
 */
export async function findTickets(db: TenantClient, filters: TicketFilters, range: TicketRange): Promise<TicketPage> {
  const { q, ...others } = filters;
  if (q === undefined) return ask(db, byFilters(filters), range, mostCounted);
  const isNarrowed = Object.values(others).some((asked) => asked !== undefined && asked !== false);
  return ask(db, isNarrowed ? byBoth(q, filters) : byWords(q), range, mostFound);
}

/** Adds a value to a statement's; answers what names it there. */
type Put = (value: unknown, type: string) => string;
type Direction = 'ASC' | 'DESC';

/** A way to the ids of tickets, in SQL. */
type Way = (
  put: Put,
  order: Direction,
) => {
  /** What is gathered first: CTEs, by their names. */
  gathered: Record<string, string>;
  /** Selects the ids. */
  found: string;
  /** Whether that is all there are. */
  isWhole: string;
};

const byFilters =
  (filters: TicketFilters): Way =>
  (put) => ({ gathered: {}, found: `SELECT id FROM ${matching(filters, put)}`, isWhole: 'true' });

const byWords =
  (q: string): Way =>
  (put, order) => ({ gathered: {}, found: searchTexts(`'tickets'`, put(q, 'text'), order), isWhole: 'true' });

/**
 * Those that have the words, or those that are the rest, are few enough to be all asked for the other; else the first of
 * those that have the words are asked for the rest. What turns out not to be needed PostgreSQL doesn't begin.
 */
const byBoth =
  (q: string, filters: TicketFilters): Way =>
  (put, order) => {
    const words = put(q, 'text');
    const few = (name: string) => `(SELECT count(*) FROM ${name}) <= ${mostFound}`;
    return {
      gathered: {
        worded: searchTexts(`'tickets'`, words, order),
        rest: `SELECT id FROM ${matching(filters, put, { conditions: [`NOT ${few('worded')}`] })}
          ORDER BY id ${order} LIMIT ${mostFound + 1}`,
        placed: `SELECT id, width_bucket(id, firsts) - 1 AS place FROM rest, (${firstOfEachPlace}) AS places
          WHERE NOT ${few('worded')} AND ${few('rest')}`,
      },
      found: `SELECT id FROM ${matching(filters, put, {
        among: ['worded'],
        conditions: [`(${few('worded')} OR NOT ${few('rest')})`],
      })} UNION ALL ${havingWords('placed', `'tickets'`, words)}`,
      isWhole: few('rest'),
    };
  };

/** Where each place of words begins: its first id, since ids are in the order of ordinals. */
const firstOfEachPlace = `SELECT array_agg(first.id ORDER BY place) AS firsts
  FROM ticket_sequences AS s, generate_series(0, s.total >> 15) AS place, LATERAL (
    SELECT id FROM tickets WHERE tenant_id = $1 AND ordinal >= place << 15 ORDER BY ordinal LIMIT 1
  ) AS first WHERE s.tenant_id = $1`;

/** @param most how many are counted */
async function ask(db: TenantClient, way: Way, { skip, take, sort }: TicketRange, most: number): Promise<TicketPage> {
  const values: unknown[] = [db.$tenantId, Math.min(skip, most), take];
  const order = sort === 'id' ? 'ASC' : 'DESC';
  const { gathered, found, isWhole } = way((value, type) => `$${values.push(value)}::${type}`, order);
  const before = Object.entries(gathered).map(([name, select]) => `${name} AS MATERIALIZED (${select}),`);
  const text = `WITH ${before.join('\n')} found AS MATERIALIZED (
      SELECT id FROM (${found}) AS matching ORDER BY id ${order} LIMIT ${most + 1}
    ), page AS (
      SELECT id FROM (SELECT id FROM found ORDER BY id ${order} LIMIT ${most}) AS counted
      ORDER BY id ${order} LIMIT $3::int OFFSET $2::int
    )
    SELECT (SELECT count(*) FROM found)::int AS count, ${isWhole} AS "isWhole",
      (SELECT json_agg(ticket) FROM (
        SELECT ${columns} FROM page JOIN tickets t ON t.tenant_id = $1 AND t.id = page.id ORDER BY t.id ${order}
      ) AS ticket) AS tickets`;
  type Row = { count: number; isWhole: boolean; tickets: TicketRow[] | null };
  const [row] = await selectPlanned<Row>(db, { text, values });
  if (row === undefined) throw new Error('Nothing was counted.');
  const { count, tickets } = row;
  return { rows: tickets ?? [], totalCount: Math.min(count, most), isCapped: count > most || !row.isWhole };
}

/**
 * What stands behind FROM for the filters, but for `q`.
 * @param also what else the ids are among, all of them tickets', and what else has to hold
 */
function matching(filters: TicketFilters, put: Put, also: { among?: string[]; conditions?: string[] } = {}): string {
  const { watcherUserId } = filters;
  const ofTickets = conditionsOf(filters, put);
  const [first, ...others] = [
    ...(also.among ?? []),
    ...(watcherUserId === undefined ? [] : [`(${watchedBy(watcherUserId, put)}) AS watched`]),
    ...(ofTickets.length === 0 ? [] : ['tickets AS t']),
  ];
  const sources = [first, ...others.map((source) => `${source} USING (id)`)].join(' JOIN ');
  const where = [...(ofTickets.length === 0 ? [] : ['t.tenant_id = $1']), ...ofTickets, ...(also.conditions ?? [])];
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
