import { created, ok, page } from '../../../shared/responses.ts';
import type { Handlers } from '../../handler-type.ts';
import { listChanges } from '../../sync/change-feed.ts';
import { createComment, createComments } from './comment-creation.ts';
import { commentRows, listComments } from './queries.ts';

export const comments: Handlers<'comments'> = {
  list: async ({ request, params, query }) => page(await listComments(request.ctx, params.id, query)),
  changes: async ({ request, query }) => page(await listChanges(request.ctx, commentRows, query)),
  create: async ({ request, params, body }) => created(await createComment(request.ctx, params.id, body)),
  createMany: async ({ request, params, body }) => ok(await createComments(request.ctx, params.id, body.comments)),
};
