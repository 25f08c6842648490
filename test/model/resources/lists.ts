/*
 * Lists (docs/decisions/pagination.md).
 */

/** The query of a list: values of filters are arrays; paging and order beside them. */
export type ListQuery = Readonly<Record<string, unknown>> & { page?: number; perPage?: number; sort?: string };

/** Whether a value is one of a filter's; without the filter any is. */
export function anyOf(values: unknown, value: unknown): boolean {
  return values === undefined || (values as unknown[]).includes(value);
}

/** A page of a list: the newest first, by id, unless asked otherwise. */
export function pageOf<Row extends { id: number }>(rows: readonly Row[], { page = 1, perPage = 20, sort }: ListQuery) {
  const ordered = rows.toSorted((a, b) => (sort === 'id' ? a.id - b.id : b.id - a.id));
  const data = ordered.slice((page - 1) * perPage, page * perPage);
  return { data, meta: { page, perPage, totalCount: rows.length } };
}
