import * as z from 'zod';
import { changesOf } from '../changes.ts';
import { endpoints, filter, IdParam, item, list, listQuery, meta, search } from '../endpoint.ts';
import { Id, longText, responseText, Title, trimmedText, versionFields } from '../fields.ts';

/**
 * The status of an article in the developer area and on the command line. The API shows no drafts
 * (docs/decisions/articles-design.md).
 */
export const ArticleStatus = z.enum(['DRAFT', 'PUBLISHED', 'ARCHIVED']);
export type ArticleStatus = z.output<typeof ArticleStatus>;

const Status = ArticleStatus.exclude(['DRAFT']).meta({
  id: 'ArticleStatus',
  description: 'PUBLISHED, or ARCHIVED if the article is no longer published. Only the change feed returns ARCHIVED.',
});
// Filters separate their values with commas.
const Category = trimmedText(1, 100)
  .regex(/^[^,]*$/, 'must not contain a comma')
  .meta({ description: 'The category, as free text without commas, or null if the article has none.' });
const Body = longText('The text in Markdown', 262_144);

const summary = {
  id: Id,
  title: responseText(Title),
  category: responseText(Category).nullable(),
  status: Status,
};

const example = {
  id: 1,
  title: 'Fix a VPN connection that drops',
  category: 'Network',
  status: 'PUBLISHED',
  createdAt: '2026-08-20T08:00:00.000Z',
  updatedAt: '2026-11-02T15:45:00.000Z',
  etag: '"1-mvzfjvc0"',
} as const;

export const ArticleSummary = z
  .object({ ...summary, ...versionFields })
  .meta({ id: 'ArticleSummary', description: 'An article of the knowledge base without its text.', example });
export type ArticleSummary = z.output<typeof ArticleSummary>;

export const Article = z
  .object({
    ...summary,
    body: responseText(Body).nullable().meta({
      description: 'The text in Markdown, at most 256 KiB, or null if the article is no longer published.',
    }),
    ...versionFields,
  })
  .meta({
    id: 'Article',
    description: 'An article of the knowledge base.',
    example: { ...example, body: 'Install version 5.2 of the VPN client, and restart the computer.' },
  });
export type Article = z.output<typeof Article>;

/** A new article, from the developer area or the command line. v1 has no endpoint that creates articles. */
export const NewArticle = z.strictObject({
  title: Title,
  category: Category.nullish(),
  body: Body,
});
export type NewArticle = z.output<typeof NewArticle>;

/** Changes to an article, from the developer area or the command line. v1 has no endpoint that changes articles. */
export const ArticlePatch = NewArticle.partial().extend({ status: ArticleStatus.optional() });
export type ArticlePatch = z.output<typeof ArticlePatch>;

export const ArticleQuery = listQuery({ category: filter(Category), q: search('title and body') });
export type ArticleQuery = z.output<typeof ArticleQuery>;

export const articles = endpoints({
  list: {
    method: 'GET',
    path: '/articles',
    summary: 'List articles',
    description:
      'Returns the published articles without their text, newest first. ' +
      'With `q`, articles whose titles contain all words come first.',
    metadata: meta({
      scope: 'kb:read',
      group: 'kb',
      agent: {
        tool: 'search_articles',
        when: 'Finds instructions and known solutions.',
        short: ['id', 'title', 'category', 'updatedAt'],
      },
    }),
    query: ArticleQuery,
    responses: { 200: list(ArticleSummary) },
  },
  changes: {
    ...changesOf('/articles', Article, meta({ scope: 'kb:read', group: 'kb' })),
    description:
      'Returns each article that is or was published, ordered by its last change, for incremental sync. ' +
      'An article that is no longer published has the status ARCHIVED and the body null: delete your copy. ' +
      'To get the next page, send `nextCursor` as `cursor`. ' +
      'The feed never omits a changed article, and an article can appear more than once. ' +
      'Without `since` and `cursor`, the feed starts with the oldest change.',
  },
  get: {
    method: 'GET',
    path: '/articles/:id',
    summary: 'Get an article',
    description: 'Returns a published article.',
    metadata: meta({ scope: 'kb:read', group: 'kb', agent: { tool: 'read_article', when: 'Returns its Markdown.' } }),
    pathParams: IdParam,
    responses: { 200: item(Article) },
  },
});
