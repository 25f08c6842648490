import * as z from 'zod';
import { BulkRefusal, bulk, bulkAnswers, bulkItems, itemStatus } from './bulk.ts';
import { changesOf } from './changes.ts';
import {
  atLeastOne,
  endpoints,
  filter,
  idFilter,
  item,
  knownAs,
  list,
  listQuery,
  meta,
  NoQuery,
  patch,
  search,
} from './endpoint.ts';
import { changesIn } from './field-changes.ts';
import {
  answered,
  CustomFields,
  CustomFieldsPatch,
  Description,
  despiteFaults,
  Id,
  longText,
  Priority,
  StoredCustomFields,
  Timestamp,
  TimestampBound,
  Title,
  text,
  timestamps,
} from './fields.ts';

export const TicketType = z.enum(['INCIDENT', 'PROBLEM', 'CHANGE', 'SERVICE_REQUEST']).meta({
  id: 'TicketType',
  description: 'What kind of ticket it is, for ever.',
});
export type TicketType = z.output<typeof TicketType>;

export const TicketCategory = z
  .enum(['SOFTWARE', 'HARDWARE', 'NETWORK', 'ACCESS', 'EMAIL', 'OTHER'])
  .meta({ id: 'TicketCategory', description: 'What part of IT it is about.' });
export type TicketCategory = z.output<typeof TicketCategory>;

export const TicketStatus = z.enum(['OPEN', 'IN_PROGRESS', 'PENDING', 'RESOLVED', 'CLOSED', 'CANCELLED']).meta({
  id: 'TicketStatus',
  description: 'How far it is. A new ticket is OPEN. CLOSED and CANCELLED are final.',
});
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
export const ticketNumberPrefixes = {
  INCIDENT: 'INC',
  PROBLEM: 'PRB',
  CHANGE: 'CHG',
  SERVICE_REQUEST: 'REQ',
} as const satisfies Record<TicketType, string>;

const TicketNumber = z
  .templateLiteral([z.enum(ticketNumberPrefixes), '-', z.int()])
  .refine((number) => /^[A-Z]{3}-[1-9]\d{0,14}$/.test(number), { abort: true })
  .meta({
    id: 'TicketNumber',
    description: 'A ticket number as it is given out.',
    pattern: `^(${Object.values(ticketNumberPrefixes).join('|')})-[1-9]\\d{0,14}$`,
    example: 'INC-17',
  });
export type TicketNumber = z.output<typeof TicketNumber>;

/** Digits in a path or a query as a number; all else is for the schema behind it to judge. */
function numberFromText<Value extends number | string>(value: Value): Value | number {
  return typeof value === 'string' && /^[1-9]\d{0,15}$/.test(value) ? Number(value) : value;
}

/** What a body names a ticket by: its id or its number (docs/decisions/api-conventions.md). */
const NamedTicket = z
  .union([Id, TicketNumber], {
    error: ({ input }) =>
      input === undefined ? 'is required' : 'must be a positive integer or a ticket number such as INC-17',
  })
  .meta({ id: 'TicketReference', description: 'A ticket by its id or its number.' });

/** The same in a path or a query, where all is text. */
export const TicketReference = z.preprocess(numberFromText<number | TicketNumber>, NamedTicket);
export type TicketReference = z.output<typeof TicketReference>;

/** `:id` of a path below `/tickets`. */
export const TicketIdParam = z.object({ id: TicketReference });

const ticketNumberDescription = Object.values(ticketNumberPrefixes)
  .map((prefix) => `${prefix}-`)
  .join(', ')
  .concat(' and a number that counts from 1 in the workspace and type; never used again.');

const GivenTicketNumber = z.string().meta({ description: ticketNumberDescription });
knownAs.set(GivenTicketNumber, TicketNumber);

const Category = TicketCategory.nullable().meta({
  description: 'What part of IT it is about; null where `categoryConfigId` alone tells.',
});
const CategoryConfigId = text(1, 255).meta({
  description: "Its category in the workspace's own list: an opaque identifier that is stored as given.",
});
const AssigneeId = Id.meta({
  description: 'The user who works on it; null while nobody does. One newly named is active.',
});
const WatcherUserIds = z
  .array(Id)
  .refine((ids) => new Set(ids).size <= 100, { ...despiteFaults, error: 'must name at most 100 users' })
  .meta({
    description: 'The users who follow it: at most 100, answered in ascending order. Those newly named are active.',
  });
