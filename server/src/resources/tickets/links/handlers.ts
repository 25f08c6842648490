import { created, ok, page } from '../../../shared/responses.ts';
import type { Handlers } from '../../handler-type.ts';
import { createLink, deleteLink, listLinks } from './queries.ts';

export const links: Handlers<'links'> = {
  list: async ({ request, params, query }) => page(await listLinks(request.ctx, params.id, query)),
  create: async ({ request, params, body }) => created(await createLink(request.ctx, params.id, body)),
  delete: async ({ request, params }) => ok(await deleteLink(request.ctx, params.id, params.linkId)),
};
