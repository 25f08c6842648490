// The search doesn't use MiniSearch 7, because MiniSearch would replace only 25 of the 110 lines of search code. It
// would also add 86 kB of script to the site.

import { findApiDocument } from '../shared/api-document.ts';
import { operationPath, operationsOf } from './contract-pages.ts';
import { sectionsOf, textOf } from './markdown.ts';
import { sourceOf } from './page-source.ts';
import { operationPages, type Page, pages, reference } from './site-pages.ts';

/** An entry of the search index. It describes a section of a page, or an API operation. */
export interface SearchEntry {
  title: string;
  /** The title of the page that contains the section, or the method and path of the operation. */
  place: string;
  href: string;
  text: string;
  /** Other words by which the search finds the entry. */
  keywords?: string;
  /** Whether the search lists other entries first. */
  isSecondary?: true;
}

/**
 * Builds the search index. The index contains an entry for each section of a page and for each API operation. The script
 * docs.js searches the index in the browser.
 */
export async function searchIndex(): Promise<SearchEntry[]> {
  const written = pages.filter((page) => page !== reference && !operationPages.has(page));
  const found = await Promise.all(written.map(async (page) => entriesOf(page, await sourceOf(page))));
  const { path: href, title, about: text, keywords = '' } = reference;
  const referenceEntry = { title, place: title, href, text, keywords };
  return [...found.flat(), referenceEntry, ...operationsOf(await findApiDocument()).map(entryOf)];
}

function entriesOf(page: Page, markdown: string): SearchEntry[] {
  return sectionsOf(markdown).map(({ id, depth, title, tokens }) => ({
    title,
    place: page.title,
    href: depth === 1 ? page.path : `${page.path}#${id}`,
    text: textOf(tokens),
    ...(depth === 1 && page.keywords !== undefined && { keywords: page.keywords }),
    ...(page.isSecondary === true && { isSecondary: true as const }),
  }));
}

function entryOf({ method, path, operation }: ReturnType<typeof operationsOf>[number]): SearchEntry {
  return {
    title: operation.summary ?? operation.operationId,
    place: `${method} ${path}`,
    href: operationPath(operation.operationId),
    text: (operation.description ?? '').replace(/[`*]/g, '').replace(/\s+/g, ' '),
  };
}
