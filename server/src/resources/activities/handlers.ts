import { page } from '../../reply.ts';
import type { Handlers } from '../handlers.ts';
import { listActivity } from './queries.ts';

export const activities: Handlers<'activities'> = {
  ofTicket: async ({ request, params, query }) => page(await listActivity(request.ctx, 'TICKET', params.id, query)),
  ofAsset: async ({ request, params, query }) => page(await listActivity(request.ctx, 'ASSET', params.id, query)),
};
