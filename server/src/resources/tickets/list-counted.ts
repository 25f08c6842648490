import type { TicketQuery } from '@itsm-api/contract';
import { queryOne, type TenantQuery, tenantQuery } from '../../database/client/raw-sql.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { columns, type TicketRow } from './sql.ts';

/*
 * Pages of tickets with their exact total, in one statement and one snapshot, at a cost that does not grow with the
 * tenant. A text is composed for each choice of filters. What each way to find a page gains is measured in
 * docs/decisions/pagination.md.
 */

/** The filters that counters know. */
export type CountedFilters = Pick<TicketQuery, 'status' | 'priority' | 'type' | 'category'> & {
  assigneeId?: number[] | undefined;
};
type FilterName = keyof CountedFilters;

/** Which tickets of those that match are asked for. */
export interface TicketRange extends Pick<TicketQuery, 'sort'> {
  skip: number;
  take: number;
}

/** Some of the tickets that match, in the order asked for. */
export interface TicketPage {
  rows: TicketRow[];
  totalCount: number;
  /** Whether there are more than were counted. */
  isCapped: boolean;
}

/**
 * The column of each filter and the type of its values. Each has an index (tenant_id, column, id DESC), is counted in
 * ticket_counts, and is in both indices over all that is counted, in this order (docs/decisions/pagination.md).
 */
export const filterColumns: Record<FilterName, { column: string; type: 'text' | 'bigint' }> = {
  assigneeId: { column: 'assignee_id', type: 'bigint' },
  status: { column: 'status', type: 'text' },
  priority: { column: 'priority', type: 'text' },
  type: { column: 'type', type: 'text' },
  category: { column: 'category', type: 'text' },
};
export const filterNames = Object.keys(filterColumns) as FilterName[];

/** PostgreSQL counts a tenant's tickets in 32 bits; pages may be asked for that lie beyond. */
const largestSkip = 2 ** 31 - 1000;

/** Where it is not told that no page is larger, the planner expects a tenth of all that matches. */
const largestPage = 100;

/** In SQL, an order by id. */
interface Order {
  direction: 'DESC' | 'ASC';
  /** Compares an id with the last one, where those up to it are asked for. */
  upTo: '>=' | '<=';
  /** Of ids, the one that comes first. */
  first: 'max' | 'min';
  /** A last id that all are up to. */
  end: string;
}

const orders: Record<TicketQuery['sort'], Order> = {
  '-id': { direction: 'DESC', upTo: '>=', first: 'max', end: '0' },
  id: { direction: 'ASC', upTo: '<=', first: 'min', end: '9223372036854775807' },
};

/** Some of the tickets that the filters match, and how many there are in all. */
export async function selectTickets(
  db: TenantClient,
  filters: CountedFilters,
  { sort, skip, take }: TicketRange,
): Promise<TicketPage> {
  const names = filterNames.filter((name) => filters[name] !== undefined);
  const values = names.map((name) => [...new Set<string | number>(filters[name])]);
  const isOfOneValue = values.flat().length === 1;
  const row = await queryOne<{ totalCount: number; tickets: TicketRow[] | null }>(
    db,
    pageFor({ names, sort, isFirstPage: skip === 0, isOfOneValue }),
    [Math.min(skip, largestSkip), take, ...(isOfOneValue ? values.flat() : values)],
  );
  return { rows: row?.tickets ?? [], totalCount: row?.totalCount ?? 0, isCapped: false };
}

/** The statements made so far, by what is filtered by. */
const pages = new Map<string, TenantQuery>();

/** What decides the statement. */
interface Choice extends Pick<TicketQuery, 'sort'> {
  names: FilterName[];
  isFirstPage: boolean;
  /** By one value of one filter, which most lists are. */
  isOfOneValue: boolean;
}

function pageFor(choice: Choice): TenantQuery {
  const key = [choice.sort, choice.isFirstPage, choice.isOfOneValue, ...choice.names].join();
  const page = pages.get(key) ?? tenantQuery(makeText(choice));
  pages.set(key, page);
  return page;
}

