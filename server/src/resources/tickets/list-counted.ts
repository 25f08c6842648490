import type { TicketQuery } from '@itsm-api/contract';
import { empty, identifier, join, Parameter, type Sql, sql, tenant } from '../../database/client/sql.ts';
import { oneAsJson, type Statement } from '../../database/client/statements.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { ticketValues } from './columns.ts';
import { type TicketRow, type TicketValues, toTicketRow } from './sql.ts';

/*
 * Reads pages of tickets with the exact total, in one statement and one snapshot. The cost doesn't grow with the
 * tenant's number of tickets. Each combination of filters has its own statement. For measurements of each strategy, see
 * docs/decisions/pagination-design.md.
 */

/** The filters for which the table `ticket_counts` stores counters. */
export type CountedFilters = Pick<TicketQuery, 'status' | 'priority' | 'type' | 'category'> & {
  assigneeId?: number[] | undefined;
};
type FilterName = keyof CountedFilters;

/** The page of matching tickets that a client requests. */
export interface TicketRange extends Pick<TicketQuery, 'sort'> {
  skip: number;
  take: number;
}

/** The tickets on a page in the requested order, and the total number of matching tickets. */
export interface TicketPage {
  rows: TicketRow[];
  totalCount: number;
  /**
   * Whether the actual total is larger than `totalCount`. This is the case if the query stopped counting at a limit.
   */
  isCapped: boolean;
}

/**
 * The column and value type for each filter. Each column has an index `(tenant_id, column, id DESC)` and counters in
 * `ticket_counts`. In addition, one index contains all of these columns, and another index contains all of them except
 * the assignee. The index columns are in the order of this object (docs/decisions/pagination-design.md).
 */
export const filterColumns: Record<FilterName, { column: string; type: Sql }> = {
  assigneeId: { column: 'assignee_id', type: sql`bigint` },
  status: { column: 'status', type: sql`text` },
  priority: { column: 'priority', type: sql`text` },
  type: { column: 'type', type: sql`text` },
  category: { column: 'category', type: sql`text` },
};
export const filterNames = Object.keys(filterColumns) as FilterName[];

/** The maximum offset. The sum of offset and limit must fit into a 32-bit integer, as the number of tickets does. */
const maxSkip = 2 ** 31 - 1000;

/**
 * The maximum page size, which is a literal LIMIT in the SQL statements. Without this literal, the planner would assume
 * that a page has a tenth of all matching rows.
 */
const maxPageSize = 100;

/** The parts of SQL statements that depend on the sort order. */
interface Order {
  direction: Sql;
  /** The operator that selects an id and all ids before it in the sort order. */
  upTo: Sql;
  /** The aggregate function that returns the first id in the sort order. */
  first: Sql;
  /** An id that comes after all ticket ids in the sort order. */
  end: Sql;
  /** The order of categories in the index, which contains null. */
  category: Sql;
}

const orders: Record<TicketQuery['sort'], Order> = {
  '-id': { direction: sql`DESC`, upTo: sql`>=`, first: sql`max`, end: sql`0`, category: sql`category` },
  id: {
    direction: sql`ASC`,
    upTo: sql`<=`,
    first: sql`min`,
    end: sql`9223372036854775807`,
    category: sql`category DESC`,
  },
};

/** Returns one page of the tickets that match the filters, and the exact number of matching tickets. */
export async function selectTickets(
  db: TenantClient,
  filters: CountedFilters,
  { sort, skip, take }: TicketRange,
): Promise<TicketPage> {
  const names = filterNames.filter((name) => filters[name] !== undefined);
  const values = names.map((name): [FilterName, (string | number)[]] => [
    name,
    [...new Set<string | number>(filters[name])],
  ]);
  const isOfOneValue = values.length === 1 && values[0]?.[1].length === 1;
  const given = Object.fromEntries(isOfOneValue ? values.map(([name, [value]]) => [name, value]) : values);
  const choice = { names, sort, isFirstPage: skip === 0, isDeep: skip >= deepSkip, isOfOneValue };
  const row = await db.$sql(getPageQuery(choice), {
    ...given,
    ...{ skip: Math.min(skip, maxSkip), take },
  });
  return { rows: (row?.tickets ?? []).map(toTicketRow), totalCount: row?.totalCount ?? 0, isCapped: false };
}

