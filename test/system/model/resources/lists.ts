import type { CustomFields } from '@itsm-api/contract';

/* Models lists (docs/decisions/pagination-design.md). */

/** The query parameters of a list. Filters are arrays of values. */
export type ListQuery = Readonly<Record<string, unknown>> & { page?: number; perPage?: number; sort?: string };

/** Returns true if a value matches a filter, or if the filter is undefined. */
export function anyOf(values: unknown, value: unknown): boolean {
  return values === undefined || (values as unknown[]).includes(value);
}

/** Returns true if a row matches the filters by custom fields, which compare the text of values. */
export function matchesFields(row: { customFields: CustomFields }, filters: unknown): boolean {
  return Object.entries((filters ?? {}) as Record<string, string[]>).every(([key, values]) =>
    [row.customFields[key] ?? []].flat().some((value) => values.includes(String(value))),
  );
}

/** Returns a page of a list. By default, the list is sorted by id in descending order. */
export function pageOf<Row extends { id: number }>(rows: readonly Row[], { page = 1, perPage = 20, sort }: ListQuery) {
  const ordered = rows.toSorted((a, b) => (sort === 'id' ? a.id - b.id : b.id - a.id));
  const data = ordered.slice((page - 1) * perPage, page * perPage);
  return { data, meta: { page, perPage, totalCount: rows.length } };
}