const ParentId = Id.meta({
  description: 'The ticket that it is a part of; null where there is none. No ticket stands above itself.',
});
const NamedParent = NamedTicket.meta({
  description: 'The ticket that it is a part of, by id or number such as `INC-17`; null where there is none.',
});
const Resolution = longText('How it was resolved');

export const Ticket = z
  .object({
    id: Id,
    ticketNumber: GivenTicketNumber,
    title: answered(Title),
    description: answered(Description),
    type: TicketType,
    status: TicketStatus,
    priority: Priority,
    category: Category,
    categoryConfigId: answered(CategoryConfigId).nullable(),
    requesterId: Id.meta({
      description: 'Whose ticket it is: the user who created the key, unless another was named. It never changes.',
    }),
    assigneeId: AssigneeId.nullable(),
    watcherUserIds: WatcherUserIds,
    parentId: ParentId.nullable(),
    customFields: StoredCustomFields,
    resolution: answered(Resolution).nullable(),
    resolvedAt: Timestamp.nullable().meta({
      description: 'When it became RESOLVED; null while it has not, or has been reopened.',
    }),
    closedAt: Timestamp.nullable().meta({ description: 'When it became CLOSED; null while it has not.' }),
    commentCount: z.int().min(0).meta({ description: 'How many comments there are, PUBLIC and INTERNAL ones.' }),
    ...timestamps,
  })
  .meta({
    id: 'Ticket',
    description: 'An incident, problem, change or service request.',
    example: {
      id: 38,
      ticketNumber: 'INC-17',
      title: 'VPN drops every ten minutes',
      description: 'Since this morning the VPN client loses its connection every ten minutes.',
      type: 'INCIDENT',
      status: 'OPEN',
      priority: 'HIGH',
      category: 'NETWORK',
      categoryConfigId: null,
      requesterId: 3,
      assigneeId: 2,
      watcherUserIds: [1, 3],
      parentId: null,
      customFields: { site: 'Berlin' },
      resolution: null,
      resolvedAt: null,
      closedAt: null,
      commentCount: 0,
      createdAt: '2026-11-20T10:00:00.000Z',
      updatedAt: '2026-11-20T10:00:00.000Z',
    },
  });
export type Ticket = z.output<typeof Ticket>;

export const TicketChanges = changesIn(
  Ticket.omit({ id: true, ticketNumber: true, type: true, requesterId: true, createdAt: true, updatedAt: true }),
).meta({
  id: 'TicketChanges',
  description: 'What changed in a ticket: each field that differs. `updatedAt` always does, and is not among them.',
  example: { status: { from: 'OPEN', to: 'RESOLVED' }, resolvedAt: { from: null, to: '2026-11-20T10:05:00.000Z' } },
});
export type TicketChanges = z.output<typeof TicketChanges>;

export const NewTicket = z
  .strictObject({
    title: Title,
    description: Description,
    type: TicketType,
    category: Category.optional(),
    categoryConfigId: CategoryConfigId.nullish(),
    priority: Priority.nullish().meta({ description: 'How urgent it is: MEDIUM when absent.' }),
    requesterId: Id.nullish().meta({ description: 'On whose behalf: the user who created the key when absent.' }),
    assigneeId: AssigneeId.nullish(),
    watcherUserIds: WatcherUserIds.nullish(),
    parentId: NamedParent.nullish(),
    customFields: CustomFields.nullish(),
  })
  .refine((ticket) => ticket.category != null || ticket.categoryConfigId != null, {
    ...despiteFaults,
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
      assigneeId: 2,
      watcherUserIds: [1, 3],
      customFields: { site: 'Berlin' },
    },
  });
export type NewTicket = z.output<typeof NewTicket>;
atLeastOne.add(NewTicket, { of: ['category', 'categoryConfigId'] });

