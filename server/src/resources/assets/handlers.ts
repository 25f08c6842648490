import { created, ok, page } from '../../reply.ts';
import type { Handlers } from '../handlers.ts';
import { createAsset, getAsset, listAssets, updateAsset } from './queries.ts';

export const assets: Handlers<'assets'> = {
  list: async ({ request, query }) => page(await listAssets(request.ctx, query)),
  get: async ({ request, params }) => ok(await getAsset(request.ctx, params.id)),
  create: async ({ request, body }) => created(await createAsset(request.ctx, body)),
  update: async ({ request, params, body }) => ok(await updateAsset(request.ctx, params.id, body)),
};
