import { created, ok, page } from '../../shared/responses.ts';
import { sendTestEvent } from '../deliveries/queries.ts';
import type { Handlers } from '../handler-type.ts';
import { getWebhook, listWebhooks } from './queries.ts';
import { createWebhook, deleteWebhook, updateWebhook } from './webhook-management.ts';
import { replayWebhook } from './webhook-replays.ts';

export const webhooks: Handlers<'webhooks'> = {
  list: async ({ request, query }) => page(await listWebhooks(request.ctx, query)),
  get: async ({ request, params }) => ok(await getWebhook(request.ctx, params.id)),
  create: async ({ request, body }) => created(await createWebhook(request.ctx, body)),
  update: async ({ request, params, body }) => ok(await updateWebhook(request.ctx, params.id, body)),
  test: async ({ request, params }) => created(await sendTestEvent(request.ctx, params.id)),
  replay: async ({ request, params, body }) => ok(await replayWebhook(request.ctx, params.id, body)),
  delete: async ({ request, params }) => ok(await deleteWebhook(request.ctx, params.id)),
};
