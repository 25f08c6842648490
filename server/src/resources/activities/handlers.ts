import { page } from '../../shared/responses.ts';
import type { Handlers } from '../handler-type.ts';
import { listChanges } from '../sync/change-feed.ts';
import { activityRows, listAssetActivity, listTicketActivity } from './queries.ts';

export const activities: Handlers<'activities'> = {
  ofTicket: async ({ request, params, query }) => page(await listTicketActivity(request.ctx, params.id, query)),
  ofTickets: async ({ request, query }) => page(await listChanges(request.ctx, activityRows.TICKET, query)),
  ofAsset: async ({ request, params, query }) => page(await listAssetActivity(request.ctx, params.id, query)),
  ofAssets: async ({ request, query }) => page(await listChanges(request.ctx, activityRows.ASSET, query)),
};
