import { ok, page } from '../../reply.ts';
import { listChanges } from '../change-feed.ts';
import type { Handlers } from '../handlers.ts';
import { assetRows, listAssets, updateAsset } from './queries.ts';

export const assets: Handlers<'assets'> = {
  list: async ({ request, query }) => page(await listAssets(request.ctx, query)),
  changes: async ({ request, query }) => page(await listChanges(request.ctx, assetRows, query)),
  update: async ({ request, params, body }) => ok(await updateAsset(request.ctx, params.id, body)),
};
