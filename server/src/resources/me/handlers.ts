import { ok } from '../../shared/responses.ts';
import type { Handlers } from '../handler-type.ts';
import { getMe } from './queries.ts';

export const me: Handlers<'me'> = {
  get: async ({ request }) => ok(await getMe(request.ctx, await request.describeKey())),
};
