import { page } from '../../shared/responses.ts';
import type { Handlers } from '../handler-type.ts';
import { listAssetActivity, listTicketActivity } from './queries.ts';

export const activities: Handlers<'activities'> = {
  ofTicket: async ({ request, params, query }) => page(await listTicketActivity(request.ctx, params.id, query)),
  ofAsset: async ({ request, params, query }) => page(await listAssetActivity(request.ctx, params.id, query)),
};
