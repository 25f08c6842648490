import { isUnresolved, type TicketQuery, unresolvedStatuses } from '@itsm-api/contract';
import { empty, identifier, join, type Sql, sql, tenant } from '../../database/client/sql.ts';
import { dynamic } from '../../database/client/statements.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import type { FieldFilter } from '../custom-fields/filters.ts';
import { maxCounted } from '../shared/lists.ts';
import { filterByWords, maxFound, searchTexts } from '../shared/search.ts';
import { ticketValues } from './columns.ts';
import { type CountedFilters, filterColumns, filterNames, type TicketPage, type TicketRange } from './list-counted.ts';
import { type TicketValues, toTicketRow } from './sql.ts';

/*
 * Reads pages of tickets if at least one filter has no counters. Collects the matching ids and counts them up to a
 * limit. PostgreSQL plans each statement for the given filter values, because the best index depends on them
 * (docs/decisions/full-text-search.md).
 */

/** All filters of the ticket list. */
export interface TicketFilters
  extends CountedFilters,
    Pick<TicketQuery, Exclude<(typeof uncounted)[number], 'teamId' | 'customFields'>> {
  teamId: number[] | undefined;
  /** Whether to include unassigned tickets, in addition to tickets that match `assigneeId`. */
  unassigned: boolean;
  /** Whether to include tickets without a team, in addition to tickets that match `teamId`. */
  withoutTeam: boolean;
  customFields: FieldFilter[] | undefined;
}

const uncounted = [
  'teamId',
  'requesterId',
  'parentId',
  'watcherUserId',
  'externalId',
  'categoryConfigId',
  'assetId',
  'tag',
  'customFields',
  'createdSince',
  'createdBefore',
  'dueSince',
  'dueBefore',
  'plannedSince',
  'plannedBefore',
  'approvalStatus',
  'overdue',
  'q',
] as const;

/** Returns true if there are counters for all filters. In this case, the total is exact. */
export function isCounted(filters: TicketFilters): boolean {
  return !filters.unassigned && !filters.withoutTeam && uncounted.every((name) => filters[name] === undefined);
}

/**
 * Returns one page of the tickets that match the filters. Also returns the number of matching tickets, which is counted
 * only up to a limit.
 */
export async function findTickets(db: TenantClient, filters: TicketFilters, range: TicketRange): Promise<TicketPage> {
  const { q, ...others } = filters;
  if (q === undefined) return runIdQuery(db, buildByFilters(filters), range, maxCounted);
  const order = directions[range.sort];
  const isNarrowed = Object.values(others).some((value) => value !== undefined && value !== false);
  return runIdQuery(db, isNarrowed ? buildCombined(q, filters, order) : buildByWords(q, order), range, maxFound);
}

const directions = { id: 'ASC', '-id': 'DESC' } as const;
const orders = { ASC: sql`ASC`, DESC: sql`DESC` };
type Direction = (typeof directions)[TicketQuery['sort']];

/** The parts of a statement that finds the ids of matching tickets. */
interface IdQuery {
  /** The CTEs that `found` and `isComplete` use. A comma follows each CTE. */
  ctes: Sql;
  /** The SELECT statement for the ids. */
  found: Sql;
  /** The SQL condition that is true if `found` selects all matching ids. */
  isComplete: Sql;
  /**
   * Whether an index on a time finds the tickets. The query then counts the ids without sorting them, because a sort of
   * 100,000 ids takes as long as the rest of the query.
   */
  isByTime?: boolean;
}

const all = sql`true`;

function buildByFilters(filters: TicketFilters): IdQuery {
  const { createdSince, createdBefore, dueSince, dueBefore, plannedSince, plannedBefore, overdue } = filters;
  const times = [createdSince, createdBefore, dueSince, dueBefore, plannedSince, plannedBefore, overdue];
  const isByTime = times.some((time) => time !== undefined);
  return { ctes: empty, found: sql`SELECT id FROM ${matching(filters)}`, isComplete: all, isByTime };
}

function buildByWords(q: string, order: Direction): IdQuery {
  return { ctes: empty, found: searchTexts('tickets', q, order), isComplete: all };
}

/**
 * Builds the query for words and filters. If at most `maxFound` rows match the words, the query applies the filters to
 * these rows. Otherwise, if at most `maxFound` rows match the filters, the query checks the words in these rows. If
 * more rows match in both cases, the query applies the filters only to the first `maxFound` rows that match the words,
 * so the result is incomplete. In each case, PostgreSQL evaluates only the CTEs that it needs.
 */