/** The statement for a page. The values of its filters have the names of the filters. */
type PageStatement = Statement<
  { skip: number; take: number } & { [Name in FilterName]?: unknown },
  { totalCount: number; tickets: TicketValues[] | null },
  'oneAsJson'
>;

/** The statements that `getPageQuery` has already built, by options. */
const pages = new Map<string, PageStatement>();

/** The options that determine the SQL text of a statement. */
interface Choice extends Pick<TicketQuery, 'sort'> {
  names: FilterName[];
  isFirstPage: boolean;
  /** Whether the query skips at least `deepSkip` tickets. */
  isDeep: boolean;
  /** Whether the query has exactly one filter with one value, which is the most frequent case. */
  isOfOneValue: boolean;
}

function getPageQuery(choice: Choice): PageStatement {
  const key = [choice.sort, choice.isFirstPage, choice.isDeep, choice.isOfOneValue, ...choice.names].join();
  const page: PageStatement = pages.get(key) ?? oneAsJson(() => buildPage(choice));
  pages.set(key, page);
  return page;
}

const skip = new Parameter('skip');
const take = new Parameter('take');

/** Builds the statement for a page and the total. */
function buildPage({ names, sort, isFirstPage, isDeep, isOfOneValue }: Choice): Sql {
  const [name] = names;
  const order = orders[sort];
  if (name === undefined) return totalAndPage(tenantTotal, buildPageByOrdinal(order));
  if (isDeep) return totalAndPage(countMatching(names, isOfOneValue), buildDeepPage(names, order, isOfOneValue));
  if (isOfOneValue) return totalAndPage(countMatching(names, true), buildSingleValue(name, order, isFirstPage));
  const kind = kindColumns(names);
  const page = isFirstPage && names.length === 1 ? buildFirstPage(kind, order) : buildPageByShares(kind, order);
  return sql`WITH kind AS MATERIALIZED (${kinds(names)})
    ${totalAndPage(sql`SELECT COALESCE(max(total), 0)::int AS n FROM kind`, page)}`;
}

/**
 * Combines the total and the page in one statement. If the page is past the end, the statement reads only the total.
 * `OFFSET 0` makes PostgreSQL compute the total once, before the page. Otherwise, PostgreSQL would inline the subquery
 * for the total into the conditions of the page, and these conditions couldn't use an index.
 * @param total selects one row with the column `n`
 * @param page selects tickets as the column `ticket`, and may use `total.n`
 */
function totalAndPage(total: Sql, page: Sql): Sql {
  return sql`SELECT total.n AS "totalCount",
      CASE WHEN total.n > ${skip}::int THEN (SELECT json_agg(ticket) FROM (${page}) AS page) END AS tickets
    FROM (${total} OFFSET 0) AS total`;
}

const tenantTotal = sql`SELECT COALESCE((SELECT total FROM ticket_sequences WHERE tenant_id = ${tenant}), 0) AS n`;

/** Builds the query for a page without filters. Ordinals have no gaps, so a page is a range of ordinals. */
function buildPageByOrdinal(order: Order): Sql {
  const range =
    order === orders.id
      ? sql`t.ordinal > ${skip}::int AND t.ordinal <= ${skip}::int + ${take}::int`
      : sql`t.ordinal <= total.n - ${skip}::int AND t.ordinal > total.n - ${skip}::int - ${take}::int`;
  return sql`SELECT ${ticketValues} AS ticket FROM tickets t WHERE t.tenant_id = ${tenant} AND ${range}
    ORDER BY t.id ${order.direction}`;
}

/**
 * Returns the columns to group the counters by, in index order. For one filter, returns only its column. For several
 * filters, returns all columns with counters, but omits the assignee column if there is no filter for it.
 */
function kindColumns(names: FilterName[]): string[] {
  const several = filterNames.filter((name) => name !== 'assigneeId' || names.includes(name));
  return (names.length === 1 ? names : several).map((name) => filterColumns[name].column);
}

