import { integerFromText } from '@itsm-api/contract';
import * as z from 'zod';
import type { Page } from '../../resources/shared/lists.ts';
import { ApiError } from '../../shared/errors.ts';
import type { FormState } from '../framework/page.ts';
import { type Option, selectField, submit, textField } from './form-fields.ts';
import { type Cell, html, maxUncountedPage, pager, type SafeHtml, table } from './html.ts';

/*
 * Functions for lists with full-text search and filters. The search text and the filters are query parameters of the
 * page.
 */

/** Number of rows per page. */
export const perPage = 25;

const pageNumbers = 'must be a whole number from 1 to 1000000';

export const PageNumber = integerFromText(z.int(pageNumbers).min(1, pageNumbers).max(1_000_000, pageNumbers)).default(
  1,
);

/** The page number of a list with `uncountedPager`. */
export const UncountedPageNumber = integerFromText(z.int().min(1).max(maxUncountedPage)).default(1);

/**
 * The schema of the search text. It accepts any text of up to 1000 characters, because `searchList` validates the text
 * and returns the error for the field.
 */
export const SearchText = z.string().max(1000).optional();

interface SearchResult<Row> {
  list: Page<Row>;
  /** The search text and its validation error. */
  words: FormState;
}

/**
 * Returns a page of the rows that match the search text. If the text is invalid or too broad, returns an empty page and
 * the error.
 */
export async function searchList<Row>(
  q: string | undefined,
  schema: z.ZodType<string | undefined>,
  find: (q: string | undefined) => Promise<Page<Row>>,
): Promise<SearchResult<Row>> {
  const values = { q: [q ?? ''] };
  const reject = (message: string): SearchResult<Row> => ({
    list: { data: [], meta: { page: 1, perPage, totalCount: 0 } },
    words: { values, errors: { q: message } },
  });
  const parsed = schema.safeParse(q === '' ? undefined : q);
  if (!parsed.success) return reject(parsed.error.issues[0]?.message ?? 'is not valid');
  try {
    return { list: await find(parsed.data), words: { values, errors: {} } };
  } catch (error) {
    if (error instanceof ApiError && error.code === 'QUERY_TOO_BROAD') return reject(error.message);
    throw error;
  }
}

interface SearchView {
  path: string;
  /** The path and the query of the page. */
  address: string;
  /** The text that names the fields that the search covers. */
  placeholder: string;
  filters: SafeHtml[];
  caption: string;
  heads: readonly string[];
  rows: readonly (readonly Cell[])[];
  /** The text for an empty list. If the search text is invalid, the page shows its error instead. */
  none: Cell;
}

/** Renders the search form of a list and the rows that match. */
export function renderSearch({ list, words }: SearchResult<unknown>, view: SearchView): SafeHtml {
  const { path, address, placeholder, filters, caption, heads, rows, none } = view;
  const empty = words.errors.q === undefined ? none : html`<p>Search: ${words.errors.q}</p>`;
  return html`<form class="filters" role="search" method="get" action="${path}" data-live="found">
${textField(words, { name: 'q', label: 'Search', type: 'search', placeholder })}${filters}${submit('Search', 'plain')}</form>
<div id="found">${table(caption, heads, rows, empty)}
${pager(list.meta, address)}</div>`;
}

/** Renders a filter of a list. Its first option matches all values. */
export function filterField(
  name: string,
  label: string,
  value: string | number | undefined,
  options: readonly (string | Option)[],
): SafeHtml {
  const all = options.map((option) => (typeof option === 'string' ? { value: option, label: option } : option));
  return selectField(undefined, { name, label, value, options: [{ value: '', label: 'Any' }, ...all] });
}
