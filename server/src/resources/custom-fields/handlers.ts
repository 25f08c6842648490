import { page } from '../../shared/responses.ts';
import type { Handlers } from '../handler-type.ts';
import { listDefinitions } from './queries.ts';

export const fields: Handlers<'fields'> = {
  list: async ({ request, query }) => page(await listDefinitions(request.ctx, query)),
};
