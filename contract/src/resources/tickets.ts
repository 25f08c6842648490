import * as z from 'zod';
import { BulkItemError, bulk, bulkItems, bulkResults, itemStatus } from '../bulk.ts';
import { readsOf } from '../changes.ts';
import {
  atLeastOne,
  endpoints,
  filter,
  idFilter,
  item,
  listQuery,
  meta,
  NoBody,
  openEnum,
  patch,
  repeatOnlyFilter,
  search,
  userFilter,
} from '../endpoint.ts';
import { fieldDiff } from '../field-diff.ts';
import {
  AssetId,
  Count,
  CustomFields,
  CustomFieldsPatch,
  Description,
  ExternalId,
  FormKey,
  Id,
  idOf,
  longText,
  numberFromText,
  Priority,
  responseText,
  StoredCustomFields,
  TeamId,
  TicketId,
  Timestamp,
  TimestampBound,
  TimestampInput,
  Title,
  text,
  UserId,
  validateAll,
  versionFields,
} from '../fields.ts';
import { importField } from '../imports.ts';
import { requestLimits } from '../limits.ts';
import { EmailReference, reference, UserReference } from '../references.ts';
import { checkTags, Tag, Tags, tagChanges } from '../tags.ts';
import { ApprovalStatus, ChangedApproval } from './approvals.ts';
import { Attachment, attachDescription, ChangedAttachment, NewAttachmentQuery } from './attachments.ts';
import { NewComment } from './comments.ts';
import { customFieldFilter } from './custom-fields.ts';
import { ChangedLink } from './links.ts';
import { NamedTicket, TicketIdParam, TicketNumber, TicketType, ticketNumberPrefixes } from './ticket-reference.ts';

export const TicketCategory = z
  .enum(['SOFTWARE', 'HARDWARE', 'NETWORK', 'ACCESS', 'EMAIL', 'OTHER'])
  .meta({ id: 'TicketCategory', description: 'The area of IT that the ticket concerns.' });
export type TicketCategory = z.output<typeof TicketCategory>;

const ticketStatuses = ['OPEN', 'IN_PROGRESS', 'PENDING', 'RESOLVED', 'CLOSED', 'CANCELLED'] as const;
export type TicketStatus = (typeof ticketStatuses)[number];

/**
 * The statuses to which a ticket can change, by current status. A request can always set the current status again
 * (docs/decisions/tickets.md).
 */
export const ticketTransitions: Readonly<Record<TicketStatus, readonly TicketStatus[]>> = {
  OPEN: ['IN_PROGRESS', 'PENDING', 'RESOLVED', 'CANCELLED'],
  IN_PROGRESS: ['PENDING', 'RESOLVED', 'CANCELLED'],
  PENDING: ['IN_PROGRESS', 'RESOLVED', 'CANCELLED'],
  RESOLVED: ['CLOSED', 'IN_PROGRESS'],
  CLOSED: [],
  CANCELLED: [],
};

const transitions = ticketStatuses
  .filter((from) => ticketTransitions[from].length > 0)
  .map((from) => `${from} → ${ticketTransitions[from].join(', ')}`);

export const TicketStatus = z.enum(ticketStatuses).meta({
  id: 'TicketStatus',
  description:
    'The status of the ticket. New tickets are OPEN, except imported tickets. ' +
    `Allowed transitions: ${transitions.join('; ')}. CLOSED and CANCELLED are final.`,
});

const prefixes = Object.values(ticketNumberPrefixes).map((prefix) => `${prefix}-`);

const ticketNumberDescription =
  `A prefix (${prefixes.slice(0, -1).join(', ')} or ${prefixes.at(-1)}) and a number. ` +
  'Each ticket type of the workspace has its own numbers, which start at 1. The server never reuses a number.';

const GivenTicketNumber = z.string().meta({ description: ticketNumberDescription });
openEnum.set(GivenTicketNumber, TicketNumber);