/** The parameters: $1 is the tenant, $2 how many tickets to skip, $3 how many to take; the filters' values follow. */
function makeText({ names, sort, isFirstPage, isOfOneValue }: Choice): string {
  const [name] = names;
  const order = orders[sort];
  if (name === undefined) return totalAndPage(tenantTotal, pageByOrdinal(order));
  if (isOfOneValue) return totalAndPage(...ofOneValue(name, order, isFirstPage));
  const kind = kindColumns(names);
  const page = isFirstPage && names.length === 1 ? firstOfEachKind(kind, order) : pageByShares(kind, order);
  return `WITH kind AS MATERIALIZED (${kinds(names)})
    ${totalAndPage('SELECT COALESCE(max(total), 0)::int AS n FROM kind', page)}`;
}

/**
 * A page past the end is not looked for. OFFSET 0 has the total reckoned once, and first: put into each condition that
 * names it, it would keep that from its index.
 * @param total selects one row, `n`
 * @param page selects tickets, and may use `total.n`
 */
function totalAndPage(total: string, page: string): string {
  return `SELECT total.n AS "totalCount",
      CASE WHEN total.n > $2::int THEN (SELECT json_agg(ticket) FROM (${page}) AS ticket) END AS tickets
    FROM (${total} OFFSET 0) AS total`;
}

const tenantTotal = 'SELECT COALESCE((SELECT total FROM ticket_sequences WHERE tenant_id = $1), 0) AS n';

/** Without filters: ordinals are dense, so any page is one range of them. */
function pageByOrdinal({ direction }: Order): string {
  const range = {
    DESC: 't.ordinal <= total.n - $2::int AND t.ordinal > total.n - $2::int - $3::int',
    ASC: 't.ordinal > $2::int AND t.ordinal <= $2::int + $3::int',
  }[direction];
  return `SELECT ${columns} FROM tickets t WHERE t.tenant_id = $1 AND ${range} ORDER BY t.id ${direction}`;
}

/**
 * The columns that tell one kind of tickets from another, such that an index leads to each kind's newest: of one filter
 * its own, of several all that is counted, in the order of the index over all of them.
 */
function kindColumns(names: FilterName[]): string[] {
  const several = filterNames.filter((name) => name !== 'assigneeId' || names.includes(name));
  return (names.length === 1 ? names : several).map((name) => filterColumns[name].column);
}

/**
 * The kinds that match and have tickets, how many each has, and how many there are in all. Counters exist for each
 * assignee, and under 0 for everybody.
 */
function kinds(names: FilterName[]): string {
  const all = kindColumns(names).join(', ');
  const everybody = names.includes('assigneeId') ? '' : 'AND assignee_id = 0';
  const matching = names.map(
    (name, i) => `AND ${filterColumns[name].column} = ANY ($${i + 4}::${filterColumns[name].type}[])`,
  );
  return `SELECT ${all}, sum(count)::bigint AS count, (sum(sum(count)) OVER ())::bigint AS total FROM ticket_counts
    WHERE tenant_id = $1 ${everybody} ${matching.join(' ')} AND count > 0 GROUP BY ${all}`;
}

/** The total and a page by one value: what follows, without the steps that put several together. */
function ofOneValue(name: FilterName, { direction }: Order, isFirstPage: boolean): [total: string, page: string] {
  const { column, type } = filterColumns[name];
  const everybody = name === 'assigneeId' ? '' : 'AND assignee_id = 0';
  const value = `$4::${type}`;
  const total = `SELECT COALESCE(sum(count), 0)::int AS n FROM ticket_counts
    WHERE tenant_id = $1 ${everybody} AND ${column} = ${value}`;
  const all = (selected: string) =>
    `SELECT ${selected} FROM tickets t WHERE t.tenant_id = $1 AND t.${column} = ${value} ORDER BY t.id ${direction}`;
  if (isFirstPage) {
    const few = `SELECT * FROM (${all(columns)} LIMIT ${largestPage}) AS few`;
    return [total, `${few} ORDER BY id ${direction} LIMIT $3::int`];
  }
  // What is stepped over is read from the index alone.
  const ids = `SELECT id FROM (${all('t.id')} LIMIT $3::int OFFSET $2::int) AS page LIMIT ${largestPage}`;
  const page = `SELECT ${columns} FROM (${ids}) AS page JOIN tickets t ON t.tenant_id = $1 AND t.id = page.id`;
  return [total, `${page} ORDER BY t.id ${direction}`];
}

