import type { Article } from '@itsm-api/contract';
import { anyOf, type ListQuery } from './lists.ts';
import { holdsWords } from './search.ts';

/** Returns a page of the list of articles: title matches first, then newest first (docs/decisions/articles-design.md). */
export function articlePage(articles: readonly Article[], query: ListQuery) {
  const { page = 1, perPage = 20, q, category } = query;
  const holds = (...texts: (string | null)[]) =>
    q === undefined || holdsWords(q as string, [texts.filter((text) => text !== null).join(' ')]);
  const found = articles.filter((each) => anyOf(category, each.category) && holds(each.title, each.body));
  const ordered = found.toSorted((a, b) => Number(holds(b.title)) - Number(holds(a.title)) || b.id - a.id);
  const data = ordered.slice((page - 1) * perPage, page * perPage).map(({ body, ...summary }) => summary);
  return { data, meta: { page, perPage, totalCount: found.length } };
}