const Category = TicketCategory.nullable().meta({
  description: 'The area of IT that the ticket concerns, or null if only `categoryConfigId` is set.',
});
export const CategoryConfigId = text(1, 255).meta({
  description:
    'The ticket category, or null if it has none. You can set only ids of active categories. If the workspace defines ' +
    'no categories, you can set any text.',
});
const CategoryReference = idOf('category', CategoryConfigId);
/** A ticket category in a request body. The schema converts an integer to text, because other systems often have such ids. */
const GivenCategoryConfigId = z.preprocess(
  (id: string | null) => (Number.isSafeInteger(id) ? String(id) : id),
  CategoryReference.nullable(),
);
const AssigneeId = UserId.meta({
  description: 'The assigned user, or null if unassigned. You can assign only active users.',
});
const NamedAssignee = UserReference.meta({
  description: 'The assigned user, by id or email address, or null if unassigned. You can assign only active users.',
});

const GivenTeamId = TeamId.meta({
  description: 'The team, or null if the ticket has none. You can set only active teams. The assignee can be any user.',
});

/** The fields that a ticket stores as given, or null. Their schema is the same in requests and responses. */
export const plainTicketFields = { teamId: GivenTeamId.nullable() };
const optionalPlainFields = z.object(plainTicketFields).partial().shape;

/** Returns the description of a list of watchers. @param references what the list contains */
function describeWatchers(references: string): string {
  return (
    `The users who watch the ticket: at most 100 ${references}. Responses list the ids in ascending order. ` +
    'You can add only active users.'
  );
}
export const NamedWatchers = z
  .array(UserReference)
  .refine((users) => new Set(users).size <= 100, { ...validateAll, error: 'must contain at most 100 users' })
  .meta({ description: describeWatchers('ids or email addresses') });
export const AssetIds = z
  .array(AssetId)
  .refine((ids) => new Set(ids).size <= 50, { ...validateAll, error: 'must contain at most 50 assets' })
  .meta({
    description: 'The assets that the ticket concerns: at most 50 ids. Responses list them in ascending order.',
  });
const ParentId = TicketId.meta({
  description: "The id of the parent ticket, or null if it has none. A ticket can't be its own ancestor.",
});
const GivenEtag = z
  .string()
  .regex(/^(?:W\/)?"[\x21\x23-\x7e]*"$/, 'must be the `etag` of a ticket, including its quotation marks')
  .meta({
    description:
      'The `etag` that you read. If the ticket has changed since then, this item fails with `PRECONDITION_FAILED`.',
    example: '"3-mi6l2n28"',
  });
const NamedParent = NamedTicket.meta({
  description: 'The parent ticket, by id or number such as `INC-17`, or null for no parent.',
});
const Resolution = longText('How the ticket was resolved');
const dueAt = 'When the ticket is due, or null for no due date.';
const plannedStart = 'When the planned window of a CHANGE starts';
const plannedEnd = 'When the planned window of a CHANGE ends';
const bothTimes = 'Set both times or neither, and only for tickets of the type CHANGE.';

