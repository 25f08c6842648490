import type { TicketQuery } from '@itsm-api/contract';
import { selectRows } from '../../database/statements.ts';
import type { TenantClient } from '../../database/tenant-client.ts';
import { columns, type TicketRow } from './sql.ts';

/*
 * Pages of tickets with their exact total, in one statement and one snapshot, at a cost that does not grow with the
 * tenant. Here alone SQL is composed: a text for each choice of filters. What each way to find a page gains is measured
 * in docs/decisions/totals.md.
 */

export type TicketFilters = Omit<TicketQuery, 'page' | 'perPage'>;
type FilterName = keyof TicketFilters;

/** The column of each filter and the type of its values. Each has an index (tenant_id, column, id DESC). */
const filterColumns: Record<FilterName, { column: string; type: 'text' | 'bigint' }> = {
  assigneeId: { column: 'assignee_id', type: 'bigint' },
  status: { column: 'status', type: 'text' },
  priority: { column: 'priority', type: 'text' },
  type: { column: 'type', type: 'text' },
  category: { column: 'category', type: 'text' },
};
const filterNames = Object.keys(filterColumns) as FilterName[];

/** PostgreSQL counts a tenant's tickets in 32 bits; pages may be asked for that lie beyond. */
const largestSkip = 2 ** 31 - 1000;

/** Where it is not told that no page is larger, the planner expects a tenth of all that matches. */
const largestPage = 100;

/** Some of the tickets that the filters match, newest first, and how many there are in all. */
export async function selectTickets(
  db: TenantClient,
  filters: TicketFilters,
  { skip, take }: { skip: number; take: number },
): Promise<{ rows: TicketRow[]; totalCount: number }> {
  const names = filterNames.filter((name) => filters[name] !== undefined);
  const [row] = await selectRows<{ totalCount: number; tickets: TicketRow[] | null }>(db, {
    text: textFor(names, skip === 0),
    values: [db.$tenantId, Math.min(skip, largestSkip), take, ...names.map((name) => filters[name])],
  });
  return { rows: row?.tickets ?? [], totalCount: row?.totalCount ?? 0 };
}

/** The statements made so far, by what is filtered by. */
const texts = new Map<string, string>();

function textFor(names: FilterName[], isFirstPage: boolean): string {
  const key = [isFirstPage, ...names].join();
  const text = texts.get(key) ?? makeText(names, isFirstPage);
  texts.set(key, text);
  return text;
}

/** The parameters: $1 is the tenant, $2 how many tickets to skip, $3 how many to take; the filters' values follow. */
function makeText(names: FilterName[], isFirstPage: boolean): string {
  if (names.length === 0) return totalAndPage(tenantTotal, pageByOrdinal);
  const kind = kindColumns(names);
  const page = isFirstPage && names.length === 1 ? newestOfEachKind(kind) : pageOf(idsUntilOldest(kind));
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
 * its own, of several all that is counted, whose index leads through all of them.
 */
function kindColumns(names: FilterName[]): string[] {
  const counted: FilterName[] = ['status', 'priority', 'type', 'category'];
  const several = names.includes('assigneeId') ? ['assigneeId' as const, ...counted] : counted;
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

/** The first page by one filter: the newest of each of its values, row by row from its index. */
function newestOfEachKind(kind: string[]): string {
  const newest = ofEachKind(kind, (tickets) => {
    const few = `SELECT * FROM (${tickets}) AS tickets ORDER BY id DESC LIMIT ${largestPage}`;
    return `SELECT * FROM (${few}) AS few ORDER BY id DESC LIMIT $3::int`;
  });
  return `SELECT ${columns} FROM (${newest} ORDER BY id DESC LIMIT $3::int) AS t ORDER BY t.id DESC`;
}

/** @param ids selects ids, among them those of the page and of all pages before it */
function pageOf(ids: string): string {
  const page = `SELECT id FROM (${ids}) AS ids ORDER BY id DESC LIMIT $3::int OFFSET $2::int`;
  return `SELECT ${columns} FROM (SELECT id FROM (${page}) AS page LIMIT ${largestPage}) AS page
    JOIN tickets t ON t.tenant_id = $1 AND t.id = page.id ORDER BY t.id DESC`;
}

/**
 * The ids of all kinds that are no older than `oldest`, from the index alone. It is found by taking from each kind its
 * share of the page and of all before it, rounded up: no ticket of the page is older than the oldest of those.
 */
function idsUntilOldest(kind: string[]): string {
  const share = 'LEAST(kind.count, (($2::int + $3::int) * kind.count + kind.total - 1) / kind.total)::int';
  // In the order of the index, where a kind without category is one of many.
  const order = kind.length > 1 ? 'category, id DESC' : 'id DESC';
  const last = ofEachKind(
    kind,
    (tickets) => `SELECT id FROM (${tickets}) AS tickets ORDER BY ${order} LIMIT 1 OFFSET ${share} - 1`,
  );
  const ids = ofEachKind(kind, (tickets) => `SELECT id FROM (${tickets}) AS tickets WHERE id >= oldest.id`);
  return `SELECT ids.id FROM (SELECT min(id) AS id FROM (${last}) AS last) AS oldest CROSS JOIN LATERAL (${ids}) AS ids`;
}

/** Runs a query over the tickets of each kind. */
function ofEachKind(kind: string[], query: (tickets: string) => string): string {
  const among = (conditions: string[]) =>
    query(`SELECT * FROM tickets WHERE ${['tenant_id = $1', ...conditions].join(' AND ')}`);
  const same = kind.map((column) => `${column} = kind.${column}`);
  // Counters have the empty text where tickets have no category.
  const none = [
    ...same.filter((condition) => !condition.startsWith('category')),
    "kind.category = ''",
    'category IS NULL',
  ];
  const each = kind.length > 1 ? `(${among(same)}) UNION ALL (${among(none)})` : among(same);
  return `SELECT found.* FROM kind CROSS JOIN LATERAL (${each}) AS found`;
}
