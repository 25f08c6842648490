import { page } from '../../shared/responses.ts';
import type { Handlers } from '../handler-type.ts';
import { listTicketCategories } from './queries.ts';

export const ticketCategories: Handlers<'ticketCategories'> = {
  list: async ({ request, query }) => page(await listTicketCategories(request.ctx, query)),
};