export const Ticket = z
  .object({
    id: Id,
    ticketNumber: GivenTicketNumber,
    title: responseText(Title),
    description: responseText(Description),
    type: TicketType,
    status: TicketStatus,
    priority: Priority,
    category: Category,
    categoryConfigId: responseText(CategoryConfigId).nullable(),
    formKey: FormKey.nullable().meta({
      description: 'The key of the request form that created the ticket, or null if none did. Never changes.',
    }),
    requesterId: UserId.meta({
      description: 'The user who requested the ticket. The default is the user of the API key. Never changes.',
    }),
    assigneeId: AssigneeId.nullable(),
    ...plainTicketFields,
    // Requests have limits for these lists. Counting the ids again would take a tenth of the validation.
    watcherUserIds: z.array(UserId).meta({ description: describeWatchers('ids') }),
    assetIds: z.array(AssetId).meta({ description: AssetIds.description }),
    tags: Tags,
    parentId: ParentId.nullable(),
    externalId: responseText(ExternalId).nullable(),
    customFields: StoredCustomFields,
    resolution: responseText(Resolution).nullable(),
    resolvedAt: Timestamp.nullable().meta({
      description: 'When the status became RESOLVED, or null if the ticket is unresolved or reopened.',
    }),
    closedAt: Timestamp.nullable().meta({ description: 'When the status became CLOSED, or null if it is not closed.' }),
    dueAt: Timestamp.nullable().meta({
      description:
        'When the ticket is due, or null if it has no due date. Until a request sets it, it is `createdAt` plus the ' +
        'resolution target of the priority and the time of pauses, counted in business hours.',
    }),
    firstResponseDueAt: Timestamp.nullable().meta({
      description:
        'When the first response is due, or null without a target: `createdAt` plus the target of the priority, ' +
        'counted in business hours. It changes with the priority until the first response.',
    }),
    plannedStartAt: Timestamp.nullable().meta({ description: `${plannedStart}, or null if no window is planned.` }),
    plannedEndAt: Timestamp.nullable().meta({ description: `${plannedEnd}, or null if no window is planned.` }),
    approvalStatus: ApprovalStatus,
    firstRespondedAt: Timestamp.nullable().meta({
      description:
        'When an ADMIN or AGENT who is not the requester added the first PUBLIC comment, or null before this comment.',
    }),
    redactedAt: Timestamp.nullable().meta({
      description:
        'When an administrator last replaced `title`, `description` and `resolution` with `[redacted]` to erase personal data, or null.',
    }),
    commentCount: Count.meta({ description: 'The number of PUBLIC and INTERNAL comments.' }),
    attachmentCount: Count.meta({ description: 'The number of attachments.' }),
    linkCount: Count.meta({ description: 'The number of links to and from other tickets.' }),
    ...versionFields,
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
      formKey: null,
      requesterId: 3,
      assigneeId: 2,
      teamId: 2,
      watcherUserIds: [1, 3],
      assetIds: [],
      tags: [],
      parentId: null,
      externalId: null,
      customFields: { site: 'Berlin' },
      resolution: null,
      resolvedAt: null,
      closedAt: null,
      dueAt: '2026-11-20T18:00:00.000Z',
      firstResponseDueAt: '2026-11-20T12:00:00.000Z',
      plannedStartAt: null,
      plannedEndAt: null,
      approvalStatus: 'NONE',
      firstRespondedAt: null,
      redactedAt: null,
      commentCount: 0,
      attachmentCount: 0,
      linkCount: 0,
      createdAt: '2026-11-20T10:00:00.000Z',
      updatedAt: '2026-11-20T10:00:00.000Z',
      etag: '"1-mwot5j40"',
    },
  });
export type Ticket = z.output<typeof Ticket>;

export const TicketChanges = fieldDiff(
  Ticket.omit({
    id: true,
    ticketNumber: true,
    type: true,
    formKey: true,
    requesterId: true,
    etag: true,
    createdAt: true,
    updatedAt: true,
    // A new link or attachment changes from null to its description, and a deleted one changes to null.
    // `approvals` contains only the approvals that changed.
  }).extend({
    links: ChangedLink.nullable(),
    attachments: ChangedAttachment.nullable(),
    approvals: z.array(ChangedApproval),
  }),
).meta({
  id: 'TicketChanges',
  description: 'The changed fields of a ticket. `updatedAt` always changes and is not included.',
  example: { status: { from: 'OPEN', to: 'RESOLVED' }, resolvedAt: { from: null, to: '2026-11-20T10:05:00.000Z' } },
});
export type TicketChanges = z.output<typeof TicketChanges>;

