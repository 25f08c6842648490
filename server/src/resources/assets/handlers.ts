import { created, ok, page } from '../../shared/responses.ts';
import type { Handlers } from '../handler-type.ts';
import { listChanges } from '../sync/change-feed.ts';
import { assetRows, createAsset, getAsset, listAssets, updateAsset } from './queries.ts';
import { upsertAssets } from './upsert.ts';

export const assets: Handlers<'assets'> = {
  list: async ({ request, query }) => page(await listAssets(request.ctx, query)),
  changes: async ({ request, query }) => page(await listChanges(request.ctx, assetRows, query)),
  get: async ({ request, params }) => ok(await getAsset(request.ctx, params.id)),
  create: async ({ request, body }) => created(await createAsset(request.ctx, body)),
  upsertMany: async ({ request, body }) => ok(await upsertAssets(request.ctx, body)),
  update: async ({ request, params, body }) => ok(await updateAsset(request.ctx, params.id, body)),
};
