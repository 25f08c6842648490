import type { TicketQuery } from '@itsm-api/contract';
import { type Statement, selectRows } from '../../database/statements.ts';
import { rawClient, type TenantClient } from '../../database/tenant-client.ts';
import { columns, type TicketRow } from './sql.ts';

/*
 * Pages of tickets with their exact total, in one statement and one snapshot, at a cost that does not grow with the
 * tenant (docs/decisions/totals.md). The total is a sum of counters. Where a page is found depends on the filters:
 * - none: by the tickets' ordinals, which are dense;
 * - one, or an assignee and others: in the index of that column and the id, from the page's first ticket on;
 * - several: in the index of all that is counted, kind by kind, for only those kinds that have tickets.
 * A page past the end is not looked for.
 */

export type TicketFilters = Omit<TicketQuery, 'page' | 'perPage'>;

/** The columns that can be filtered by, and their types in PostgreSQL. */
const types = {
  assigneeId: ['assignee_id', 'bigint'],
  status: ['status', 'text'],
  priority: ['priority', 'text'],
  type: ['type', 'text'],
  category: ['category', 'text'],
} as const;

/** One filter: any of several values of a column. */
interface Filter {
  name: keyof typeof types;
  several: boolean;
  /** Its value's or values' place in the statement. */
  parameter: string;
}

/** PostgreSQL counts a tenant's tickets in 32 bits; pages may be asked for that lie beyond. */
const largestSkip = 2 ** 31 - 1000;

/** Some of the tickets that the filters match, newest first, and how many there are in all. */
export async function selectTickets(
  db: TenantClient,
  given: TicketFilters,
  { skip, take }: { skip: number; take: number },
): Promise<{ rows: TicketRow[]; totalCount: number }> {
  const names = (Object.keys(types) as Filter['name'][]).filter((name) => given[name] !== undefined);
  const wanted = names.map((name) => given[name] ?? []);
  const filters = names.map((name, i) => ({ name, several: (wanted[i]?.length ?? 0) > 1, parameter: `$${i + 4}` }));
  const values = wanted.map((each) => (each.length > 1 ? [...new Set<string | number>(each)] : each[0]));

  const statement: Statement = {
    text: textFor(filters, skip === 0),
    values: [db.$tenantId, Math.min(skip, largestSkip), take, ...values],
    kind: kindOf(filters, skip === 0),
  };
  const [row] = await selectRows<{ totalCount: number; tickets: TicketRow[] | null }>(rawClient(db), statement);
  return { rows: row?.tickets ?? [], totalCount: row?.totalCount ?? 0 };
}

/** Quick is what reads the counters of one value and walks one index to the page's end, or seeks by ordinal. */
function kindOf([first, ...others]: Filter[], isFirstPage: boolean): Statement['kind'] {
  // There are 486 statements; their plans would take 100 MB in each connection.
  if (others.length > 1) return 'rare';
  const isOneWalk = others.length === 0 && isFirstPage && !first?.several;
  return first === undefined || isOneWalk ? 'quick' : undefined;
}

/** The statements made so far, by what is filtered by. */
const texts = new Map<string, string>();

function textFor(filters: Filter[], isFirstPage: boolean): string {
  const key = [isFirstPage, ...filters.map(({ name, several }) => `${name}${several ? '+' : ''}`)].join(' ');
  let text = texts.get(key);
  if (text === undefined) {
    text = makeText(filters, isFirstPage);
    texts.set(key, text);
  }
  return text;
}

/** The parameters: $1 is the tenant, $2 how many tickets to skip, $3 how many to take, and the filters follow. */
function makeText(filters: Filter[], isFirstPage: boolean): string {
  const [first, second] = filters;
  if (first === undefined) return totalAndPage(tenantTotal, pageByOrdinal);
  if (second !== undefined && first.name !== 'assigneeId') {
    return `WITH kind AS MATERIALIZED (${kinds(filters)})
      ${totalAndPage(`SELECT ${sum} FROM kind`, pageOf(isFirstPage ? newestByKind() : byKindUntilOldest()))}`;
  }
  const total = `SELECT ${sum} FROM ticket_counts WHERE ${counted(filters)}`;
  if (filters.some(({ several }) => several)) return totalAndPage(total, pageOf(idsByValue(filters, isFirstPage)));
  return totalAndPage(total, isFirstPage ? newestTickets(filters) : pageFromFirst(filters));
}

/**
 * @param total selects one row, `n`
 * @param page selects tickets, and may use `total.n`
 */
function totalAndPage(total: string, page: string): string {
  return `SELECT total.n AS "totalCount",
      CASE WHEN total.n > $2::int THEN (SELECT json_agg(ticket) FROM (${page}) AS ticket) END AS tickets
    FROM (${total}) AS total`;
}

const sum = 'COALESCE(sum(count), 0)::int AS n';

const tenantTotal = 'SELECT COALESCE((SELECT total FROM ticket_sequences WHERE tenant_id = $1), 0) AS n';

const pageByOrdinal = `SELECT ${columns} FROM tickets t WHERE t.tenant_id = $1
  AND t.ordinal <= total.n - $2::int AND t.ordinal > total.n - $2::int - $3::int ORDER BY t.id DESC`;

