import { page } from '../../reply.ts';
import { listChanges } from '../change-feed.ts';
import type { Handlers } from '../handlers.ts';
import { listUsers, userRows } from './queries.ts';

export const users: Handlers<'users'> = {
  list: async ({ request, query }) => page(await listUsers(request.ctx, query)),
  changes: async ({ request, query }) => page(await listChanges(request.ctx, userRows, query)),
};