const patchFields = {
  title: Title.optional(),
  description: Description.optional(),
  status: TicketStatus.optional(),
  priority: Priority.optional(),
  category: Category.optional(),
  categoryConfigId: CategoryConfigId.nullable().optional(),
  assigneeId: AssigneeId.nullable().optional(),
  watcherUserIds: WatcherUserIds.optional(),
  parentId: NamedParent.nullable().optional(),
  customFields: CustomFieldsPatch.optional(),
  resolution: Resolution.nullable().optional(),
};

export const TicketPatch = patch(patchFields).meta({
  id: 'TicketPatch',
  description: 'Absent fields stay as they are; null clears. `type` cannot change.',
  example: { status: 'IN_PROGRESS', priority: 'CRITICAL' },
});
export type TicketPatch = z.output<typeof TicketPatch>;

/** Many new tickets. */
export const NewTickets = z.strictObject({ tickets: bulk(NewTicket) }).meta({
  id: 'NewTickets',
  description: 'New tickets; each is made or refused by itself.',
  example: {
    tickets: [
      {
        title: 'VPN drops every ten minutes',
        description: 'Since this morning.',
        type: 'INCIDENT',
        category: 'NETWORK',
      },
      { title: 'Mailbox is full', description: 'No mail arrives.', type: 'INCIDENT', category: 'EMAIL' },
    ],
  },
});
export type NewTickets = z.output<typeof NewTickets>;

export const TicketPatchItem = z
  .strictObject({
    id: NamedTicket.meta({ description: 'The ticket, by id or number such as `INC-17`.' }),
    ...patchFields,
  })
  .refine((change) => Object.keys(change).length > 1, 'must name at least one field to change')
  .meta({
    id: 'TicketPatchItem',
    description: 'A ticket and what changes in it: absent fields stay as they are; null clears.',
    minProperties: 2,
    example: { id: 38, status: 'IN_PROGRESS' },
  });
export type TicketPatchItem = z.output<typeof TicketPatchItem>;

/** Changes of many tickets. */
export const TicketPatches = z.strictObject({ tickets: bulk(TicketPatchItem) }).meta({
  id: 'TicketPatches',
  description: 'Changes, each of another ticket; each is made or refused by itself.',
  example: { tickets: [{ id: 38, status: 'IN_PROGRESS', priority: 'CRITICAL' }] },
});
export type TicketPatches = z.output<typeof TicketPatches>;

/** What one item of a bulk request is answered with success. */
function ticketAnswer<Status extends number>(status: Status, id: string, description: string) {
  const { example } = z.globalRegistry.get(Ticket) ?? {};
  return z
    .object({ status: itemStatus([status]), data: Ticket })
    .meta({ id, description, example: { status, data: example } });
}

const CreatedTicket = ticketAnswer(201, 'CreatedTicket', 'An item whose ticket was made.');
const UpdatedTicket = ticketAnswer(200, 'UpdatedTicket', 'An item whose ticket is as the item asked.');

export const NewTicketAnswer = z.union([CreatedTicket, BulkRefusal]).meta({
  id: 'NewTicketAnswer',
  description: 'What became of one item; `status` tells which.',
  example: z.globalRegistry.get(CreatedTicket)?.example,
});
export type NewTicketAnswer = z.output<typeof NewTicketAnswer>;

export const TicketPatchAnswer = z.union([UpdatedTicket, BulkRefusal]).meta({
  id: 'TicketPatchAnswer',
  description: 'What became of one item; `status` tells which.',
  example: z.globalRegistry.get(UpdatedTicket)?.example,
});
export type TicketPatchAnswer = z.output<typeof TicketPatchAnswer>;

const TicketAssignee = z.union([Id, z.enum(['me', 'none'])], { error: 'must be a positive integer, me or none' }).meta({
  id: 'TicketAssignee',
  description: 'A user by id; `me` is the user who created the key, and `none` stands for nobody.',
});

