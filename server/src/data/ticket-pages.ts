import type { TicketQuery } from '@itsm-api/contract';
import { Prisma } from './generated/client.ts';
import { rawClient, type TenantClient } from './tenant.ts';
import { columns, type TicketRow, watchers } from './tickets.ts';

/*
 * Pages of tickets with their exact total, in one statement and one snapshot, at a cost that does not grow with the
 * tenant (docs/decisions/totals.md). The total is a sum of counters. Where a page is found depends on the filters:
 * - none: by the tickets' ordinals, which are dense;
 * - one: in the index of that column and the id;
 * - several: in the index of all that is counted, kind by kind, for only those kinds that have tickets;
 * - an assignee and others: among the assignee's tickets.
 */

export type TicketFilters = Omit<TicketQuery, 'page' | 'perPage'>;

/** The columns that can be filtered by, and their types in PostgreSQL. */
const types = {
  assigneeId: ['assignee_id', 'bigint'],
  status: ['status', '"TicketStatus"'],
  priority: ['priority', '"Priority"'],
  type: ['type', '"TicketType"'],
  category: ['category', '"TicketCategory"'],
} as const;

interface Filter {
  name: keyof typeof types;
  values: string[];
}

/** Some of the tickets that the filters match, newest first, and how many there are in all. */
export async function selectTickets(
  db: TenantClient,
  given: TicketFilters,
  { skip, take }: { skip: number; take: number },
): Promise<{ rows: TicketRow[]; totalCount: number }> {
  const tenantId = db.$tenantId;
  const filters = filtersOf(given);
  // PostgreSQL counts a tenant's tickets in 32 bits; pages may be asked for that lie beyond.
  const range = { skip: Prisma.sql`${Math.min(skip, 2 ** 31 - 1000)}::int`, take: Prisma.sql`${take}::int` };

  const rows = await rawClient(db).$queryRaw<(TicketRow & { totalCount: number })[]>`
    WITH ${totalAndPage(tenantId, filters, range)}
    SELECT total.n AS "totalCount", found.* FROM total LEFT JOIN (
      SELECT ${columns}, ${watchers} FROM page JOIN tickets t ON t.tenant_id = ${tenantId} AND t.id = page.id
    ) AS found ON true
    ORDER BY found.id DESC`;
  return { rows: rows.filter(({ id }) => id !== null), totalCount: rows[0]?.totalCount ?? 0 };
}

function filtersOf(given: TicketFilters): Filter[] {
  return (Object.keys(types) as Filter['name'][]).flatMap((name) => {
    const values = given[name];
    return values === undefined ? [] : [{ name, values: [...new Set(values.map(String))] }];
  });
}

interface Range {
  skip: Prisma.Sql;
  take: Prisma.Sql;
}

/** The common table expressions `total` (n) and `page` (id). */
function totalAndPage(tenantId: bigint, filters: Filter[], { skip, take }: Range): Prisma.Sql {
  if (filters.length === 0) {
    return Prisma.sql`
      total AS (SELECT COALESCE((SELECT total FROM ticket_sequences WHERE tenant_id = ${tenantId}), 0) AS n),
      page AS MATERIALIZED (
        SELECT id FROM tickets WHERE tenant_id = ${tenantId}
          AND ordinal <= (SELECT n FROM total) - ${skip} AND ordinal > (SELECT n FROM total) - ${skip} - ${take})`;
  }
  const ids = idsOf(tenantId, filters, { skip, take });
  return Prisma.sql`
    kind AS MATERIALIZED (
      SELECT status, priority, type, NULLIF(category, '')::"TicketCategory" AS category, count FROM ticket_counts
      WHERE tenant_id = ${tenantId} AND count > 0${everybody(filters)}${conditions(filters, { category: 'text' })}),
    total AS (SELECT COALESCE(sum(count), 0)::int AS n FROM kind),
    page AS MATERIALIZED (SELECT id FROM (${ids}) AS ids ORDER BY id DESC LIMIT ${take} OFFSET ${skip})`;
}

/** Ids among which the page is; the newest `skip + take` that match are among them. None for a page past the end. */
function idsOf(tenantId: bigint, filters: Filter[], { skip, take }: Range): Prisma.Sql {
  const ticketsThat = Prisma.sql`SELECT id FROM tickets WHERE tenant_id = ${tenantId} AND ${skip} < (SELECT n FROM total)`;
  const newest = Prisma.sql`ORDER BY id DESC LIMIT ${skip} + ${take}`;
  const [first, second] = filters;

  if (first?.name === 'assigneeId' || second === undefined) {
    return filters.every(({ values }) => values.length === 1)
      ? Prisma.sql`${ticketsThat}${conditions(filters)} ${newest}`
      : Prisma.sql`
          SELECT found.id FROM ${each(filters)} CROSS JOIN LATERAL (
            ${ticketsThat}${Prisma.join(
              filters.map(({ name }) => Prisma.raw(` AND ${types[name][0]} = ${name}.value`)),
              '',
            )} ${newest}
          ) AS found`;
  }
  const ofKind = Prisma.sql`${ticketsThat} AND status = kind.status AND priority = kind.priority AND type = kind.type`;
  return Prisma.sql`
    SELECT found.id FROM kind CROSS JOIN LATERAL (
      (${ofKind} AND category = kind.category ${newest})
      UNION ALL
      (${ofKind} AND kind.category IS NULL AND category IS NULL ${newest})
    ) AS found`;
}

/** Every combination of the filters' values, a column of each filter's name. */
function each(filters: Filter[]): Prisma.Sql {
  const sets = filters.map(({ name, values }) => {
    return Prisma.sql`unnest(${values}::text[]::${Prisma.raw(types[name][1])}[]) AS ${Prisma.raw(`${name} (value)`)}`;
  });
  return Prisma.join(sets, ' CROSS JOIN ');
}

/** Counters exist for each assignee, and under 0 for everybody. */
function everybody(filters: Filter[]): Prisma.Sql {
  return filters.some(({ name }) => name === 'assigneeId') ? Prisma.empty : Prisma.sql` AND assignee_id = 0`;
}

function conditions(filters: Filter[], otherTypes: Partial<Record<Filter['name'], string>> = {}): Prisma.Sql {
  const all = filters.map(({ name, values }) => {
    const [column, type] = [Prisma.raw(` AND ${types[name][0]}`), Prisma.raw(otherTypes[name] ?? types[name][1])];
    return values.length === 1
      ? Prisma.sql`${column} = ${values[0]}::${type}`
      : Prisma.sql`${column} = ANY (${values}::text[]::${type}[])`;
  });
  return Prisma.join([Prisma.empty, ...all], '');
}
