import type { TicketQuery } from '@itsm-api/contract';
import { type Reading, read, reading } from '../../database/statements.ts';
import type { TenantClient } from '../../database/tenant-client.ts';
import { columns, type TicketRow } from './sql.ts';

/*
 * Pages of tickets with their exact total, in one statement and one snapshot, at a cost that does not grow with the
 * tenant. Here alone SQL is composed: a text for each choice of filters. What each way to find a page gains is measured
 * in docs/decisions/totals.md.
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
 * ticket_counts, and is in both indices over all that is counted, in this order (docs/decisions/totals.md).
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

/** Some of the tickets that the filters match, and how many there are in all. */
export async function selectTickets(
  db: TenantClient,
  filters: CountedFilters,
  { sort, ...range }: TicketRange,
): Promise<TicketPage> {
  const page = sort === 'id' ? await selectOldest(db, filters, range) : await selectNewest(db, filters, range);
  return { ...page, isCapped: false };
}

type Range = Omit<TicketRange, 'sort'>;
type CountedPage = Omit<TicketPage, 'isCapped'>;

/** How often a page from the oldest on is looked for again when tickets have joined or left it meanwhile. */
const attempts = 5;

/**
 * A page from the oldest on is one from the newest on, as far from the other end. Where that is, the total tells; the
 * page is right when its own statement finds the same total.
 */
async function selectOldest(db: TenantClient, filters: CountedFilters, { skip, take }: Range): Promise<CountedPage> {
  let { totalCount } = await selectNewest(db, filters, { skip: largestSkip, take });
  for (let attempt = 1; skip < totalCount; attempt++) {
    const older = Math.max(totalCount - skip - take, 0);
    const page = await selectNewest(db, filters, { skip: older, take: totalCount - skip - older });
    if (page.totalCount === totalCount || attempt === attempts) return { ...page, rows: page.rows.toReversed() };
    totalCount = page.totalCount;
  }
  return { rows: [], totalCount };
}

async function selectNewest(db: TenantClient, filters: CountedFilters, { skip, take }: Range): Promise<CountedPage> {
  const names = filterNames.filter((name) => filters[name] !== undefined);
  const values = names.map((name) => [...new Set<string | number>(filters[name])]);
  const isOfOneValue = values.flat().length === 1;
  const row = await read<{ totalCount: number; tickets: TicketRow[] | null }>(
    db,
    pageFor({ names, isFirstPage: skip === 0, isOfOneValue }),
    [Math.min(skip, largestSkip), take, ...(isOfOneValue ? values.flat() : values)],
  );
  return { rows: row?.tickets ?? [], totalCount: row?.totalCount ?? 0 };
}

/** The statements made so far, by what is filtered by. */
const pages = new Map<string, Reading>();

/** What decides the statement. */
interface Choice {
  names: FilterName[];
  isFirstPage: boolean;
  /** By one value of one filter, which most lists are. */
  isOfOneValue: boolean;
}

function pageFor(choice: Choice): Reading {
  const key = [choice.isFirstPage, choice.isOfOneValue, ...choice.names].join();
  const page = pages.get(key) ?? reading(makeText(choice));
  pages.set(key, page);
  return page;
}

/** The parameters: $1 is the tenant, $2 how many tickets to skip, $3 how many to take; the filters' values follow. */
function makeText({ names, isFirstPage, isOfOneValue }: Choice): string {
  const [name] = names;
  if (name === undefined) return totalAndPage(tenantTotal, pageByOrdinal);
  if (isOfOneValue) return totalAndPage(...ofOneValue(name, isFirstPage));
  const kind = kindColumns(names);
  const page = isFirstPage && names.length === 1 ? newestOfEachKind(kind) : pageByShares(kind);
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
const pageByOrdinal = `SELECT ${columns} FROM tickets t WHERE t.tenant_id = $1
  AND t.ordinal <= total.n - $2::int AND t.ordinal > total.n - $2::int - $3::int ORDER BY t.id DESC`;

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
function ofOneValue(name: FilterName, isFirstPage: boolean): [total: string, page: string] {
  const { column, type } = filterColumns[name];
  const everybody = name === 'assigneeId' ? '' : 'AND assignee_id = 0';
  const value = `$4::${type}`;
  const total = `SELECT COALESCE(sum(count), 0)::int AS n FROM ticket_counts
    WHERE tenant_id = $1 ${everybody} AND ${column} = ${value}`;
  const newest = (selected: string) =>
    `SELECT ${selected} FROM tickets t WHERE t.tenant_id = $1 AND t.${column} = ${value} ORDER BY t.id DESC`;
  if (isFirstPage) {
    const few = `SELECT * FROM (${newest(columns)} LIMIT ${largestPage}) AS few`;
    return [total, `${few} ORDER BY id DESC LIMIT $3::int`];
  }
  // What is stepped over is read from the index alone.
  const ids = `SELECT id FROM (${newest('t.id')} LIMIT $3::int OFFSET $2::int) AS page LIMIT ${largestPage}`;
  return [
    total,
    `SELECT ${columns} FROM (${ids}) AS page JOIN tickets t ON t.tenant_id = $1 AND t.id = page.id ORDER BY t.id DESC`,
  ];
}

/** The first page by one filter: the newest of each of its values, row by row from its index. */
function newestOfEachKind(kind: string[]): string {
  const newest = ofKind(kind, (tickets) => {
    const few = `SELECT * FROM (${tickets}) AS tickets ORDER BY id DESC LIMIT ${largestPage}`;
    return `SELECT * FROM (${few}) AS few ORDER BY id DESC LIMIT $3::int`;
  });
  return `SELECT ${columns} FROM (SELECT newest.* FROM kind CROSS JOIN LATERAL (${newest}) AS newest
    ORDER BY id DESC LIMIT $3::int) AS t ORDER BY t.id DESC`;
}

/**
 * Any other page. Of each kind, its share of the page and of all before it is stepped over, rounded up. The last ones
 * of these shares, the newest first, make up at least so many: none of the page is older than the one with which they do.
 * The ids from there on are read, from the index alone, and of the page's the tickets.
 */
function pageByShares(kind: string[]): string {
  const share = 'LEAST(count, (($2::int + $3::int) * count + total - 1) / total)::int';
  // In the order of the index, where a kind without category is one of many.
  const order = kind.length > 1 ? 'category, id DESC' : 'id DESC';
  const last = ofKind(
    kind,
    (tickets) => `SELECT id FROM (${tickets}) AS tickets ORDER BY ${order} LIMIT 1 OFFSET share - 1`,
  );
  const ids = ofKind(kind, (tickets) => `SELECT id FROM (${tickets}) AS tickets WHERE id >= oldest.id`);
  return `WITH last AS MATERIALIZED (
      SELECT kind.*, last.id FROM (SELECT *, ${share} AS share FROM kind) AS kind CROSS JOIN LATERAL (${last}) AS last
    ), oldest AS MATERIALIZED (
      SELECT COALESCE(max(id), 0) AS id FROM (SELECT id, sum(share) OVER (ORDER BY id DESC) AS newer FROM last) AS last
      WHERE newer >= $2::int + $3::int
    ), page AS (
      SELECT found.id FROM oldest JOIN last AS kind ON kind.share > 1 OR kind.id >= oldest.id
      CROSS JOIN LATERAL (${ids}) AS found ORDER BY id DESC LIMIT $3::int OFFSET $2::int
    )
    SELECT ${columns} FROM (SELECT id FROM page LIMIT ${largestPage}) AS page
    JOIN tickets t ON t.tenant_id = $1 AND t.id = page.id ORDER BY t.id DESC`;
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
