import { ok, page } from '../../reply.ts';
import type { Handlers } from '../handlers.ts';
import { getUser, listUsers } from './queries.ts';

export const users: Handlers<'users'> = {
  list: async ({ request, query }) => page(await listUsers(request.ctx, query)),
  get: async ({ request, params }) => ok(await getUser(request.ctx, params.id)),
};