function buildCombined(q: string, filters: TicketFilters, order: Direction): IdQuery {
  const few = (name: string) => sql`(SELECT count(*) FROM ${identifier(name)}) <= ${maxFound}`;
  const [fewWorded, fewRest] = [few('worded'), few('rest')];
  const amongWorded = matching(filters, { among: 'worded', condition: sql`(${fewWorded} OR NOT ${fewRest})` });
  return {
    ctes: sql`worded AS MATERIALIZED (${searchTexts('tickets', q, order)}),
      rest AS MATERIALIZED (
        SELECT id FROM ${matching(filters, { condition: sql`NOT ${fewWorded}` })}
        ORDER BY id ${orders[order]} LIMIT ${maxFound + 1}
      ),
      among AS MATERIALIZED (
        SELECT id, width_bucket(id, firsts) - 1 AS place FROM rest, (${firstOfEachPlace}) AS places
        WHERE NOT ${fewWorded} AND ${fewRest}
      ),`,
    found: sql`SELECT id FROM ${amongWorded} UNION ALL ${filterByWords('tickets', q)}`,
    isComplete: fewRest,
  };
}

/**
 * SQL that selects the first ticket id in each partition of the search index. A partition contains a range of
 * ordinals, and ids have the same order as ordinals.
 */
const firstOfEachPlace = sql`SELECT array_agg(first.id ORDER BY place) AS firsts
    FROM ticket_sequences AS s, generate_series(0, s.total >> 15) AS place, LATERAL (
      SELECT id FROM tickets WHERE tenant_id = ${tenant} AND ordinal >= place << 15 ORDER BY ordinal LIMIT 1
    ) AS first WHERE s.tenant_id = ${tenant}`;

/**
 * Builds SQL that selects the ids of matching tickets, in any order, from `found` if it contains all of them.
 * Otherwise, runs the query again, because the tickets in `found` aren't the first ones.
 */
function firstOf(found: Sql, max: number): Sql {
  return sql`(
      SELECT id FROM found WHERE (SELECT n FROM counted) <= ${max}
      UNION ALL SELECT id FROM (${found}) AS matching WHERE (SELECT n FROM counted) > ${max}
    ) AS matching`;
}

/** Runs the query and reads the tickets on the page. @param max the maximum number of matching rows to count */
async function runIdQuery(
  db: TenantClient,
  { ctes, found, isComplete, isByTime = false }: IdQuery,
  { skip, take, sort }: TicketRange,
  max: number,
): Promise<TicketPage> {
  const order = orders[directions[sort]];
  const remaining = Math.max(0, max - skip);
  type Row = { count: number; isComplete: boolean; tickets: TicketValues[] | null };
  const statement = dynamic<Row>(
    ({ tenant }) => sql`WITH ${ctes} found AS MATERIALIZED (
      SELECT id FROM (${found}) AS matching ${isByTime ? empty : sql`ORDER BY id ${order}`} LIMIT ${max + 1}
    ), counted AS MATERIALIZED (
      SELECT count(*)::int AS n FROM found
    ), page AS (
      SELECT id FROM ${isByTime ? firstOf(found, max) : sql`found`}
      ORDER BY id ${order} LIMIT ${Math.min(take, remaining)} OFFSET ${Math.min(skip, max)}
    )
    SELECT (SELECT n FROM counted) AS count, ${isComplete} AS "isComplete",
      (SELECT json_agg(ticket) FROM (
        SELECT ${ticketValues} AS ticket FROM page JOIN tickets t ON t.tenant_id = ${tenant} AND t.id = page.id
        ORDER BY t.id ${order}
      ) AS page) AS tickets`,
  );
  const [row] = await db.$sql(statement);
  if (row === undefined) throw new Error('The count returned no row.');
  const { count, tickets } = row;
  return {
    rows: (tickets ?? []).map(toTicketRow),
    totalCount: Math.min(count, max),
    isCapped: count > max || !row.isComplete,
  };
}

/**
 * Builds the FROM and WHERE clauses for all filters except `q`.
 * @param also `among` is the name of a CTE with the ticket ids to filter, and `condition` is an additional condition
 */
function matching(filters: TicketFilters, also: { among?: string; condition?: Sql } = {}): Sql {
  const { watcherUserId, assetId, tag, customFields, status } = filters;
  // The tables of assets, tags and custom fields contain the status, so the filters by one of them and status need no
  // join.
  const hasStatus = assetId !== undefined || tag !== undefined || customFields !== undefined;
  const ofTickets = buildConditions(hasStatus ? { ...filters, status: undefined } : filters);
  const ofStatus = anyOf('status', status, sql`text`);
  const [first, ...others] = [
    ...(also.among === undefined ? [] : [identifier(also.among)]),
    ...selectJoined('ticket_watchers', { column: 'user_id', type: sql`bigint` }, watcherUserId),
    ...selectJoined('ticket_assets', { column: 'asset_id', type: sql`bigint` }, assetId, { also: ofStatus }),
    ...selectJoined('tagged_tickets', { column: 'tag', type: sql`text` }, tag, { also: ofStatus }),
    ...(customFields ?? []).flatMap(({ key, values }, index) =>
      selectJoined('ticket_field_values', { column: 'value', type: sql`text` }, values, {
        also: [sql`key = ${key}`, ...ofStatus],
        alias: `field_${index}`,
      }),
    ),
    ...(ofTickets.length === 0 ? [] : [sql`tickets AS t`]),
  ];
  const sources = join([first, ...others.map((source) => sql`${source} USING (id)`)], ' JOIN ');
  const where = [
    ...(ofTickets.length === 0 ? [] : [sql`t.tenant_id = ${tenant}`]),
    ...ofTickets,
    ...(also.condition === undefined ? [] : [also.condition]),
  ];
  return where.length === 0 ? sources : sql`${sources} WHERE ${join(where, ' AND ')}`;
}

