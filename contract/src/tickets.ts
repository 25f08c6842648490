import * as z from 'zod';
import { changesOf } from './changes.ts';
import { endpoints, filter, IdParam, idFilter, item, list, listQuery, meta, NoQuery, patch } from './endpoint.ts';
import {
  answered,
  CustomFields,
  CustomFieldsPatch,
  Description,
  Id,
  longText,
  Priority,
  StoredCustomFields,
  Timestamp,
  Title,
  text,
  timestamps,
} from './fields.ts';

export const TicketType = z.enum(['INCIDENT', 'PROBLEM', 'CHANGE', 'SERVICE_REQUEST']).meta({ id: 'TicketType' });
export type TicketType = z.output<typeof TicketType>;

export const TicketCategory = z
  .enum(['SOFTWARE', 'HARDWARE', 'NETWORK', 'ACCESS', 'EMAIL', 'OTHER'])
  .meta({ id: 'TicketCategory' });
export type TicketCategory = z.output<typeof TicketCategory>;

export const TicketStatus = z
  .enum(['OPEN', 'IN_PROGRESS', 'PENDING', 'RESOLVED', 'CLOSED', 'CANCELLED'])
  .meta({ id: 'TicketStatus', description: 'A new ticket is OPEN. CLOSED and CANCELLED are final.' });
export type TicketStatus = z.output<typeof TicketStatus>;

/** Where a ticket may go from each status; the same status again is no move (docs/decisions/tickets.md). */
export const ticketTransitions: Readonly<Record<TicketStatus, readonly TicketStatus[]>> = {
  OPEN: ['IN_PROGRESS', 'PENDING', 'RESOLVED', 'CANCELLED'],
  IN_PROGRESS: ['PENDING', 'RESOLVED', 'CANCELLED'],
  PENDING: ['IN_PROGRESS', 'RESOLVED', 'CANCELLED'],
  RESOLVED: ['CLOSED', 'IN_PROGRESS'],
  CLOSED: [],
  CANCELLED: [],
};

/** What precedes the number in `ticketNumber`, by type. */
export const ticketNumberPrefixes: Readonly<Record<TicketType, string>> = {
  INCIDENT: 'INC',
  PROBLEM: 'PRB',
  CHANGE: 'CHG',
  SERVICE_REQUEST: 'REQ',
};

const ticketNumberDescription = Object.values(ticketNumberPrefixes)
  .map((prefix) => `${prefix}-`)
  .join(', ')
  .concat(' and a number that counts from 1 in the workspace and type; never used again.');

const CategoryConfigId = text(1, 255).meta({ description: 'An opaque identifier, stored as given.' });
const WatcherUserIds = z
  .array(Id)
  .refine((ids) => new Set(ids).size <= 100, 'must name at most 100 users')
  .meta({ description: 'Users who follow the ticket, at most 100, in ascending order.' });
const Resolution = longText();

export const Ticket = z
  .object({
    id: Id,
    ticketNumber: z.string().meta({ description: ticketNumberDescription }),
    title: answered(Title),
    description: answered(Description),
    type: TicketType,
    status: TicketStatus,
    priority: Priority,
    category: TicketCategory.nullable(),
    categoryConfigId: answered(CategoryConfigId).nullable(),
    requesterId: Id.meta({ description: 'The user who created the key that created the ticket.' }),
    assigneeId: Id.nullable(),
    watcherUserIds: WatcherUserIds,
    parentId: Id.nullable(),
    customFields: StoredCustomFields,
    resolution: answered(Resolution).nullable(),
    resolvedAt: Timestamp.nullable(),
    closedAt: Timestamp.nullable(),
    ...timestamps,
  })
  .meta({
    id: 'Ticket',
    description: 'An incident, problem, change or service request.',
    example: {
      id: 1042,
      ticketNumber: 'INC-17',
      title: 'VPN drops every ten minutes',
      description: 'Since this morning the VPN client loses its connection every ten minutes.',
      type: 'INCIDENT',
      status: 'OPEN',
      priority: 'HIGH',
      category: 'NETWORK',
      categoryConfigId: null,
      requesterId: 3,
      assigneeId: 7,
      watcherUserIds: [3, 9],
      parentId: null,
      customFields: { site: 'Berlin' },
      resolution: null,
      resolvedAt: null,
      closedAt: null,
      createdAt: '2026-11-20T10:00:00.000Z',
      updatedAt: '2026-11-20T10:00:00.000Z',
    },
  });