/** Checks the times of an imported ticket against its status and against each other. */
function checkTimes(
  {
    status,
    createdAt,
    resolvedAt,
    closedAt,
  }: Partial<Record<'status' | 'createdAt' | 'resolvedAt' | 'closedAt', string>>,
  context: z.core.$RefinementCtx,
): void {
  const reject = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
  if (resolvedAt !== undefined && status !== 'RESOLVED' && status !== 'CLOSED') {
    reject('resolvedAt', 'requires the status RESOLVED or CLOSED');
  }
  if (closedAt !== undefined && status !== 'CLOSED') reject('closedAt', 'requires the status CLOSED');
  if (createdAt === undefined && (resolvedAt !== undefined || closedAt !== undefined)) {
    reject('createdAt', 'is required with resolvedAt and closedAt');
  }
  if (resolvedAt !== undefined && createdAt !== undefined && resolvedAt < createdAt) {
    reject('resolvedAt', 'must not be before createdAt');
  }
  const previous = resolvedAt ?? createdAt;
  if (closedAt !== undefined && previous !== undefined && closedAt < previous) {
    reject('closedAt', `must not be before ${resolvedAt === undefined ? 'createdAt' : 'resolvedAt'}`);
  }
}

/** The fields that decide whether the planned window of a ticket is valid. */
interface PlannedWindow {
  type: TicketType;
  plannedStartAt?: string | null | undefined;
  plannedEndAt?: string | null | undefined;
}

/** Returns the field and the message of an invalid window, or undefined if the window is valid or absent. */
export function findWindowFault({
  type,
  plannedStartAt,
  plannedEndAt,
}: PlannedWindow): { path: 'plannedStartAt' | 'plannedEndAt'; message: string } | undefined {
  if (plannedStartAt == null && plannedEndAt == null) return undefined;
  if (type !== 'CHANGE') {
    const path = plannedStartAt == null ? 'plannedEndAt' : 'plannedStartAt';
    return { path, message: 'can be set only for tickets of the type CHANGE' };
  }
  if (plannedStartAt == null) return { path: 'plannedStartAt', message: 'is required with plannedEndAt' };
  if (plannedEndAt == null) return { path: 'plannedEndAt', message: 'is required with plannedStartAt' };
  return plannedStartAt < plannedEndAt ? undefined : { path: 'plannedEndAt', message: 'must be after plannedStartAt' };
}

