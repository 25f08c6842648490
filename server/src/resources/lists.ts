import type { PageMeta, PageQuery } from '@itsm-api/contract';
import type { TenantClient } from '../database/tenant-client.ts';
import { findIds, type Searched, type SearchWhere } from './search.ts';

/** A page of rows as the list envelope wants it. */
export interface Page<Row> {
  data: Row[];
  meta: PageMeta;
}

interface PageSource<Row> {
  /** How many rows there are on all pages. */
  count(): Promise<number>;
  /** Some of the rows, newest first. */
  find(range: { skip: number; take: number }): Promise<Row[]>;
}

/** How many rows are counted where no counter holds how many there are (docs/decisions/lists.md). */
export const mostCounted = 100_000;

/** Reads one page (docs/decisions/lists.md). A page past the end is empty and is not looked for. */
export async function readPage<Row>(query: PageQuery, { count, find }: PageSource<Row>): Promise<Page<Row>> {
  const totalCount = await count();
  const skip = (query.page - 1) * query.perPage;
  const data = skip < totalCount ? await find({ skip, take: query.perPage }) : [];
  return { data, meta: pageMeta(query, { totalCount }) };
}

interface SearchableSource<Row, Where extends SearchWhere> {
  db: TenantClient;
  resource: Searched;
  /** What the filters ask for. */
  where: Where;
  count(): Promise<number>;
  /** Some of these rows, newest first. */
  find(asked: { where: Where | { id: { in: number[] } }; skip?: number; take?: number }): Promise<Row[]>;
}

/**
 * Reads one page of a list that can be searched by words (docs/decisions/search.md).
 * @throws ApiError QUERY_TOO_BROAD
 */
export async function readSearchablePage<Row, Where extends SearchWhere>(
  query: PageQuery & { q?: string | undefined },
  { db, resource, where, count, find }: SearchableSource<Row, Where>,
): Promise<Page<Row>> {
  const { page, perPage, q } = query;
  if (q === undefined) return readPage(query, { count, find: (range) => find({ where, ...range }) });
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
