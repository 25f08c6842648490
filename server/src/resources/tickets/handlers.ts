import { created, ok } from '../../shared/responses.ts';
import { type Handlers, handlersOf } from '../handler-type.ts';
import { createAttachment, type StoredFile } from './attachments/queries.ts';
import { createTickets } from './bulk-creation.ts';
import { updateTickets } from './bulk-update.ts';
import { getTicket, listTickets, ticketRows } from './queries.ts';
import { createTicket } from './ticket-creation.ts';
import { updateTicket } from './ticket-update.ts';

export const tickets: Handlers<'tickets'> = {
  ...handlersOf({ list: listTickets, rows: ticketRows, get: getTicket }),
  create: async ({ request, body }) => created(await createTicket(request.ctx, body)),
  update: async ({ request, params, body }) => ok(await updateTicket(request.ctx, params.id, body)),
  createMany: async ({ request, body }) => ok(await createTickets(request.ctx, body.tickets)),
  updateMany: async ({ request, body }) => ok(await updateTickets(request.ctx, body.tickets)),
  attach: async ({ request, params, query }) => {
    const file = request.storedFile as StoredFile;
    return created(await createAttachment(request.ctx, params.id, { name: query.name, file }));
  },
};