/**
 * Builds SQL that selects the matching groups, the number of tickets in each group, and the total. A group consists of
 * the tickets with the same values in the columns from `kindColumns`. Counters with assignee 0 count the tickets of all
 * assignees.
 */
function kinds(names: FilterName[]): Sql {
  const all = join(kindColumns(names).map(identifier));
  const allAssignees = names.includes('assigneeId') ? empty : sql`AND assignee_id = 0`;
  const matching = conditionsOf(names, false).map((condition) => sql`AND ${condition}`);
  return sql`SELECT ${all}, sum(count)::bigint AS count, (sum(sum(count)) OVER ())::bigint AS total FROM ticket_counts
    WHERE tenant_id = ${tenant} ${allAssignees} ${join(matching, ' ')} AND count > 0 GROUP BY ${all}`;
}

/** Builds the conditions for filters, on tickets or on counters. */
function conditionsOf(names: FilterName[], isOfOneValue: boolean): Sql[] {
  return names.map((name) => {
    const { column, type } = filterColumns[name];
    const given = new Parameter(name);
    return sql`${identifier(column)} = ${isOfOneValue ? sql`${given}::${type}` : sql`ANY (${given}::${type}[])`}`;
  });
}

/** Builds the query for the total. */
function countMatching(names: FilterName[], isOfOneValue: boolean): Sql {
  const allAssignees = names.includes('assigneeId') ? [] : [sql`assignee_id = 0`];
  const where = join([sql`tenant_id = ${tenant}`, ...allAssignees, ...conditionsOf(names, isOfOneValue)], ' AND ');
  return sql`SELECT COALESCE(sum(count), 0)::int AS n FROM ticket_counts WHERE ${where}`;
}

/** From this offset on, reading the ids of several groups and sorting them takes longer than reading an index in order. */
const deepSkip = 100_000;

/**
 * Builds the query for a page that is far from the start of a long list. The query reads an index in the order of ids
 * from the nearer end of the list.
 */
function buildDeepPage(names: FilterName[], order: Order, isOfOneValue: boolean): Sql {
  const where = join([sql`tenant_id = ${tenant}`, ...conditionsOf(names, isOfOneValue)], ' AND ');
  const ids = ({ direction }: Order, limit: Sql, offset: Sql) =>
    sql`(SELECT id FROM tickets WHERE ${where} ORDER BY id ${direction} LIMIT ${limit} OFFSET ${offset}) AS ids`;
  const rest = sql`GREATEST(total.n - ${skip}::int - ${take}::int, 0)`;
  const fromStart = ids(order, sql`${take}::int`, sql`${skip}::int`);
  const opposite = order === orders.id ? orders['-id'] : orders.id;
  const fromEnd = ids(opposite, sql`LEAST(${take}::int, total.n - ${skip}::int)`, rest);
  return sql`SELECT ${ticketValues} AS ticket FROM (
      SELECT id FROM ${fromStart} WHERE ${skip}::int <= ${rest}
      UNION ALL SELECT id FROM ${fromEnd} WHERE ${skip}::int > ${rest}
      LIMIT ${maxPageSize}
    ) AS page JOIN tickets t ON t.tenant_id = ${tenant} AND t.id = page.id ORDER BY t.id ${order.direction}`;
}

/** Builds the query for a page if there is only one filter with one value. This query doesn't need to merge groups. */
function buildSingleValue(name: FilterName, { direction }: Order, isFirstPage: boolean): Sql {
  const [isGiven] = conditionsOf([name], true) as [Sql];
  const all = (selected: Sql) =>
    sql`SELECT ${selected} FROM tickets t WHERE t.tenant_id = ${tenant} AND t.${isGiven} ORDER BY t.id ${direction}`;
  if (isFirstPage) {
    const few = sql`SELECT ticket FROM (${all(sql`t.id, ${ticketValues} AS ticket`)} LIMIT ${maxPageSize}) AS few`;
    return sql`${few} ORDER BY id ${direction} LIMIT ${take}::int`;
  }
  // Skips rows with an index-only scan.
  const ids = sql`SELECT id FROM (${all(sql`t.id`)} LIMIT ${take}::int OFFSET ${skip}::int) AS page LIMIT ${maxPageSize}`;
  const page = sql`SELECT ${ticketValues} AS ticket FROM (${ids}) AS page JOIN tickets t ON t.tenant_id = ${tenant} AND t.id = page.id`;
  return sql`${page} ORDER BY t.id ${direction}`;
}