export const NewTicket = z
  .strictObject({
    title: Title,
    description: Description,
    type: TicketType,
    category: Category.optional(),
    categoryConfigId: GivenCategoryConfigId.optional(),
    priority: Priority.nullish().meta({ description: 'The priority. The default is MEDIUM.' }),
    requesterId: UserReference.nullish().meta({
      description: 'The user who requests the ticket, by id or email address. The default is the user of the API key.',
    }),
    assigneeId: NamedAssignee.nullish(),
    ...optionalPlainFields,
    watcherUserIds: NamedWatchers.nullish(),
    assetIds: AssetIds.nullish(),
    tags: Tags.nullish(),
    parentId: NamedParent.nullish(),
    externalId: ExternalId.nullish(),
    customFields: CustomFields.nullish(),
    dueAt: TimestampInput.meta({
      description: `${dueAt} The default is \`createdAt\` plus the resolution target of the priority.`,
    }).nullish(),
    plannedStartAt: TimestampInput.meta({ description: `${plannedStart}. ${bothTimes}` }).nullish(),
    plannedEndAt: TimestampInput.meta({
      description: `${plannedEnd}, after \`plannedStartAt\`. ${bothTimes}`,
    }).nullish(),
    status: importField(TicketStatus, 'The status. The default is OPEN.'),
    createdAt: importField(
      TimestampInput,
      'When the ticket was created. Required with `resolvedAt` and `closedAt`. The default is the current time.',
    ),
    resolvedAt: importField(
      TimestampInput,
      'When the status became RESOLVED. Requires the status RESOLVED or CLOSED. The default is `closedAt` or the current time.',
    ),
    closedAt: importField(
      TimestampInput,
      'When the status became CLOSED. Requires the status CLOSED. The default is the current time.',
    ),
  })
  .superRefine(checkTimes)
  .superRefine((ticket, context) => {
    const fault = findWindowFault(ticket);
    if (fault !== undefined) context.addIssue({ code: 'custom', path: [fault.path], message: fault.message });
  })
  .refine((ticket) => ticket.category != null || ticket.categoryConfigId != null, {
    ...validateAll,
    path: ['category'],
    message: 'is required unless categoryConfigId is given',
  })
  .meta({
    id: 'NewTicket',
    description: 'A new ticket. Set `category`, `categoryConfigId` or both.',
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

const clearsBoth = 'The resulting window must end after it starts. Null clears both times.';
const patchFields = {
  title: Title.optional(),
  description: Description.optional(),
  status: TicketStatus.optional(),
  priority: Priority.optional(),
  category: Category.optional(),
  categoryConfigId: GivenCategoryConfigId.optional(),
  assigneeId: NamedAssignee.nullable().optional(),
  ...optionalPlainFields,
  watcherUserIds: NamedWatchers.optional(),
  assetIds: AssetIds.optional(),
  ...tagChanges,
  parentId: NamedParent.nullable().optional(),
  externalId: ExternalId.nullable().optional(),
  customFields: CustomFieldsPatch.optional(),
  resolution: Resolution.nullable().optional(),
  dueAt: TimestampInput.meta({ description: dueAt }).nullable().optional(),
  plannedStartAt: TimestampInput.meta({ description: `${plannedStart}. ${clearsBoth}` })
    .nullable()
    .optional(),
  plannedEndAt: TimestampInput.meta({ description: `${plannedEnd}. ${clearsBoth}` })
    .nullable()
    .optional(),
};

export const TicketPatch = patch(patchFields)
  .superRefine(checkTags)
  .meta({
    id: 'TicketPatch',
    description: "Changes to a ticket. Absent fields stay unchanged, and null clears a field. `type` can't change.",
    example: { status: 'IN_PROGRESS', priority: 'CRITICAL' },
  });
export type TicketPatch = z.output<typeof TicketPatch>;

export const NewTicketItem = NewTicket.safeExtend({
  comments: z
    .array(NewComment)
    .max(bulkItems, `must contain at most ${bulkItems} comments`)
    .optional()
    .meta({
      description:
        `The first comments of the ticket, oldest first. If one of them is invalid, the item fails. ` +
        `At most ${requestLimits.newTicketComments} comments in all items of a request.`,
    }),
}).meta({
  id: 'NewTicketItem',
  description: 'A new ticket and its first comments. Set `category`, `categoryConfigId` or both.',
  example: {
    title: 'VPN drops every ten minutes',
    description: 'Since this morning the VPN client loses its connection every ten minutes.',
    type: 'INCIDENT',
    category: 'NETWORK',
    comments: [{ body: 'The gateway was restarted; does it still happen?', visibility: 'PUBLIC' }],
  },
});
export type NewTicketItem = z.output<typeof NewTicketItem>;
atLeastOne.add(NewTicketItem, { of: ['category', 'categoryConfigId'] });

/** The body of a bulk request that creates tickets. */
export const NewTickets = z.strictObject({ tickets: bulk(NewTicketItem) }).meta({
  id: 'NewTickets',
  description: 'The tickets to create. Each item succeeds or fails independently.',
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
    ifMatch: GivenEtag.optional(),
    ...patchFields,
  })
  .refine(({ id, ifMatch, ...change }) => Object.keys(change).length > 0, 'must contain at least one field to change')
  .superRefine(checkTags)
  .meta({
    id: 'TicketPatchItem',
    description: 'A ticket and its changes. Absent fields stay unchanged, and null clears a field.',
    minProperties: 2,
    example: { id: 38, status: 'IN_PROGRESS' },
  });
export type TicketPatchItem = z.output<typeof TicketPatchItem>;

/** The body of a bulk request that updates tickets. */
export const TicketPatches = z.strictObject({ tickets: bulk(TicketPatchItem) }).meta({
  id: 'TicketPatches',
  description: 'The changes, each for a different ticket. Each item succeeds or fails independently.',
  example: { tickets: [{ id: 38, status: 'IN_PROGRESS', priority: 'CRITICAL' }] },
});
export type TicketPatches = z.output<typeof TicketPatches>;

/** Returns the schema of a successful item's result in a bulk response for tickets. */
function ticketResult<Status extends number>(status: Status, id: string, description: string) {
  const { example } = z.globalRegistry.get(Ticket) ?? {};
  return z
    .object({ status: itemStatus([status]), data: Ticket })
    .meta({ id, description, example: { status, data: example } });
}

const CreatedTicket = ticketResult(201, 'CreatedTicket', 'An item whose ticket was created.');
const UpdatedTicket = ticketResult(
  200,
  'UpdatedTicket',
  'An item whose ticket was updated or already had the requested values.',
);

export const NewTicketResult = z.union([CreatedTicket, BulkItemError]).meta({
  id: 'NewTicketResult',
  description: 'The result of one item. `status` shows whether the item succeeded.',
  example: z.globalRegistry.get(CreatedTicket)?.example,
});
export type NewTicketResult = z.output<typeof NewTicketResult>;

export const TicketPatchResult = z.union([UpdatedTicket, BulkItemError]).meta({
  id: 'TicketPatchResult',
  description: 'The result of one item. `status` shows whether the item succeeded.',
  example: z.globalRegistry.get(UpdatedTicket)?.example,
});
export type TicketPatchResult = z.output<typeof TicketPatchResult>;

const TicketAssignee = reference(
  'user',
  EmailReference,
  z
    .union([Id, EmailReference, z.enum(['me', 'none'])], {
      error: 'must be a positive integer, an email address, `me` or `none`',
    })
    .meta({
      id: 'TicketAssignee',
      description:
        'The id or the email address of a user, `me` for the user of the API key, or `none` for no assignee.',
    }),
);

const TicketTeam = z
  .union([TeamId, z.enum(['none'])], { error: 'must be a positive integer or `none`' })
  .meta({ id: 'TicketTeam', description: 'The id of a team, or `none` for no team.' });

/** The statuses of tickets that can be overdue. The partial indexes of the filters have the same list. */
export const unresolvedStatuses: readonly TicketStatus[] = ['OPEN', 'IN_PROGRESS', 'PENDING'];

/** Returns true if a ticket with this status can be overdue. */
export function isUnresolved(status: TicketStatus): boolean {
  return unresolvedStatuses.includes(status);
}

const OnlyTrue = z.preprocess((value: true | 'true') => value === 'true' || value, z.literal(true, 'must be true'));

export const TicketQuery = listQuery({
  status: filter(TicketStatus),
  priority: filter(Priority),
  assigneeId: filter(z.preprocess(numberFromText<number | EmailReference | 'me' | 'none'>, TicketAssignee)),
  teamId: filter(z.preprocess(numberFromText<number | 'none'>, TicketTeam)),
  type: filter(TicketType),
  category: filter(TicketCategory),
  categoryConfigId: repeatOnlyFilter(CategoryReference),
  formKey: filter(FormKey),
  requesterId: userFilter(),
  parentId: filter(z.preprocess(numberFromText<number | TicketNumber>, NamedTicket)),
  watcherUserId: userFilter(),
  externalId: filter(ExternalId),
  assetId: idFilter(AssetId),
  tag: filter(Tag),
  customFields: customFieldFilter(),
  createdSince: TimestampBound.meta({ description: 'Returns only tickets created at or after this time.' }).optional(),
  createdBefore: TimestampBound.meta({ description: 'Returns only tickets created before this time.' }).optional(),
  dueSince: TimestampBound.meta({ description: 'Returns only tickets due at or after this time.' }).optional(),
  dueBefore: TimestampBound.meta({ description: 'Returns only tickets due before this time.' }).optional(),
  plannedSince: TimestampBound.meta({
    description: 'Returns only tickets whose planned window ends after this time.',
  }).optional(),
  plannedBefore: TimestampBound.meta({
    description: 'Returns only tickets whose planned window starts before this time.',
  }).optional(),
  approvalStatus: filter(ApprovalStatus),
  overdue: OnlyTrue.meta({
    description:
      'Returns only unresolved tickets with a `dueAt` in the past: not RESOLVED, CLOSED or CANCELLED. ' +
      'While PENDING pauses the clock, `dueAt` must be before the pause.',
  }).optional(),
  firstResponseOverdue: OnlyTrue.meta({
    description: 'Returns only unresolved tickets without a first response, with a `firstResponseDueAt` in the past.',
  }).optional(),
  q: search('number, title and description'),
  sort: z
    .enum(['-id', 'id'])
    .default('-id')
    .meta({ description: 'The sort order: newest first (`-id`) or oldest first (`id`).', example: 'id' }),
});
export type TicketQuery = z.output<typeof TicketQuery>;

export const tickets = endpoints({
  ...readsOf('/tickets', 'a ticket', {
    ...{ row: Ticket, query: TicketQuery, params: TicketIdParam, unless: '`sort` is `id`' },
    ...{ scope: 'tickets:read', group: 'tickets' },
    agents: {
      list: {
        tool: 'list_tickets',
        when: 'Finds and counts tickets. To count, set perPage to 1.',
        short: ['id', 'ticketNumber', 'title', 'status', 'priority', 'assigneeId', 'teamId', 'tags', 'updatedAt'],
      },
      get: { tool: 'get_ticket', when: 'Returns every field.' },
    },
  }),
  create: {
    method: 'POST',
    path: '/tickets',
    summary: 'Create a ticket',
    description: 'Emits `ticket.created`.',
    metadata: meta({
      scope: 'tickets:write',
      group: 'tickets',
      proposable: 'tickets_create',
      agent: {
        tool: 'create_ticket',
        when: 'Requires category or categoryConfigId.',
        short: ['id', 'ticketNumber', 'title', 'status', 'priority', 'assigneeId', 'teamId', 'tags', 'updatedAt'],
      },
    }),
    body: NewTicket,
    responses: { 201: item(Ticket) },
  },
  update: {
    method: 'PATCH',
    path: '/tickets/:id',
    summary: 'Update a ticket',
    description: 'Emits `ticket.updated` if a field changes.',
    metadata: meta({
      scope: 'tickets:write',
      group: 'tickets',
      proposable: 'tickets_update',
      agent: {
        tool: 'update_ticket',
        when: 'Changes only the fields that you pass.',
        short: ['id', 'ticketNumber', 'title', 'status', 'priority', 'assigneeId', 'teamId', 'tags', 'updatedAt'],
      },
    }),
    pathParams: TicketIdParam,
    body: TicketPatch,
    responses: { 200: item(Ticket) },
  },
  createMany: {
    method: 'POST',
    path: '/tickets/bulk',
    summary: 'Create many tickets',
    description:
      `Creates up to ${bulkItems} tickets. The request counts once against the rate limits. ` +
      'Each item succeeds or fails independently. ' +
      '`data` contains one result for each item: the HTTP status, and the ticket or the error. ' +
      'Emits `ticket.created` for each created ticket. The event contains the `commentCount`, but not the `comments`.',
    metadata: meta({ scope: 'tickets:write', group: 'tickets' }),
    body: NewTickets,
    responses: { 200: bulkResults(NewTicketResult) },
  },
  updateMany: {
    method: 'PATCH',
    path: '/tickets/bulk',
    summary: 'Update many tickets',
    description:
      `Updates up to ${bulkItems} tickets. The request counts once against the rate limits. ` +
      'Each item succeeds or fails independently. ' +
      '`data` contains one result for each item: the HTTP status, and the ticket or the error. ' +
      'Emits `ticket.updated` for each changed ticket.',
    metadata: meta({
      scope: 'tickets:write',
      group: 'tickets',
      agent: {
        tool: 'update_tickets',
        when: 'Takes up to 100 ids or numbers, each with the fields of update_ticket.',
        short: ['id', 'ticketNumber', 'status'],
      },
    }),
    body: TicketPatches,
    responses: { 200: bulkResults(TicketPatchResult) },
  },
  attach: {
    method: 'POST',
    path: '/tickets/:id/attachments',
    summary: 'Attach a file to a ticket',
    description: attachDescription,
    metadata: meta({ scope: 'tickets:write', group: 'tickets', binary: 'request' }),
    pathParams: TicketIdParam,
    query: NewAttachmentQuery,
    body: NoBody,
    responses: { 201: item(Attachment) },
  },
});
