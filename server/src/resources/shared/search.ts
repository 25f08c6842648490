import { Prisma } from '../../../generated/prisma/client.ts';
import { queryRows, queryWithCustomPlan } from '../../database/client/raw-sql.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { ApiError } from '../../shared/errors.ts';
import { hasPgCode, QUERY_CANCELED } from '../../shared/pg-errors.ts';

/*
 * Rows by the words of `q`. The words of all resources stand in one table, whose index row-level security keeps from
 * requests: they ask a function that is bound to their tenant (docs/decisions/full-text-search.md).
 */

const { join, raw, sql } = Prisma;

/** How many rows `q` finds at most: of more, those that come first in the order asked for. */
export const maxFound = 10_000;

/** Selects the ids of those that have the words, at most one more than `mostFound`. */
export function searchTexts(resource: string, words: string, order: 'ASC' | 'DESC'): Prisma.Sql {
  return sql`SELECT id FROM search_texts(${resource}, ${words}, ${order === 'DESC'}, ${maxFound + 1})`;
}

/**
 * Selects the ids of those rows of the CTE `among` that have the words. A row of it has the `place` that its words stand in.
 * Each text is found by its key, whatever the planner knows of the table.
 */
export function whereWords({ $tenantId }: TenantClient, resource: string, words: string): Prisma.Sql {
  return sql`SELECT among.id FROM among JOIN (
      SELECT place, replace((SELECT text_query(${words})), chr(1), text_place(${$tenantId}, ${resource}, place))::tsquery
        AS query
      FROM (SELECT DISTINCT place FROM among) AS places OFFSET 0
    ) AS queries USING (place) CROSS JOIN LATERAL (
      SELECT FROM texts WHERE tenant_id = ${$tenantId} AND resource = ${resource} AND id = among.id
        AND document @@ queries.query
      LIMIT 1
    ) AS text`;
}

/** The resources whose rows are few enough to be looked up one by one. */
export type Searched = 'assets' | 'users' | 'projects' | 'tasks';

/** A condition for each column, by its name in Prisma's client: a value, or any of several. */
export type SearchWhere = Record<string, SearchValue | { in: SearchValue[] }>;
type SearchValue = string | number | boolean;

interface Search {
  words: string;
  where: SearchWhere;
  skip: number;
  take: number;
}

/** The ids of a page of what was found, newest first. */
interface FoundIds {
  ids: number[];
  /** How many rows were found; the most that are, where there are more. */
  totalCount: number;
  isCapped: boolean;
}

/**
 * Finds rows by their words, and by what else is asked of them: of those that have the words or, where these are too many
 * to be all looked at, of those that are what else is asked.
 * @throws ApiError QUERY_TOO_BROAD
 */
export async function findIds(
  db: TenantClient,
  resource: Searched,
  { words, where, skip, take }: Search,
): Promise<FoundIds> {
  const table = raw(resource);
  const conditions = Object.entries(where).map(([name, condition]) => {
    const any = typeof condition === 'object' ? condition.in : [condition];
    return sql`t.${raw(columnOf(name))} = ANY (${any}::${raw(typeOf(any))}[])`;
  });
  const which = join([sql`t.tenant_id = ${db.$tenantId}`, ...conditions], ' AND ');
  const range = { skip: Math.min(skip, maxFound), take };
  const ask = (select: typeof queryRows, looked: Prisma.Sql, found: Prisma.Sql) =>
    rejectingBroadQueries(() => select<CountedIds>(db, countIds(looked, found, range)));

  const byWords = await ask(
    queryRows,
    searchTexts(resource, words, 'DESC'),
    sql`SELECT id FROM among JOIN ${table} t USING (id) WHERE ${which}`,
  );
  const wasEnough = byWords.some(({ count, looked }) => looked <= maxFound || count > maxFound);
  const [found] = wasEnough
    ? byWords
    : await ask(
        queryWithCustomPlan,
        sql`SELECT id, 0 AS place FROM ${table} t WHERE ${which}`,
        whereWords(db, resource, words),
      );
  const { count = 0, ids } = found ?? {};
  return { ids: ids ?? [], totalCount: Math.min(count, maxFound), isCapped: count > maxFound };
}

interface CountedIds {
  count: number;
  /** How many were looked at. */
  looked: number;
  ids: number[] | null;
}

/** As literals: PostgreSQL takes a parameter for a tenth of all there is, where it plans a statement once for all values. */
const most = raw(String(maxFound));
const oneMore = raw(String(maxFound + 1));

/** @param found selects of the CTE `among`, which is what is looked at */
function countIds(looked: Prisma.Sql, found: Prisma.Sql, { skip, take }: Pick<Search, 'skip' | 'take'>): Prisma.Sql {
  return sql`WITH among AS MATERIALIZED (${looked}), found AS MATERIALIZED (
      ${found} ORDER BY id DESC LIMIT ${oneMore}
    )
    SELECT (SELECT count(*) FROM found)::int AS count, (SELECT count(*) FROM among)::int AS looked,
      (SELECT json_agg(id) FROM (SELECT id FROM (SELECT id FROM found LIMIT ${most}) AS counted
        ORDER BY id DESC LIMIT ${take} OFFSET ${skip}) AS page) AS ids`;
}

function columnOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function typeOf([value]: SearchValue[]): string {
  return { string: 'text', number: 'bigint', boolean: 'boolean' }[typeof value as 'string' | 'number' | 'boolean'];
}

/** What PostgreSQL says when an administrator has ended a statement. */
const byRequest = /due to user request/;

/** Asks for a list that may be too much to find. @throws ApiError QUERY_TOO_BROAD when it takes too long */
export async function rejectingBroadQueries<Result>(ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask();
  } catch (error) {
    if (!hasPgCode(error, QUERY_CANCELED) || byRequest.test((error as Error).message)) throw error;
    const advice = 'Narrow it: add a filter, or add a word to `q`.';
    throw new ApiError('QUERY_TOO_BROAD', `The query took too long. ${advice}`);
  }
}
