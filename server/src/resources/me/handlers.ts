import { ok } from '../../shared/responses.ts';
import type { Handlers } from '../all-handlers.ts';
import { getMe } from './queries.ts';

export const me: Handlers<'me'> = {
  get: async ({ request }) => ok(await getMe(request.ctx, await request.describeKey())),
};
