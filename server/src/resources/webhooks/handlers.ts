import { created, ok, page } from '../../reply.ts';
import type { Handlers } from '../handlers.ts';
import { createWebhook, deleteWebhook, getWebhook, listWebhooks } from './queries.ts';

export const webhooks: Handlers<'webhooks'> = {
  list: async ({ request, query }) => page(await listWebhooks(request.ctx, query)),
  get: async ({ request, params }) => ok(await getWebhook(request.ctx, params.id)),
  create: async ({ request, body }) => created(await createWebhook(request.ctx, body)),
  delete: async ({ request, params }) => ok(await deleteWebhook(request.ctx, params.id)),
};