/** Returns the SQL conditions on columns of the table `tickets`. */
function buildConditions(filters: TicketFilters): Sql[] {
  const {
    assigneeId,
    unassigned,
    teamId,
    withoutTeam,
    requesterId,
    parentId,
    externalId,
    categoryConfigId,
    approvalStatus,
    createdSince,
    createdBefore,
  } = filters;
  const { dueSince, dueBefore, plannedSince, plannedBefore, overdue, status = unresolvedStatuses } = filters;
  // The partial index for overdue tickets contains only these statuses.
  const values = overdue ? { ...filters, status: status.filter(isUnresolved) } : filters;
  return [
    ...anyOfOrNone('t.assignee_id', assigneeId, unassigned),
    ...anyOfOrNone('t.team_id', teamId, withoutTeam),
    ...filterNames
      .filter((name) => name !== 'assigneeId')
      .flatMap((name) => anyOf(`t.${filterColumns[name].column}`, values[name], filterColumns[name].type)),
    ...anyOf('t.requester_id', requesterId, sql`bigint`),
    ...anyOf('t.parent_id', parentId, sql`bigint`),
    ...anyOf('t.external_id', externalId, sql`text`),
    ...anyOf('t.category_config_id', categoryConfigId, sql`text`),
    ...anyOf('t.approval_status', approvalStatus, sql`text`),
    ...(createdSince === undefined ? [] : [sql`t.created_at >= ${createdSince}::timestamptz`]),
    ...(createdBefore === undefined ? [] : [sql`t.created_at < ${createdBefore}::timestamptz`]),
    ...(dueSince === undefined ? [] : [sql`t.due_at >= ${dueSince}::timestamptz`]),
    ...(dueBefore === undefined ? [] : [sql`t.due_at < ${dueBefore}::timestamptz`]),
    ...(plannedSince === undefined ? [] : [sql`t.planned_end_at > ${plannedSince}::timestamptz`]),
    // The partial index contains only tickets with a window.
    ...(plannedBefore === undefined
      ? []
      : [sql`t.planned_end_at IS NOT NULL AND t.planned_start_at < ${plannedBefore}::timestamptz`]),
    ...(overdue ? [sql`t.due_at < now()`] : []),
  ];
}

/**
 * Builds the SQL condition for a filter. For a single value, uses `=`, so that an index scan returns the tickets in
 * order.
 */
function anyOf(column: string, values: readonly (string | number)[] | undefined, type: Sql): Sql[] {
  if (values === undefined) return [];
  const { size } = new Set(values);
  const compared = size === 1 ? sql`${values[0]}::${type}` : sql`ANY (${values}::${type}[])`;
  return [sql`${identifier(column)} = ${compared}`];
}

/** Builds the SQL condition for a filter by ids. @param isNone whether rows without an id also match */
function anyOfOrNone(column: string, ids: readonly number[] | undefined, isNone: boolean): Sql[] {
  const conditions = anyOf(column, ids, sql`bigint`);
  return isNone ? [sql`(${join([sql`${identifier(column)} IS NULL`, ...conditions], ' OR ')})`] : conditions;
}

/**
 * Builds the FROM item with the ids of the tickets that a join table connects with one of the values. Returns an empty
 * list if the query doesn't filter by these values.
 */
function selectJoined(
  table: string,
  { column, type }: { column: string; type: Sql },
  values: readonly (string | number)[] | undefined,
  { also = [], alias = table }: { also?: Sql[]; alias?: string } = {},
): Sql[] {
  if (values === undefined) return [];
  const where = join([sql`tenant_id = ${tenant}`, ...anyOf(column, values, type), ...also], ' AND ');
  // Without DISTINCT, a ticket would have one row for each matching value.
  const distinct = new Set(values).size > 1 ? sql`DISTINCT` : empty;
  return [sql`(SELECT ${distinct} ticket_id AS id FROM ${identifier(table)} WHERE ${where}) AS ${identifier(alias)}`];
}
