import type { PageMeta, PageQuery } from '@itsm-api/contract';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { findIds, rejectBroadQuery, type SearchWhere, type SmallResource } from './search.ts';

/** A page of rows with its metadata, in the format that list endpoints return. */
export interface Page<Row> {
  data: Row[];
  meta: PageMeta;
}

/** Selects a range of rows. By default, the newest row comes first. If `orderBy` is set, the oldest row comes first. */
interface Range {
  skip: number;
  take: number;
  orderBy?: { id: 'asc' };
}

interface PageSource<Row> {
  /** Returns the total number of rows. */
  count(): Promise<number>;
  /** Returns the requested rows in the requested order. */
  find(range: Range): Promise<Row[]>;
}

/** The maximum number of rows that a list counts if no counter stores the total (docs/decisions/pagination-design.md). */
export const maxCounted = 100_000;

/**
 * Reads one page of a list (docs/decisions/pagination-design.md). If the page is past the end, returns an empty page without
 * querying rows.
 */
export async function readPage<Row>(query: PageQuery, { count, find }: PageSource<Row>): Promise<Page<Row>> {
  const totalCount = await count();
  return { data: await findRange(query, totalCount, find), meta: pageMeta(query, { totalCount }) };
}

/**
 * Reads the rows of a page. Starts at the first or the last row of the list, whichever is nearer to the page, because
 * PostgreSQL scans all rows that it skips.
 */
async function findRange<Row>(
  { page, perPage }: PageQuery,
  totalCount: number,
  find: PageSource<Row>['find'],
): Promise<Row[]> {
  const skip = (page - 1) * perPage;
  const take = Math.min(perPage, totalCount - skip);
  if (take <= 0) return [];
  const remaining = totalCount - skip - take;
  if (skip <= remaining) return find({ skip, take });
  return (await find({ skip: remaining, take, orderBy: { id: 'asc' } })).reverse();
}

/** Returns one page of a list whose rows were all read in one query, so the total matches the rows. */
export function slicePage<Row>(query: PageQuery, rows: readonly Row[]): Page<Row> {
  const skip = (query.page - 1) * query.perPage;
  return { data: rows.slice(skip, skip + query.perPage), meta: pageMeta(query, { totalCount: rows.length }) };
}

interface SearchableSource<Row, Where extends SearchWhere> {
  db: TenantClient;
  resource: SmallResource;
  /** The filters as Prisma conditions. */
  where: Where;
  count(): Promise<number>;
  /** Returns matching rows, newest first by default. */
  find(asked: { where: Where | { id: { in: number[] } } } & Partial<Range>): Promise<Row[]>;
}

/**
 * Reads one page of a list that supports full-text search (docs/decisions/full-text-search.md).
 * @throws ApiError QUERY_TOO_BROAD
 */
export async function readSearchablePage<Row, Where extends SearchWhere>(
  query: PageQuery & { q?: string | undefined },
  { db, resource, where, count, find }: SearchableSource<Row, Where>,
): Promise<Page<Row>> {
  const { page, perPage, q } = query;
  if (q === undefined) {
    return rejectBroadQuery(() => readPage(query, { count, find: (range) => find({ where, ...range }) }));
  }
  const found = await findIds(db, resource, { words: q, where, skip: (page - 1) * perPage, take: perPage });
  const data = found.ids.length > 0 ? await find({ where: { id: { in: found.ids } } }) : [];
  return { data, meta: pageMeta(query, found) };
}

/** Builds the `meta` object of a page. Includes `totalCountCapped` only if the total is not exact. */
export function pageMeta(
  { page, perPage }: PageQuery,
  { totalCount, isCapped = false }: { totalCount: number; isCapped?: boolean },
): PageMeta {
  return { page, perPage, totalCount, ...(isCapped && { totalCountCapped: true }) };
}

/** Builds the Prisma condition for a filter. If the filter is absent, the condition matches every row. */
export function anyOf<Column extends string, Value>(column: Column, values: Value[] | undefined) {
  return values === undefined ? {} : ({ [column]: { in: values } } as Record<Column, { in: Value[] }>);
}

/**
 * Builds the Prisma condition for the filter `active`, because Prisma doesn't support `in` for booleans. If the filter
 * contains both true and false, the condition is empty.
 */
export function anyOfActive(values: boolean[] | undefined): { active?: boolean } {
  const distinct = [...new Set(values)];
  return distinct[0] === undefined || distinct.length > 1 ? {} : { active: distinct[0] };
}
