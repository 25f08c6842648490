import { ok } from '../../reply.ts';
import type { Handlers } from '../handlers.ts';
import { getMe } from './queries.ts';

export const me: Handlers<'me'> = {
  get: async ({ request }) => ok(await getMe(request.ctx, await request.describeKey())),
};
