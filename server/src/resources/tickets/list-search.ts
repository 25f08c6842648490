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
  'formKey',
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
  'firstResponseOverdue',
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
  const order = directions[range.sort];
  if (q === undefined) return runIdQuery(db, buildByFilters(filters, order), range, maxCounted);
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
}

const all = sql`true`;

function buildByFilters(filters: TicketFilters, order: Direction): IdQuery {
  return { ctes: empty, found: sql`SELECT id FROM ${matching(filters, order)}`, isComplete: all };
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
  const amongWorded = matching(filters, order, { among: 'worded', condition: sql`(${fewWorded} OR NOT ${fewRest})` });
  return {
    ctes: sql`worded AS MATERIALIZED (${searchTexts('tickets', q, order)}),
      rest AS MATERIALIZED (
        SELECT id FROM ${matching(filters, order, { condition: sql`NOT ${fewWorded}` })} LIMIT ${maxFound + 1}
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
 * Settings of PostgreSQL's planner. Tickets with similar ids are on the same disk pages. Without `random_page_cost`,
 * PostgreSQL assumes a random read for each ticket, and reads the table of all tenants instead of an index. It also
 * underestimates the number of tickets that match several filters. It would hash all tickets that match each filter,
 * with several processes, instead of merging them in the order of ids up to the limit.
 */
const settings = {
  random_page_cost: '1.1',
  enable_hashagg: 'off',
  enable_hashjoin: 'off',
  max_parallel_workers_per_gather: '0',
};

/** Runs the query and reads the tickets on the page. @param max the maximum number of matching rows to count */
async function runIdQuery(
  db: TenantClient,
  { ctes, found, isComplete }: IdQuery,
  { skip, take, sort }: TicketRange,
  max: number,
): Promise<TicketPage> {
  const order = orders[directions[sort]];
  const remaining = Math.max(0, max - skip);
  // The array makes PostgreSQL look up the tickets by id. If its statistics are older than an import, it assumes that the
  // tenant has few tickets. A join would then compute the page again for each of them.
  type Row = { count: number; isComplete: boolean; tickets: TicketValues[] | null };
  const statement = dynamic<Row>(
    () => sql`WITH ${ctes} found AS MATERIALIZED (
      SELECT id FROM (${found}) AS matching ORDER BY id ${order} LIMIT ${max + 1}
    ), page AS (
      SELECT id FROM found ORDER BY id ${order} LIMIT ${Math.min(take, remaining)} OFFSET ${Math.min(skip, max)}
    )
    SELECT (SELECT count(*) FROM found)::int AS count, ${isComplete} AS "isComplete",
      (SELECT json_agg(ticket) FROM (
        SELECT ${ticketValues} AS ticket FROM tickets t
        WHERE t.tenant_id = ${tenant} AND t.id = ANY (ARRAY(SELECT id FROM page)) ORDER BY t.id ${order}
      ) AS page) AS tickets`,
    settings,
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
function matching(
  filters: TicketFilters,
  order: Direction,
  { among, condition }: { among?: string; condition?: Sql } = {},
): Sql {
  const { ofTickets, joined } = toConditions(filters);
  const sources = [
    ...(among === undefined ? [] : [identifier(among)]),
    ...(ofTickets.length === 0
      ? []
      : [sql`(SELECT id FROM tickets t WHERE ${join([sql`t.tenant_id = ${tenant}`, ...ofTickets], ' AND ')})`]),
  ];
  const [first, ...others] = [
    ...sources,
    // Without DISTINCT, a ticket would have one row for each matching value. IN ignores the other rows, and doesn't make
    // PostgreSQL read all of them first.
    ...joined.map(({ rows, ofEachValue }, index) =>
      ofEachValue.length > 1 && sources.length + index === 0
        ? sql`(SELECT DISTINCT id FROM (${mergeValues(rows, ofEachValue, order)}) AS rows ORDER BY id ${orders[order]})`
        : sql`(${rows})`,
    ),
  ] as [Sql, ...Sql[]];
  const where = [...others.map((ids) => sql`id IN ${ids}`), ...(condition === undefined ? [] : [condition])];
  return where.length === 0 ? sql`${first} AS first` : sql`${first} AS first WHERE ${join(where, ' AND ')}`;
}

/** The ids of the tickets that a join table connects with one of the values of a filter. */
interface Joined {
  /** The SELECT statement for the ids. If the filter has several values, a ticket can have several rows. */
  rows: Sql;
  /** A SELECT statement for the ids of each value. */
  ofEachValue: Sql[];
}

/** The maximum number of values whose rows PostgreSQL merges in the order of ids. More values would take long to plan. */
const maxMerged = 10;

/** Selects the rows of all values. An index contains the rows of one value in the order of ids. */
function mergeValues(rows: Sql, ofEachValue: Sql[], order: Direction): Sql {
  if (ofEachValue.length > maxMerged) return rows;
  return join(
    ofEachValue.map((ids) => sql`(${ids} ORDER BY ticket_id ${orders[order]})`),
    ' UNION ALL ',
  );
}

/** Returns the conditions on columns of the table `tickets`, and the ids for each filter by a join table. */
function toConditions(filters: TicketFilters): { ofTickets: Sql[]; joined: Joined[] } {
  const { watcherUserId, assetId, tag, customFields, status } = filters;
  // The tables of assets, tags and custom fields contain the status, so the filters by one of them and status don't need
  // the table of tickets.
  const hasStatus = assetId !== undefined || tag !== undefined || customFields !== undefined;
  const ofStatus = anyOf('status', status, sql`text`);
  const joined = [
    ...selectJoined('ticket_watchers', { column: 'user_id', type: sql`bigint` }, watcherUserId),
    ...selectJoined('ticket_assets', { column: 'asset_id', type: sql`bigint` }, assetId, ofStatus),
    ...selectJoined('tagged_tickets', { column: 'tag', type: sql`text` }, tag, ofStatus),
    ...(customFields ?? []).flatMap(({ key, values }) =>
      selectJoined('ticket_field_values', { column: 'value', type: sql`text` }, values, [
        sql`key = ${key}`,
        ...ofStatus,
      ]),
    ),
  ];
  return { ofTickets: buildConditions(hasStatus ? { ...filters, status: undefined } : filters), joined };
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
    formKey,
    approvalStatus,
    overdue,
    firstResponseOverdue,
    status = unresolvedStatuses,
  } = filters;
  // The partial indexes for overdue tickets contain only these statuses.
  const values = overdue || firstResponseOverdue ? { ...filters, status: status.filter(isUnresolved) } : filters;
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
    ...anyOf('t.form_key', formKey, sql`text`),
    ...anyOf('t.approval_status', approvalStatus, sql`text`),
    ...timeFilters.flatMap(({ name, column, operator }) => compareTime(column, operator, filters[name])),
    // The partial index contains only tickets with a window.
    ...(filters.plannedBefore === undefined ? [] : [sql`t.planned_end_at IS NOT NULL`]),
    ...(overdue ? [sql`t.due_at < now() AND (t.paused_since IS NULL OR t.due_at < t.paused_since)`] : []),
    ...(firstResponseOverdue ? [sql`t.first_response_due_at < now() AND t.first_responded_at IS NULL`] : []),
  ];
}

/** The filters by a time. */
const timeFilters = [
  { name: 'createdSince', column: sql`t.created_at`, operator: sql`>=` },
  { name: 'createdBefore', column: sql`t.created_at`, operator: sql`<` },
  { name: 'dueSince', column: sql`t.due_at`, operator: sql`>=` },
  { name: 'dueBefore', column: sql`t.due_at`, operator: sql`<` },
  { name: 'plannedSince', column: sql`t.planned_end_at`, operator: sql`>` },
  { name: 'plannedBefore', column: sql`t.planned_start_at`, operator: sql`<` },
] as const;

function compareTime(column: Sql, operator: Sql, time: string | undefined): Sql[] {
  return time === undefined ? [] : [sql`${column} ${operator} ${time}::timestamptz`];
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

/** Selects ids from a join table. Returns an empty list if the query doesn't filter by these values. */
function selectJoined(
  table: string,
  { column, type }: { column: string; type: Sql },
  values: readonly (string | number)[] | undefined,
  also: Sql[] = [],
): Joined[] {
  if (values === undefined) return [];
  const select = (some: readonly (string | number)[]) => {
    const where = join([sql`tenant_id = ${tenant}`, ...anyOf(column, some, type), ...also], ' AND ');
    return sql`SELECT ticket_id AS id FROM ${identifier(table)} WHERE ${where}`;
  };
  return [{ rows: select(values), ofEachValue: [...new Set(values)].map((value) => select([value])) }];
}
