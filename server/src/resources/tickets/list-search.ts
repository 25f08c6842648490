import type { TicketQuery } from '@itsm-api/contract';
import { Prisma } from '../../../generated/prisma/client.ts';
import { queryWithCustomPlan } from '../../database/client/raw-sql.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { maxCounted } from '../shared/lists.ts';
import { maxFound, searchTexts, whereWords } from '../shared/search.ts';
import { type CountedFilters, filterColumns, filterNames, type TicketPage, type TicketRange } from './list-counted.ts';
import { columns, type TicketRow } from './sql.ts';

/*
 * Pages of tickets by what no counter holds: the ids that match are gathered, up to a number at which counting ends.
 * PostgreSQL plans each statement for its very values, since they decide which index leads to the fewest rows
 * (docs/decisions/full-text-search.md).
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
  if (q === undefined) return ask(db, byFilters(db, filters), range, maxCounted);
  const order = directions[range.sort];
  const isNarrowed = Object.values(others).some((asked) => asked !== undefined && asked !== false);
  return ask(db, isNarrowed ? byBoth(db, q, filters, order) : byWords(q, order), range, maxFound);
}

const directions = { id: 'ASC', '-id': 'DESC' } as const;
type Direction = (typeof directions)[TicketQuery['sort']];

/** A way to the ids of tickets. */
interface Way {
  /** The CTEs that are gathered first, with a comma behind each. */
  gathered: Prisma.Sql;
  /** Selects the ids. */
  found: Prisma.Sql;
  /** Whether that is all there are. */
  isWhole: Prisma.Sql;
}

const { empty, join, raw, sql } = Prisma;
const all = sql`true`;

function byFilters(db: TenantClient, filters: TicketFilters): Way {
  return { gathered: empty, found: sql`SELECT id FROM ${matching(db, filters)}`, isWhole: all };
}

function byWords(q: string, order: Direction): Way {
  return { gathered: empty, found: searchTexts('tickets', q, order), isWhole: all };
}

/**
 * Those that have the words, or those that are the rest, are few enough to be all asked for the other; else the first of
 * those that have the words are asked for the rest. What turns out not to be needed PostgreSQL doesn't begin.
 */
function byBoth(db: TenantClient, q: string, filters: TicketFilters, order: Direction): Way {
  const few = (name: string) => sql`(SELECT count(*) FROM ${raw(name)}) <= ${maxFound}`;
  const [fewWorded, fewRest] = [few('worded'), few('rest')];
  const amongWorded = matching(db, filters, { among: 'worded', condition: sql`(${fewWorded} OR NOT ${fewRest})` });
  return {
    gathered: sql`worded AS MATERIALIZED (${searchTexts('tickets', q, order)}),
      rest AS MATERIALIZED (
        SELECT id FROM ${matching(db, filters, { condition: sql`NOT ${fewWorded}` })}
        ORDER BY id ${raw(order)} LIMIT ${maxFound + 1}
      ),
      among AS MATERIALIZED (
        SELECT id, width_bucket(id, firsts) - 1 AS place FROM rest, (${firstOfEachPlace(db)}) AS places
        WHERE NOT ${fewWorded} AND ${fewRest}
      ),`,
    found: sql`SELECT id FROM ${amongWorded} UNION ALL ${whereWords(db, 'tickets', q)}`,
    isWhole: fewRest,
  };
}

/** Where each place of words begins: its first id, since ids are in the order of ordinals. */
function firstOfEachPlace({ $tenantId }: TenantClient): Prisma.Sql {
  return sql`SELECT array_agg(first.id ORDER BY place) AS firsts
    FROM ticket_sequences AS s, generate_series(0, s.total >> 15) AS place, LATERAL (
      SELECT id FROM tickets WHERE tenant_id = ${$tenantId} AND ordinal >= place << 15 ORDER BY ordinal LIMIT 1
    ) AS first WHERE s.tenant_id = ${$tenantId}`;
}