export type Ticket = z.output<typeof Ticket>;

export const NewTicket = z
  .strictObject({
    title: Title,
    description: Description,
    type: TicketType,
    category: TicketCategory.nullish(),
    categoryConfigId: CategoryConfigId.nullish(),
    priority: Priority.nullish().meta({ description: 'MEDIUM when absent.' }),
    assigneeId: Id.nullish(),
    watcherUserIds: WatcherUserIds.nullish(),
    parentId: Id.nullish(),
    customFields: CustomFields.nullish(),
  })
  .refine((ticket) => ticket.category != null || ticket.categoryConfigId != null, {
    path: ['category'],
    message: 'is required unless categoryConfigId is given',
  })
  .meta({
    id: 'NewTicket',
    description: 'One of `category` and `categoryConfigId` is required; both may be given.',
    example: {
      title: 'VPN drops every ten minutes',
      description: 'Since this morning the VPN client loses its connection every ten minutes.',
      type: 'INCIDENT',
      category: 'NETWORK',
      priority: 'HIGH',
      assigneeId: 7,
      watcherUserIds: [3, 9],
      customFields: { site: 'Berlin' },
    },
  });
export type NewTicket = z.output<typeof NewTicket>;

export const TicketPatch = patch({
  title: Title.optional(),
  description: Description.optional(),
  status: TicketStatus.optional(),
  priority: Priority.optional(),
  category: TicketCategory.nullable().optional(),
  categoryConfigId: CategoryConfigId.nullable().optional(),
  assigneeId: Id.nullable().optional(),
  watcherUserIds: WatcherUserIds.optional(),
  parentId: Id.nullable().optional(),
  customFields: CustomFieldsPatch.optional(),
  resolution: Resolution.nullable().optional(),
}).meta({
  id: 'TicketPatch',
  description: 'Absent fields stay as they are; null clears. `type` cannot change.',
  example: { status: 'IN_PROGRESS', priority: 'CRITICAL' },
});
export type TicketPatch = z.output<typeof TicketPatch>;

const TicketFilters = {
  status: filter(TicketStatus),
  priority: filter(Priority),
  assigneeId: idFilter(),
  type: filter(TicketType),
  category: filter(TicketCategory),
};

export const TicketQuery = listQuery(TicketFilters);
export type TicketQuery = z.output<typeof TicketQuery>;

export const tickets = endpoints({
  list: {
    method: 'GET',
    path: '/tickets',
    summary: 'List tickets',
    description: 'Newest first. Filters combine with AND; the values of one filter with OR.',
    metadata: meta({ scope: 'tickets:read', group: 'tickets' }),
    query: TicketQuery,
    responses: { 200: list(Ticket) },
  },
  changes: changesOf('/tickets', Ticket, meta({ scope: 'tickets:read', group: 'tickets' })),
  get: {
    method: 'GET',
    path: '/tickets/:id',
    summary: 'Get a ticket',
    metadata: meta({ scope: 'tickets:read', group: 'tickets' }),
    pathParams: IdParam,
    query: NoQuery,
    responses: { 200: item(Ticket) },
  },
  create: {
    method: 'POST',
    path: '/tickets',
    summary: 'Create a ticket',
    description: 'Emits `ticket.created`.',
    metadata: meta({ scope: 'tickets:write', group: 'tickets' }),
    query: NoQuery,
    body: NewTicket,
    responses: { 201: item(Ticket) },
  },
  update: {
    method: 'PATCH',
    path: '/tickets/:id',
    summary: 'Update a ticket',
    description: 'Emits `ticket.updated` when something changes.',
    metadata: meta({ scope: 'tickets:write', group: 'tickets' }),
    pathParams: IdParam,
    query: NoQuery,
    body: TicketPatch,
    responses: { 200: item(Ticket) },
  },
});
