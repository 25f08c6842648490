import { integerFromText } from '@itsm-api/contract';
import * as z from 'zod';
import type { Page } from '../../resources/shared/lists.ts';
import { ApiError } from '../../shared/errors.ts';
import type { FormState } from '../framework/page.ts';
import { submit, textField } from './form-fields.ts';
import { type Cell, html, type SafeHtml } from './html.ts';

/*
 * Lists that are narrowed by words and by what they are: all of it stands in the address.
 */

/** Rows on a page of a list. */
export const perPage = 25;

const pageNumbers = 'must be a whole number from 1 to 1000000';

export const PageNumber = integerFromText(z.int(pageNumbers).min(1, pageNumbers).max(1_000_000, pageNumbers)).default(
  1,
);

/** Words as they were typed: what is wrong with them is told beside them. */
export const Words = z.string().max(1000).optional();

interface Searched<Row> {
  list: Page<Row>;
  /** The words, and what is wrong with them. */
  words: FormState;
}

/** A page of a list by words; of words that are of no use it is empty, and they are told. */
export async function searched<Row>(
  q: string | undefined,
  schema: z.ZodType<string | undefined>,
  find: (q: string | undefined) => Promise<Page<Row>>,
): Promise<Searched<Row>> {
  const values = { q: [q ?? ''] };
  const refused = (message: string): Searched<Row> => ({
    list: { data: [], meta: { page: 1, perPage, totalCount: 0 } },
    words: { values, errors: { q: message } },
  });
  const parsed = schema.safeParse(q === '' ? undefined : q);
  if (!parsed.success) return refused(parsed.error.issues[0]?.message ?? 'is not valid');
  try {
    return { list: await find(parsed.data), words: { values, errors: {} } };
  } catch (error) {
    if (error instanceof ApiError && error.code === 'QUERY_TOO_BROAD') return refused(error.message);
    throw error;
  }
}

/** What is shown where there is no row: what is wrong with the words, or what the list says of itself. */
export function noRow({ errors }: FormState, none: Cell): Cell {
  return errors.q === undefined ? none : html`<p>Search: ${errors.q}</p>`;
}

/** The form that narrows a list. @param placeholder what the words are looked for in */
export function searchForm(path: string, words: FormState, placeholder: string, filters: SafeHtml[] = []): SafeHtml {
  return html`<form class="filters" role="search" method="get" action="${path}" data-live="found">
${textField(words, { name: 'q', label: 'Search', type: 'search', placeholder })}${filters}${submit('Search', 'plain')}</form>`;
}

/** One of some values as a choice; the first is any of them. */
export function anyOr(values: readonly string[], any: string): { value: string; label: string }[] {
  return [{ value: '', label: any }, ...values.map((value) => ({ value, label: value }))];
}
