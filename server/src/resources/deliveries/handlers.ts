import { ok, page } from '../../shared/responses.ts';
import type { Handlers } from '../handler-type.ts';
import { getDelivery, listDeliveries, replayDelivery } from './queries.ts';

export const deliveries: Handlers<'deliveries'> = {
  list: async ({ request, params, query }) => page(await listDeliveries(request.ctx, params.id, query)),
  get: async ({ request, params }) => ok(await getDelivery(request.ctx, params.id)),
  replay: async ({ request, params }) => ok(await replayDelivery(request.ctx, params.id)),
};
