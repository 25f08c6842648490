import { created, ok } from '../../shared/responses.ts';
import { type Handlers, handlersOf } from '../handler-type.ts';
import { assetRows, createAsset, getAsset, listAssets, updateAsset } from './queries.ts';
import { upsertAssets } from './upsert.ts';

export const assets: Handlers<'assets'> = {
  ...handlersOf({ list: listAssets, rows: assetRows, get: getAsset }),
  create: async ({ request, body }) => created(await createAsset(request.ctx, body)),
  upsertMany: async ({ request, body }) => ok(await upsertAssets(request.ctx, body)),
  update: async ({ request, params, body }) => ok(await updateAsset(request.ctx, params.id, body)),
};