/**
 * The rows that may be on the first page. No page is larger than 100: without that number the planner would expect a
 * tenth of all rows, think little of the plan that it keeps, and make a new one each time.
 */
function newestFew(select: string, order = 'id DESC'): string {
  return `SELECT * FROM (${select} ORDER BY ${order} LIMIT 100) AS few ORDER BY ${order} LIMIT $3::int`;
}

function newestTickets(filters: Filter[]): string {
  return newestFew(`SELECT ${columns} FROM tickets t WHERE t.tenant_id = $1${matching(filters, 't.')}`);
}

/** From the page's first ticket on, which is found in the index alone, however far it is. */
function pageFromFirst(filters: Filter[]): string {
  return `SELECT ${columns} FROM tickets t WHERE t.tenant_id = $1${matching(filters, 't.')} AND t.id <= (
      SELECT id FROM tickets WHERE tenant_id = $1${matching(filters)}
      ORDER BY id DESC LIMIT 1 OFFSET $2::int)
    ORDER BY t.id DESC LIMIT $3::int`;
}

/** @param ids selects ids, among them those of the page and of all pages before it */
function pageOf(ids: string): string {
  return `SELECT ${columns} FROM (SELECT id FROM (${ids}) AS ids ORDER BY id DESC LIMIT $3::int OFFSET $2::int) AS page
    JOIN tickets t ON t.tenant_id = $1 AND t.id = page.id ORDER BY t.id DESC`;
}

/** For each value that an index leads to the newest; the other filters are checked ticket by ticket. */
function idsByValue(filters: Filter[], isFirstPage: boolean): string {
  const walked = filters.filter(({ name }, i) => i === 0 || name === 'status');
  const checked = filters.filter((filter) => !walked.includes(filter));
  const each = walked.map(({ name, several, parameter }) => {
    const value = `${parameter}::${types[name][1]}`;
    return `${several ? `unnest(${value}[])` : `(VALUES (${value}))`} AS ${name} (value)`;
  });
  const match = walked.map(({ name }) => ` AND ${types[name][0]} = ${name}.value`).join('');
  const select = `SELECT id FROM tickets WHERE tenant_id = $1${match}${matching(checked)}`;
  const newest = isFirstPage ? newestFew(select) : `${select} ORDER BY id DESC LIMIT $2::int + $3::int`;
  return `SELECT found.id FROM ${each.join(' CROSS JOIN ')} CROSS JOIN LATERAL (${newest}) AS found`;
}

/** The kinds of tickets that match and exist, how many of each there are, and how many in all. */
function kinds(filters: Filter[]): string {
  return `SELECT status, priority, type, NULLIF(category, '') AS category, count,
      sum(count) OVER () AS n
    FROM ticket_counts WHERE ${counted(filters)} AND count > 0`;
}

/** For each kind the newest. */
function newestByKind(): string {
  return forEachKind((select) => newestFew(select, 'category, id DESC'));
}

/**
 * For each kind those that are no older than `oldest`. It is found by taking from each kind its share of the page and
 * of all before it, rounded up: no ticket of the page is older than the oldest of those.
 */
function byKindUntilOldest(): string {
  const share = 'LEAST(kind.count, (($2::int + $3::int) * kind.count::bigint + kind.n - 1) / kind.n)';
  const last = forEachKind((select) => `${select} ORDER BY category, id DESC LIMIT 1 OFFSET ${share}::int - 1`);
  const ids = forEachKind((select) => `${select} AND id >= oldest.id`);
  return `SELECT ids.id FROM (SELECT min(id) AS id FROM (${last}) AS last) AS oldest CROSS JOIN LATERAL (${ids}) AS ids`;
}

/** Runs a query for each kind. Ordered by the category too, tickets without one are in the order of the index. */
function forEachKind(query: (select: string) => string): string {
  const ofKind = (category: string) =>
    query(`SELECT id, category FROM tickets WHERE tenant_id = $1 AND status = kind.status AND priority = kind.priority
      AND type = kind.type AND ${category}`);
  return `SELECT found.id FROM kind CROSS JOIN LATERAL (
    (${ofKind('category = kind.category')})
    UNION ALL
    (${ofKind('kind.category IS NULL AND category IS NULL')})) AS found`;
}

/** Counters exist for each assignee, and under 0 for everybody; of no category under the empty text. */
function counted(filters: Filter[]): string {
  const everybody = filters.some(({ name }) => name === 'assigneeId') ? '' : ' AND assignee_id = 0';
  return `tenant_id = $1${everybody}${matching(filters, '', { category: 'text' })}`;
}

function matching(filters: Filter[], table = '', otherTypes: Partial<Record<Filter['name'], string>> = {}): string {
  const all = filters.map(({ name, several, parameter }) => {
    const type = otherTypes[name] ?? types[name][1];
    const value = several ? `ANY (${parameter}::${type}[])` : `${parameter}::${type}`;
    return ` AND ${table}${types[name][0]} = ${value}`;
  });
  return all.join('');
}
