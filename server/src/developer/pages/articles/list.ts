import { ArticleQuery, ArticleStatus } from '@itsm-api/contract';
import * as z from 'zod';
import { listAllArticles } from '../../../resources/articles/queries.ts';
import { page } from '../../framework/page.ts';
import { filterField, PageNumber, perPage, renderSearch, SearchText, searchList } from '../../ui/filtered-list.ts';
import { optional } from '../../ui/form-fields.ts';
import { html, linkButton } from '../../ui/html.ts';
import { path, roles, statusBadge } from './fields.ts';

/** The page that lists the articles of the knowledge base, including drafts. */
export const articles = page({
  path,
  menu: 'Articles',
  roles,
  query: z.strictObject({ page: PageNumber, q: SearchText, status: optional(ArticleStatus) }),
  async show({ visit, query, address }) {
    const { q = '', status, page } = query;
    const found = await searchList(q, ArticleQuery.shape.q, (q) =>
      listAllArticles(visit.context, { page, perPage, q, status }),
    );
    const rows = found.list.data.map(({ id, title, category, status, updatedAt }) => [
      html`<a href="${path}/${id}">${title}</a>`,
      category ?? '',
      statusBadge(status),
      visit.time(updatedAt),
    ]);
    const none =
      q === '' && status === undefined
        ? html`No articles yet. <a href="${path}/new">Write an article</a>, or import a folder with <code>itsm articles import</code>.`
        : html`No articles match your search. <a href="${path}">Show all articles</a>`;
    return {
      title: 'Articles',
      body: html`<p class="lead">The articles of the knowledge base, newest first. API keys with the scope <code>kb:read</code> read the published articles.</p>
<p class="actions">${linkButton(`${path}/new`, 'New article', 'main')}</p>
${renderSearch(found, {
  ...{ path, address, placeholder: 'Title or text' },
  filters: [filterField('status', 'Status', status, ArticleStatus.options)],
  ...{ caption: 'Articles', heads: ['Title', 'Category', 'Status', 'Updated'], rows, none },
})}`,
    };
  },
});
