import { page } from '../../reply.ts';
import type { Handlers } from '../handlers.ts';
import { listUsers } from './queries.ts';

export const users: Handlers<'users'> = {
  list: async ({ request, query }) => page(await listUsers(request.ctx, query)),
};