/** The first page by one filter: the first of each of its values, row by row from its index. */
function firstOfEachKind(kind: string[], { direction }: Order): string {
  const first = ofKind(kind, (tickets) => {
    const few = `SELECT * FROM (${tickets}) AS tickets ORDER BY id ${direction} LIMIT ${largestPage}`;
    return `SELECT * FROM (${few}) AS few ORDER BY id ${direction} LIMIT $3::int`;
  });
  return `SELECT ${columns} FROM (SELECT first.* FROM kind CROSS JOIN LATERAL (${first}) AS first
    ORDER BY id ${direction} LIMIT $3::int) AS t ORDER BY t.id ${direction}`;
}

/**
 * Any other page. Of each kind, its share of the page and of all before it is stepped over, rounded up. The last ones
 * of these shares, in the order of the page, make up at least so many: none of the page comes after the one with which
 * they do. The ids up to there are read, from the index alone, and of the page's the tickets.
 */
function pageByShares(kind: string[], { direction, upTo, first, end }: Order): string {
  const share = 'LEAST(count, (($2::int + $3::int) * count + total - 1) / total)::int';
  // In the order of the index, forwards or backwards, where a kind without category is one of many.
  const category = direction === 'DESC' ? 'category' : 'category DESC';
  const order = kind.length > 1 ? `${category}, id ${direction}` : `id ${direction}`;
  const last = ofKind(
    kind,
    (tickets) => `SELECT id FROM (${tickets}) AS tickets ORDER BY ${order} LIMIT 1 OFFSET share - 1`,
  );
  const ids = ofKind(kind, (tickets) => `SELECT id FROM (${tickets}) AS tickets WHERE id ${upTo} bound.id`);
  return `WITH last AS MATERIALIZED (
      SELECT kind.*, last.id FROM (SELECT *, ${share} AS share FROM kind) AS kind CROSS JOIN LATERAL (${last}) AS last
    ), bound AS MATERIALIZED (
      SELECT COALESCE(${first}(id), ${end}) AS id
      FROM (SELECT id, sum(share) OVER (ORDER BY id ${direction}) AS before FROM last) AS last
      WHERE before >= $2::int + $3::int
    ), page AS (
      SELECT found.id FROM bound JOIN last AS kind ON kind.share > 1 OR kind.id ${upTo} bound.id
      CROSS JOIN LATERAL (${ids}) AS found ORDER BY id ${direction} LIMIT $3::int OFFSET $2::int
    )
    SELECT ${columns} FROM (SELECT id FROM page LIMIT ${largestPage}) AS page
    JOIN tickets t ON t.tenant_id = $1 AND t.id = page.id ORDER BY t.id ${direction}`;
}

/** Runs a query over the tickets of the row `kind`. */
function ofKind(kind: string[], query: (tickets: string) => string): string {
  const among = (conditions: string[]) =>
    query(`SELECT * FROM tickets WHERE ${['tenant_id = $1', ...conditions].join(' AND ')}`);
  const same = kind.map((column) => `${column} = kind.${column}`);
  if (kind.length === 1) return among(same);
  // Counters have the empty text where tickets have no category.
  const none = same.with(kind.indexOf('category'), "kind.category = '' AND category IS NULL");
  return `(${among(same)}) UNION ALL (${among(none)})`;
}
