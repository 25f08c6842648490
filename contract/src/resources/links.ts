import * as z from 'zod';
import { endpoints, item, list, listQuery, meta, openEnum } from '../endpoint.ts';
import { Id, integerFromText, TicketId, Timestamp } from '../fields.ts';
import { NamedTicket, TicketIdParam, TicketNumber } from './ticket-reference.ts';

/** The maximum number of links of a ticket, in both directions. */
export const maxLinks = 50;

/** The number of the other ticket of a link, in responses. */
const LinkedTicketNumber = z.string().meta({
  description: 'The number of the other ticket.',
  example: 'PRB-3',
});
openEnum.set(LinkedTicketNumber, TicketNumber);

export const LinkType = z.enum(['RELATES_TO', 'DUPLICATES', 'CAUSED_BY', 'BLOCKS']).meta({
  id: 'LinkType',
  description:
    'How the ticket is related to the other ticket. ' +
    'An INCOMING link describes how the other ticket is related to this ticket. RELATES_TO has no direction.',
});
export type LinkType = z.output<typeof LinkType>;

export const LinkDirection = z.enum(['OUTGOING', 'INCOMING']).meta({
  id: 'LinkDirection',
  description: 'OUTGOING if the link was created on this ticket, and INCOMING if it was created on the other ticket.',
});
export type LinkDirection = z.output<typeof LinkDirection>;

/** The value of `changes.links` in activity and events. */
export const ChangedLink = z
  .object({ type: LinkType, direction: LinkDirection, ticketNumber: LinkedTicketNumber })
  .meta({
    id: 'ChangedLink',
    description: 'A link that was created or deleted, from the perspective of the changed ticket.',
    example: { type: 'CAUSED_BY', direction: 'OUTGOING', ticketNumber: 'PRB-3' },
  });

export const Link = z
  .object({
    id: Id,
    type: LinkType,
    direction: LinkDirection,
    ticketId: TicketId.meta({ description: 'The other ticket.' }),
    ticketNumber: LinkedTicketNumber,
    createdAt: Timestamp.meta({ description: 'When the link was created. Links never change.' }),
  })
  .meta({
    id: 'Link',
    description: 'A link between two tickets, from the perspective of the ticket in the path.',
    example: {
      id: 1,
      type: 'CAUSED_BY',
      direction: 'OUTGOING',
      ticketId: 23,
      ticketNumber: 'PRB-3',
      createdAt: '2026-11-20T10:05:00.000Z',
    },
  });
export type Link = z.output<typeof Link>;

export const NewLink = z
  .strictObject({
    type: LinkType,
    ticketId: NamedTicket.meta({ description: 'The other ticket, by id or number such as `INC-17`.' }),
  })
  .meta({
    id: 'NewLink',
    description: 'A new link from the ticket in the path to another ticket.',
    example: { type: 'RELATES_TO', ticketId: 23 },
  });
export type NewLink = z.output<typeof NewLink>;

export const LinkQuery = listQuery({});
export type LinkQuery = z.output<typeof LinkQuery>;

const effects = 'Changes `linkCount` and `updatedAt` of both tickets, and emits `ticket.updated` for both.';

export const links = endpoints({
  list: {
    method: 'GET',
    path: '/tickets/:id/links',
    summary: 'List the links of a ticket',
    description: 'Returns the links in both directions, newest first.',
    metadata: meta({ scope: 'tickets:read', group: 'tickets' }),
    pathParams: TicketIdParam,
    query: LinkQuery,
    responses: { 200: list(Link) },
  },
  create: {
    method: 'POST',
    path: '/tickets/:id/links',
    summary: 'Link a ticket to another ticket',
    description: `${effects} A ticket can have at most ${maxLinks} links, in both directions together.`,
    metadata: meta({ scope: 'tickets:write', group: 'tickets', proposable: 'links_create' }),
    pathParams: TicketIdParam,
    body: NewLink,
    responses: { 201: item(Link) },
  },
  delete: {
    method: 'DELETE',
    path: '/tickets/:id/links/:linkId',
    summary: 'Delete a link between two tickets',
    description: `Returns the deleted link. Either of the two tickets can be in the path. ${effects}`,
    metadata: meta({ scope: 'tickets:write', group: 'tickets' }),
    pathParams: TicketIdParam.extend({ linkId: integerFromText() }),
    responses: { 200: item(Link) },
  },
});