/**
 * Builds the query for the first page if there is one filter with several values. The query reads the first rows for
 * each value from the index and merges them.
 */
function buildFirstPage(kind: string[], { direction }: Order): Sql {
  const first = ofKind(kind, (tickets) => {
    const few = sql`SELECT * FROM (${tickets}) AS tickets ORDER BY id ${direction} LIMIT ${maxPageSize}`;
    return sql`SELECT * FROM (${few}) AS few ORDER BY id ${direction} LIMIT ${take}::int`;
  });
  return sql`SELECT ${ticketValues} AS ticket FROM (SELECT first.* FROM kind CROSS JOIN LATERAL (${first}) AS first
    ORDER BY id ${direction} LIMIT ${take}::int) AS t ORDER BY t.id ${direction}`;
}

/**
 * Builds the query for a page whose rows come from several groups. Sorting the ids of all groups would be slow, so the
 * query first finds a bound, which is an id at or after the end of the page. Each group gets a share of `offset +
 * limit` rows in proportion to its size, rounded up. The bound is the first id for which the shares that end at or
 * before this id add up to at least `offset + limit` rows. The query then sorts only the ids up to the bound, which it
 * reads with index-only scans.
 */
function buildPageByShares(kind: string[], { direction, upTo, first, end, category }: Order): Sql {
  const share = sql`LEAST(count, ((${skip}::int + ${take}::int) * count + total - 1) / total)::int`;
  // With several columns, the order must be the index order or its reverse. This order must include the category,
  // because the category can be null.
  const order = kind.length > 1 ? sql`${category}, id ${direction}` : sql`id ${direction}`;
  const last = ofKind(
    kind,
    (tickets) => sql`SELECT id FROM (${tickets}) AS tickets ORDER BY ${order} LIMIT 1 OFFSET share - 1`,
  );
  const ids = ofKind(kind, (tickets) => sql`SELECT id FROM (${tickets}) AS tickets WHERE id ${upTo} bound.id`);
  return sql`WITH last AS MATERIALIZED (
      SELECT kind.*, last.id FROM (SELECT *, ${share} AS share FROM kind) AS kind CROSS JOIN LATERAL (${last}) AS last
    ), bound AS MATERIALIZED (
      SELECT COALESCE(${first}(id), ${end}) AS id
      FROM (SELECT id, sum(share) OVER (ORDER BY id ${direction}) AS before FROM last) AS last
      WHERE before >= ${skip}::int + ${take}::int
    ), page AS (
      SELECT found.id FROM bound JOIN last AS kind ON kind.share > 1 OR kind.id ${upTo} bound.id
      CROSS JOIN LATERAL (${ids}) AS found ORDER BY id ${direction} LIMIT ${take}::int OFFSET ${skip}::int
    )
    SELECT ${ticketValues} AS ticket FROM (SELECT id FROM page LIMIT ${maxPageSize}) AS page
    JOIN tickets t ON t.tenant_id = ${tenant} AND t.id = page.id ORDER BY t.id ${direction}`;
}

/** Builds a query for the tickets in one group. The row `kind` contains the column values of the group. */
function ofKind(kind: string[], query: (tickets: Sql) => Sql): Sql {
  const among = (conditions: Sql[]) =>
    query(sql`SELECT * FROM tickets WHERE ${join([sql`tenant_id = ${tenant}`, ...conditions], ' AND ')}`);
  const same = kind.map((column) => sql`${identifier(column)} = ${identifier(`kind.${column}`)}`);
  if (kind.length === 1) return among(same);
  // For tickets without a category, the category is null in the table `tickets`, but an empty text in the counters.
  const none = same.with(kind.indexOf('category'), sql`kind.category = '' AND category IS NULL`);
  return sql`(${among(same)}) UNION ALL (${among(none)})`;
}