export const TicketQuery = listQuery({
  status: filter(TicketStatus),
  priority: filter(Priority),
  assigneeId: filter(z.preprocess(numberFromText<number | 'me' | 'none'>, TicketAssignee)),
  type: filter(TicketType),
  category: filter(TicketCategory),
  requesterId: idFilter(),
  parentId: filter(TicketReference),
  watcherUserId: idFilter(),
  createdSince: TimestampBound.meta({ description: 'Only those created then or later.' }).optional(),
  createdBefore: TimestampBound.meta({ description: 'Only those created earlier.' }).optional(),
  q: search('number, title and description'),
  sort: z
    .enum(['-id', 'id'])
    .default('-id')
    .meta({ description: '`-id`: newest first. `id`: oldest first.', example: 'id' }),
});
export type TicketQuery = z.output<typeof TicketQuery>;

export const tickets = endpoints({
  list: {
    method: 'GET',
    path: '/tickets',
    summary: 'List tickets',
    description:
      'Newest first, unless `sort` says otherwise. Filters combine with AND; the values of one filter with OR.',
    metadata: meta({
      scope: 'tickets:read',
      group: 'tickets',
      agent: {
        tool: 'list_tickets',
        when: 'Finds and counts tickets; perPage 1 is enough to count.',
        short: ['id', 'ticketNumber', 'title', 'status', 'priority', 'assigneeId', 'updatedAt'],
      },
    }),
    query: TicketQuery,
    responses: { 200: list(Ticket) },
  },
  changes: changesOf('/tickets', Ticket, meta({ scope: 'tickets:read', group: 'tickets' })),
  get: {
    method: 'GET',
    path: '/tickets/:id',
    summary: 'Get a ticket',
    metadata: meta({
      scope: 'tickets:read',
      group: 'tickets',
      agent: { tool: 'get_ticket', when: 'All of one ticket, by id or number such as INC-18.' },
    }),
    pathParams: TicketIdParam,
    query: NoQuery,
    responses: { 200: item(Ticket) },
  },
  create: {
    method: 'POST',
    path: '/tickets',
    summary: 'Create a ticket',
    description: 'Emits `ticket.created`.',
    metadata: meta({
      scope: 'tickets:write',
      group: 'tickets',
      agent: {
        tool: 'create_ticket',
        when: 'Needs a category or a categoryConfigId.',
        short: ['id', 'ticketNumber', 'title', 'status', 'priority', 'assigneeId', 'updatedAt'],
      },
    }),
    query: NoQuery,
    body: NewTicket,
    responses: { 201: item(Ticket) },
  },
  update: {
    method: 'PATCH',
    path: '/tickets/:id',
    summary: 'Update a ticket',
    description: 'Emits `ticket.updated` when something changes.',
    metadata: meta({
      scope: 'tickets:write',
      group: 'tickets',
      agent: {
        tool: 'update_ticket',
        when: 'By id or number such as INC-18: status, assignee (list_users finds the id) and all else; only the fields given change.',
        short: ['id', 'ticketNumber', 'title', 'status', 'priority', 'assigneeId', 'updatedAt'],
      },
    }),
    pathParams: TicketIdParam,
    query: NoQuery,
    body: TicketPatch,
    responses: { 200: item(Ticket) },
  },
  createMany: {
    method: 'POST',
    path: '/tickets/bulk',
    summary: 'Create many tickets',
    description:
      `Up to ${bulkItems} in one request, which counts as one. Each is made or refused by itself; \`data\` tells for each ` +
      'what the single request would have been answered. Emits `ticket.created` for each that is made.',
    metadata: meta({ scope: 'tickets:write', group: 'tickets' }),
    query: NoQuery,
    body: NewTickets,
    responses: { 200: bulkAnswers(NewTicketAnswer) },
  },
  updateMany: {
    method: 'PATCH',
    path: '/tickets/bulk',
    summary: 'Update many tickets',
    description:
      `Up to ${bulkItems} in one request, which counts as one. Each is changed or refused by itself; \`data\` tells for each ` +
      'what the single request would have been answered. Emits `ticket.updated` for each that changes.',
    metadata: meta({
      scope: 'tickets:write',
      group: 'tickets',
      agent: {
        tool: 'update_tickets',
        when: 'By id or number; up to 100 in one call: prefer it to repeated update_ticket.',
        short: ['id', 'ticketNumber', 'status'],
      },
    }),
    query: NoQuery,
    body: TicketPatches,
    responses: { 200: bulkAnswers(TicketPatchAnswer) },
  },
});