/** @param most how many are counted */
async function ask(
  db: TenantClient,
  { gathered, found, isWhole }: Way,
  { skip, take, sort }: TicketRange,
  most: number,
): Promise<TicketPage> {
  const order = raw(directions[sort]);
  const statement = sql`WITH ${gathered} found AS MATERIALIZED (
      SELECT id FROM (${found}) AS matching ORDER BY id ${order} LIMIT ${most + 1}
    ), page AS (
      SELECT id FROM (SELECT id FROM found ORDER BY id ${order} LIMIT ${most}) AS counted
      ORDER BY id ${order} LIMIT ${take} OFFSET ${Math.min(skip, most)}
    )
    SELECT (SELECT count(*) FROM found)::int AS count, ${isWhole} AS "isWhole",
      (SELECT json_agg(ticket) FROM (
        SELECT ${raw(columns)} FROM page JOIN tickets t ON t.tenant_id = ${db.$tenantId} AND t.id = page.id
        ORDER BY t.id ${order}
      ) AS ticket) AS tickets`;
  type Row = { count: number; isWhole: boolean; tickets: TicketRow[] | null };
  const [row] = await queryWithCustomPlan<Row>(db, statement);
  if (row === undefined) throw new Error('Nothing was counted.');
  const { count, tickets } = row;
  return { rows: tickets ?? [], totalCount: Math.min(count, most), isCapped: count > most || !row.isWhole };
}

/**
 * What stands behind FROM for the filters, but for `q`.
 * @param also the CTE that the ids are among, all of them tickets', and what else has to hold
 */
function matching(
  db: TenantClient,
  filters: TicketFilters,
  also: { among?: string; condition?: Prisma.Sql } = {},
): Prisma.Sql {
  const { watcherUserId } = filters;
  const ofTickets = conditionsOf(filters);
  const [first, ...others] = [
    ...(also.among === undefined ? [] : [raw(also.among)]),
    ...(watcherUserId === undefined ? [] : [sql`(${watchedBy(db, watcherUserId)}) AS watched`]),
    ...(ofTickets.length === 0 ? [] : [sql`tickets AS t`]),
  ];
  const sources = join([first, ...others.map((source) => sql`${source} USING (id)`)], ' JOIN ');
  const where = [
    ...(ofTickets.length === 0 ? [] : [sql`t.tenant_id = ${db.$tenantId}`]),
    ...ofTickets,
    ...(also.condition === undefined ? [] : [also.condition]),
  ];
  return where.length === 0 ? sources : sql`${sources} WHERE ${join(where, ' AND ')}`;
}

/** What is asked of the tickets themselves. */
function conditionsOf(filters: TicketFilters): Prisma.Sql[] {
  const { assigneeId, unassigned, requesterId, parentId, createdSince, createdBefore } = filters;
  const assigned = anyOf('t.assignee_id', assigneeId, 'bigint');
  return [
    ...(unassigned ? [sql`(${join([sql`t.assignee_id IS NULL`, ...assigned], ' OR ')})`] : assigned),
    ...filterNames
      .filter((name) => name !== 'assigneeId')
      .flatMap((name) => anyOf(`t.${filterColumns[name].column}`, filters[name], filterColumns[name].type)),
    ...anyOf('t.requester_id', requesterId, 'bigint'),
    ...anyOf('t.parent_id', parentId, 'bigint'),
    ...(createdSince === undefined ? [] : [sql`t.created_at >= ${createdSince}::timestamptz`]),
    ...(createdBefore === undefined ? [] : [sql`t.created_at < ${createdBefore}::timestamptz`]),
  ];
}

/** Of one value an index gives the tickets in their order. */
function anyOf(column: string, values: readonly (string | number)[] | undefined, type: string): Prisma.Sql[] {
  if (values === undefined) return [];
  const [value, ...others] = new Set(values);
  const compared = others.length === 0 ? sql`${value}::${raw(type)}` : sql`ANY (${values}::${raw(type)}[])`;
  return [sql`${raw(column)} = ${compared}`];
}

function watchedBy({ $tenantId }: TenantClient, users: number[]): Prisma.Sql {
  const where = join([sql`tenant_id = ${$tenantId}`, ...anyOf('user_id', users, 'bigint')], ' AND ');
  // A ticket comes once for each of several users.
  const distinct = raw(new Set(users).size > 1 ? 'DISTINCT' : '');
  return sql`SELECT ${distinct} ticket_id AS id FROM ticket_watchers WHERE ${where}`;
}
