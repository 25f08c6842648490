import { created, ok, page } from '../../shared/responses.ts';
import type { Handlers } from '../handler-type.ts';
import { listChanges } from '../sync/change-feed.ts';
import { createAttachment, type StoredFile } from './attachments/queries.ts';
import { createTickets } from './bulk-creation.ts';
import { updateTickets } from './bulk-update.ts';
import { getTicket, listTickets, ticketRows } from './queries.ts';
import { createTicket } from './ticket-creation.ts';
import { updateTicket } from './ticket-update.ts';

export const tickets: Handlers<'tickets'> = {
  list: async ({ request, query }) => page(await listTickets(request.ctx, query)),
  changes: async ({ request, query }) => page(await listChanges(request.ctx, ticketRows, query)),
  get: async ({ request, params }) => ok(await getTicket(request.ctx, params.id)),
  create: async ({ request, body }) => created(await createTicket(request.ctx, body)),
  update: async ({ request, params, body }) => ok(await updateTicket(request.ctx, params.id, body)),
  createMany: async ({ request, body }) => ok(await createTickets(request.ctx, body.tickets)),
  updateMany: async ({ request, body }) => ok(await updateTickets(request.ctx, body.tickets)),
  attach: async ({ request, params, query }) => {
    const file = request.storedFile as StoredFile;
    return created(await createAttachment(request.ctx, params.id, { name: query.name, file }));
  },
};
