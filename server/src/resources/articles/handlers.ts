import { ok, page } from '../../shared/responses.ts';
import type { Handlers } from '../handler-type.ts';
import { listChanges } from '../sync/change-feed.ts';
import { articleFeed, getArticle, listArticles } from './queries.ts';

export const articles: Handlers<'articles'> = {
  list: async ({ request, query }) => page(await listArticles(request.ctx, query)),
  changes: async ({ request, query }) => page(await listChanges(request.ctx, articleFeed, query)),
  get: async ({ request, params }) => ok(await getArticle(request.ctx, params.id)),
};
