import { ok, page } from '../../reply.ts';
import type { Handlers } from '../handlers.ts';
import { listAssets, updateAsset } from './queries.ts';

export const assets: Handlers<'assets'> = {
  list: async ({ request, query }) => page(await listAssets(request.ctx, query)),
  update: async ({ request, params, body }) => ok(await updateAsset(request.ctx, params.id, body)),
};
