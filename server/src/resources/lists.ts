import type { PageMeta, PageQuery } from '@itsm-api/contract';

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

/** Reads one page (docs/decisions/lists.md). A page past the end is empty and is not looked for. */
export async function readPage<Row>(query: PageQuery, { count, find }: PageSource<Row>): Promise<Page<Row>> {
  const totalCount = await count();
  const skip = (query.page - 1) * query.perPage;
  const data = skip < totalCount ? await find({ skip, take: query.perPage }) : [];
  return { data, meta: pageMeta(query, { totalCount }) };
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
