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
export async function readPage<Row>(
  { page, perPage }: PageQuery,
  { count, find }: PageSource<Row>,
): Promise<Page<Row>> {
  const totalCount = await count();
  const skip = (page - 1) * perPage;
  const data = skip < totalCount ? await find({ skip, take: perPage }) : [];
  return { data, meta: { page, perPage, totalCount } };
}

/** The `where` of one filter: any of the values, or no restriction. */
export function anyOf<Column extends string, Value>(column: Column, values: Value[] | undefined) {
  return values === undefined ? {} : ({ [column]: { in: values } } as Record<Column, { in: Value[] }>);
}
