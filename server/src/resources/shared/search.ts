import { identifier, join, type Sql, sql, tenant } from '../../database/client/sql.ts';
import { dynamic } from '../../database/client/statements.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { toColumn } from '../../database/column-name.ts';
import { hasErrorCode, QUERY_CANCELED } from '../../shared/error-codes.ts';
import { ApiError } from '../../shared/errors.ts';

/*
 * Finds rows that contain the words in the parameter `q`. One table contains the words of all resources. Because of
 * row-level security, requests can't use the index on this table directly. Instead, a request calls a database function
 * that searches only the tenant of the request (docs/decisions/full-text-search.md).
 */

/**
 * The maximum number of rows that a search with `q` finds. If more rows match, the search finds only the first ones in
 * sort order.
 */
export const maxFound = 10_000;

/** Builds SQL that selects the ids of rows that contain all of the words. Selects at most `maxFound + 1` ids. */
export function searchTexts(resource: string, words: string, order: 'ASC' | 'DESC'): Sql {
  return sql`SELECT id FROM search_texts(${resource}, ${words}, ${order === 'DESC'}, ${maxFound + 1})`;
}

/**
 * Builds SQL that selects ids from the CTE `among` if their rows match the words. `among.place` is the partition of the
 * search index that contains the row. The SQL looks up each text by key, regardless of the planner's estimates.
 */
export function filterByWords(resource: string, words: string): Sql {
  return sql`SELECT among.id FROM among JOIN (
      SELECT place, replace((SELECT text_query(${words})), chr(1), text_place(${tenant}, ${resource}, place))::tsquery
        AS query
      FROM (SELECT DISTINCT place FROM among) AS places OFFSET 0
    ) AS queries USING (place) CROSS JOIN LATERAL (
      SELECT FROM texts WHERE tenant_id = ${tenant} AND resource = ${resource} AND id = among.id
        AND document @@ queries.query
      LIMIT 1
    ) AS text`;
}

/** The resources with few rows. A search can look up each of their rows separately. */
export type SmallResource = 'assets' | 'users' | 'projects' | 'tasks';

/** The search conditions, by Prisma column name. A condition is one value or a list of alternatives. */
export type SearchWhere = Record<string, SearchValue | { in: SearchValue[] } | Tagged | OfField[]>;
type SearchValue = string | number | boolean;
/** The condition for a row with one of the tags. */
type Tagged = { some: { tag: { in: string[] } } };
/** The condition for an asset whose custom field has one of the values. */
type OfField = { fieldValues: { some: { key: string; value: { in: string[] } } } };

interface Search {
  words: string;
  where: SearchWhere;
  skip: number;
  take: number;
}

/** The ids on one page of search results, newest first. */
interface FoundIds {
  ids: number[];
  /** The number of matching rows, but at most `maxFound`. */
  totalCount: number;
  isCapped: boolean;
}

/**
 * Finds rows by words and filters. First finds up to `maxFound` rows that match the words, and then applies the filters
 * to these rows. If more rows match the words, this result can be incomplete. In that case, runs a second query, which
 * first applies the filters and then checks the words.
 * @throws ApiError QUERY_TOO_BROAD
 */
export async function findIds(
  db: TenantClient,
  resource: SmallResource,
  { words, where, skip, take }: Search,
): Promise<FoundIds> {
  const table = identifier(resource);
  const conditions = Object.entries(where).map(([name, condition]) => {
    if (Array.isArray(condition)) return join(condition.map(ofField), ' AND ');
    if (typeof condition === 'object' && 'some' in condition) return sql`t.tags && ${condition.some.tag.in}::text[]`;
    const any = typeof condition === 'object' ? condition.in : [condition];
    return sql`t.${identifier(toColumn(name))} = ANY (${any}::${getSqlType(any)}[])`;
  });
  const which = join([sql`t.tenant_id = ${tenant}`, ...conditions], ' AND ');
  const range = { skip: Math.min(skip, maxFound), take };
  const runQuery = async (checked: Sql, found: Sql) => {
    const [row] = await rejectBroadQuery(() => db.$sql(dynamic<CountedIds>(() => countIds(checked, found, range))));
    return row as CountedIds;
  };

  const byWords = await runQuery(
    searchTexts(resource, words, 'DESC'),
    sql`SELECT id FROM among JOIN ${table} t USING (id) WHERE ${which}`,
  );
  const isComplete = byWords.checked <= maxFound || byWords.count > maxFound;
  const { count, ids } = isComplete
    ? byWords
    : await runQuery(sql`SELECT id, 0 AS place FROM ${table} t WHERE ${which}`, filterByWords(resource, words));
  return { ids: ids ?? [], totalCount: Math.min(count, maxFound), isCapped: count > maxFound };
}

/** Builds the SQL condition for an asset with a value of a custom field. */
function ofField({ fieldValues: { some } }: OfField): Sql {
  return sql`EXISTS (SELECT FROM asset_field_values v WHERE v.tenant_id = ${tenant} AND v.asset_id = t.id
    AND v.key = ${some.key} AND v.value = ANY (${some.value.in}::text[]))`;
}

interface CountedIds {
  count: number;
  /** The number of rows that the query has checked. */
  checked: number;
  ids: number[] | null;
}

/**
 * Builds SQL that counts the matching ids and selects the ids on one page.
 * @param checked selects the ids of the rows to check; becomes the CTE `among`
 * @param found selects the matching ids from `among`
 */
function countIds(checked: Sql, found: Sql, { skip, take }: Pick<Search, 'skip' | 'take'>): Sql {
  return sql`WITH among AS MATERIALIZED (${checked}), found AS MATERIALIZED (
      ${found} ORDER BY id DESC LIMIT ${maxFound + 1}
    )
    SELECT (SELECT count(*) FROM found)::int AS count, (SELECT count(*) FROM among)::int AS checked,
      (SELECT json_agg(id) FROM (SELECT id FROM (SELECT id FROM found LIMIT ${maxFound}) AS counted
        ORDER BY id DESC LIMIT ${take} OFFSET ${skip}) AS page) AS ids`;
}

function getSqlType([value]: SearchValue[]): Sql {
  const types = { string: sql`text`, number: sql`bigint`, boolean: sql`boolean` };
  return types[typeof value as keyof typeof types];
}

/** Matches PostgreSQL's error message for a statement that an administrator canceled. */
const cancelledByAdministrator = /due to user request/;

/** Runs a query that can time out. @throws ApiError QUERY_TOO_BROAD if a statement times out */
export async function rejectBroadQuery<Result>(runQuery: () => Promise<Result>): Promise<Result> {
  try {
    return await runQuery();
  } catch (error) {
    if (!hasErrorCode(error, QUERY_CANCELED) || cancelledByAdministrator.test((error as Error).message)) throw error;
    const advice = 'Narrow it: add a filter, or add a word to `q`.';
    throw new ApiError('QUERY_TOO_BROAD', `The query took too long. ${advice}`);
  }
}
