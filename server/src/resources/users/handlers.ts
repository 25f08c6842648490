import { ok, page } from '../../shared/responses.ts';
import type { Handlers } from '../handler-type.ts';
import { listChanges } from '../sync/change-feed.ts';
import { getUser, listUsers, userRows } from './queries.ts';

export const users: Handlers<'users'> = {
  list: async ({ request, query }) => page(await listUsers(request.ctx, query)),
  changes: async ({ request, query }) => page(await listChanges(request.ctx, userRows, query)),
  get: async ({ request, params }) => ok(await getUser(request.ctx, params.id)),
};
