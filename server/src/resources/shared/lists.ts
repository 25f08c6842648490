import type { PageMeta, PageQuery } from '@itsm-api/contract';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { findIds, rejectingBroadQueries, type Searched, type SearchWhere } from './search.ts';

/** A page of rows as the list envelope wants it. */
export interface Page<Row> {
  data: Row[];
  meta: PageMeta;
}

/** Some of the rows, from the newest on; or, with `orderBy`, from the oldest. */
interface Range {
  skip: number;
  take: number;
  orderBy?: { id: 'asc' };
}

interface PageSource<Row> {
  /** How many rows there are on all pages. */
  count(): Promise<number>;
  /** Some of the rows, in the order asked for. */
  find(range: Range): Promise<Row[]>;
}

/** How many rows are counted where no counter holds how many there are (docs/decisions/pagination.md). */
export const maxCounted = 100_000;

/** Reads one page (docs/decisions/pagination.md). A page past the end is empty and is not looked for. */
export async function readPage<Row>(query: PageQuery, { count, find }: PageSource<Row>): Promise<Page<Row>> {
  const totalCount = await count();
  return { data: await findRange(query, totalCount, find), meta: pageMeta(query, { totalCount }) };
}

/** The rows of a page, from the end of the list that is nearer: whatever is before them is walked past. */
async function findRange<Row>(
  { page, perPage }: PageQuery,
  totalCount: number,
  find: PageSource<Row>['find'],
): Promise<Row[]> {
  const skip = (page - 1) * perPage;
  const take = Math.min(perPage, totalCount - skip);
  if (take <= 0) return [];
  const behind = totalCount - skip - take;
  if (skip <= behind) return find({ skip, take });
  return (await find({ skip: behind, take, orderBy: { id: 'asc' } })).reverse();
}

interface SearchableSource<Row, Where extends SearchWhere> {
  db: TenantClient;
  resource: Searched;
  /** What the filters ask for. */
  where: Where;
  count(): Promise<number>;
  /** Some of these rows, newest first unless another order is asked for. */
  find(asked: { where: Where | { id: { in: number[] } } } & Partial<Range>): Promise<Row[]>;
}

/**
 * Reads one page of a list that can be searched by words (docs/decisions/full-text-search.md).
 * @throws ApiError QUERY_TOO_BROAD
 */
export async function readSearchablePage<Row, Where extends SearchWhere>(
  query: PageQuery & { q?: string | undefined },
  { db, resource, where, count, find }: SearchableSource<Row, Where>,
): Promise<Page<Row>> {
  const { page, perPage, q } = query;
  if (q === undefined) {
    return rejectingBroadQueries(() => readPage(query, { count, find: (range) => find({ where, ...range }) }));
  }
  const found = await findIds(db, resource, { words: q, where, skip: (page - 1) * perPage, take: perPage });
  const data = found.ids.length > 0 ? await find({ where: { id: { in: found.ids } } }) : [];
  return { data, meta: pageMeta(query, found) };
}

/** The `meta` of a page; it tells of a total only when it is not exact. */
export function pageMeta(
  { page, perPage }: PageQuery,
  { totalCount, isCapped = false }: { totalCount: number; isCapped?: boolean },
): PageMeta {
  return { page, perPage, totalCount, ...(isCapped && { totalCountCapped: true }) };
}

/** The `where` of one filter: any of the values, or no restriction. */
export function anyOf<Column extends string, Value>(column: Column, values: Value[] | undefined) {
  return values === undefined ? {} : ({ [column]: { in: values } } as Record<Column, { in: Value[] }>);
}
