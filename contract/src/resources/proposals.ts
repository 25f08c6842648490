import * as z from 'zod';
import {
  acceptsIfMatch,
  type Endpoint,
  endpoints,
  filter,
  IdParam,
  item,
  list,
  listQuery,
  meta,
  openEnum,
  userFilter,
} from '../endpoint.ts';
import { ErrorCode, ErrorDetails, ErrorMessage } from '../errors.ts';
import { Id, longText, responseText, Timestamp, UserId, versionFields } from '../fields.ts';
import { assets } from './assets.ts';
import { comments } from './comments.ts';
import { links } from './links.ts';
import { requestForms } from './request-forms.ts';
import { tasks } from './tasks.ts';
import { tickets } from './tickets.ts';

/** The maximum number of pending proposals of a workspace, and of an API key with the keys that it replaces. */
export const [maxPendingProposals, maxPendingProposalsOfKey] = [500, 100];

/** The maximum size of the body and the preview of a proposal, so that pages of proposals aren't too large. */
export const maxProposalBytes = 262_144;

/** The number of days after which a pending proposal expires, and after which an ended one is deleted. */
export const [proposalDays, endedProposalDays] = [7, 90];

/** The endpoints whose requests can be proposed, by the `operationId` that their metadata names. */
interface Proposable {
  tickets_create: typeof tickets.create;
  tickets_update: typeof tickets.update;
  comments_create: typeof comments.create;
  links_create: typeof links.create;
  assets_create: typeof assets.create;
  assets_update: typeof assets.update;
  assets_upsertMany: typeof assets.upsertMany;
  tasks_create: typeof tasks.create;
  tasks_update: typeof tasks.update;
  requestForms_submit: typeof requestForms.submit;
}

export type ProposalOperation = keyof Proposable;

export const proposable: Proposable = {
  tickets_create: tickets.create,
  tickets_update: tickets.update,
  comments_create: comments.create,
  links_create: links.create,
  assets_create: assets.create,
  assets_update: assets.update,
  assets_upsertMany: assets.upsertMany,
  tasks_create: tasks.create,
  tasks_update: tasks.update,
  requestForms_submit: requestForms.submit,
};

export const ProposalOperation = z
  .enum(Object.keys(proposable) as [ProposalOperation, ...ProposalOperation[]])
  .meta({ id: 'ProposalOperation', description: 'The `operationId` of the proposed request.' });

const Reason = longText('The reason for the change, shown to the person who decides', 4096);
const GivenReason = Reason.meta({ id: 'ProposalReason' });
const Note = longText('The reason for the decision', 4096);

const IfMatch = z
  .string()
  .max(200)
  .regex(/^"[\x21\x23-\x7e]+"$/, 'must be an `etag`, including its quotation marks')
  .meta({
    id: 'ProposalIfMatch',
    description:
      'The `etag` of the version that the proposal is based on. If the resource has another `etag` when a person ' +
      'accepts the proposal, the proposal becomes STALE.',
    example: '"3-mi6l2n28"',
  });

const example = {
  operation: 'tickets_update',
  params: { id: 38 },
  body: { priority: 'CRITICAL' },
  reason: 'Three other tickets report the same outage.',
} as const;

type Variant<Name extends ProposalOperation> = z.ZodObject<
  {
    operation: z.ZodLiteral<Name>;
    body: Proposable[Name]['body'];
    reason: typeof Reason;
    ifMatch: z.ZodOptional<typeof IfMatch>;
  } & (Proposable[Name] extends { pathParams: infer Params extends z.ZodType } ? { params: Params } : unknown),
  z.core.$strict
>;
type Variants = { [Name in ProposalOperation]: Variant<Name> };

/** Returns the schema of a proposal for an operation. Its body is the schema of the endpoint. */
function variantOf(operation: ProposalOperation): z.ZodObject {
  const route: Endpoint = proposable[operation];
  const { body } = proposable[operation];
  return z
    .strictObject({
      operation: z.literal(operation).meta({ description: 'The operation.' }),
      ...(route.pathParams && { params: route.pathParams.meta({ description: 'The path parameters.' }) }),
      body,
      reason: GivenReason,
      ...(acceptsIfMatch(route) && { ifMatch: IfMatch.optional() }),
    })
    .meta({
      id: `Proposed${operation.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())}`,
      description: `A proposal of \`${operation}\`.`,
    });
}

/** The schemas of new proposals, by operation. */
export const proposalVariants = Object.fromEntries(
  ProposalOperation.options.map((operation) => [operation, variantOf(operation)]),
) as unknown as Variants;

// The name of this type keeps the declaration file small.
interface NewProposalSchema extends z.ZodDiscriminatedUnion<[Variants[ProposalOperation]], 'operation'> {}

export const NewProposal: NewProposalSchema = z
  .discriminatedUnion('operation', Object.values(proposalVariants) as unknown as [Variants[ProposalOperation]], {
    error: ({ code }) =>
      code === 'invalid_union' ? `must be one of ${ProposalOperation.options.join(', ')}` : undefined,
  })
  .meta({ id: 'NewProposal', description: 'A request that the server runs if a person accepts it.', example });
export type NewProposal = z.output<NewProposalSchema>;

export const ProposalStatus = z.enum(['PENDING', 'ACCEPTED', 'REJECTED', 'STALE', 'EXPIRED', 'WITHDRAWN']).meta({
  id: 'ProposalStatus',
  description:
    'PENDING: no person has decided. STALE: a person accepted the proposal, but its changes would differ from the ' +
    `preview. EXPIRED: no person decided within ${proposalDays} days. WITHDRAWN: the API key withdrew the proposal, ` +
    'or the key or its user was deactivated.',
});
export type ProposalStatus = z.output<typeof ProposalStatus>;

export const ProposalTarget = z
  .templateLiteral([z.enum(['TICKET', 'ASSET', 'PROJECT', 'TASK']), ':', z.int()])
  .refine((target) => /:[1-9]\d{0,15}$/.test(target), { abort: true })
  .meta({
    id: 'ProposalTarget',
    description: 'The type and the id of a resource.',
    pattern: '^(TICKET|ASSET|PROJECT|TASK):[1-9]\\d{0,15}$',
    example: 'TICKET:38',
  });
export type ProposalTarget = z.output<typeof ProposalTarget>;

const TargetText = z.string().meta({
  description:
    'The type and the id of the resource that the request changes, or to which it adds something. Null if there is none.',
  example: 'TICKET:38',
});
openEnum.set(TargetText, ProposalTarget);

const Value = z.unknown();

export const ProposalPreview = z
  .object({
    target: TargetText.nullable(),
    status: z
      .string()
      .nullable()
      .meta({ description: 'The status of the target before the change, or null if there is no target.' }),
    changes: z
      .record(
        z.string(),
        z.object({
          from: Value.meta({ description: 'The value before the change, or null in a new resource.' }),
          to: Value.meta({ description: 'The value after the change.' }),
        }),
      )
      .meta({
        id: 'ProposalChanges',
        description:
          'The changed fields, or the fields of the new resource, by name. They exclude ids, numbers, counts and times ' +
          'that the server sets, and `dueAt` if the request does not set it.',
      }),
  })
  .meta({
    id: 'ProposalPreview',
    description: 'The changes of the request in one resource.',
    example: {
      ...{ target: 'TICKET:38', status: 'OPEN' },
      changes: { priority: { from: 'HIGH', to: 'CRITICAL' } },
    },
  });
export type ProposalPreview = z.output<typeof ProposalPreview>;

const Previews = z.array(ProposalPreview);

const ProposalResult = z
  .object({
    preview: Previews.nullable().meta({
      description: 'The changes of the request at the time of the decision, or null if the request failed.',
    }),
    error: z
      .object({ code: ErrorCode, message: ErrorMessage, details: ErrorDetails.optional() })
      .nullable()
      .meta({ description: 'The error of the request at the time of the decision, or null.' }),
  })
  .meta({ id: 'ProposalResult', description: 'The reason why a proposal became STALE when a person accepted it.' });
export type ProposalResult = z.output<typeof ProposalResult>;

export const Proposal = z
  .object({
    id: Id,
    operation: ProposalOperation,
    params: z.record(z.string(), z.unknown()).meta({ description: 'The path parameters. Ids replace ticket numbers.' }),
    body: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({
        description:
          'The body of the request. Ids replace ticket numbers and email addresses. ' +
          'Null if an administrator has redacted the ticket.',
      }),
    reason: responseText(Reason),
    ifMatch: z
      .string()
      .nullable()
      .meta({ description: 'The `etag` of the version that the proposal is based on, or null.' }),
    status: ProposalStatus,
    target: TargetText.nullable().meta({
      description:
        'The type and the id of the resource that the request changes, or to which it adds something. Null if there is ' +
        'none, and for an upsert.',
    }),
    preview: Previews.meta({
      description:
        'The changes of the request, in the order of its items. Empty if an administrator has redacted the ticket.',
    }),
    result: ProposalResult.nullable().meta({
      description: 'The reason why the proposal became STALE when a person accepted it, or null.',
    }),
    createdId: Id.nullable().meta({
      description:
        'The id of the created ticket, comment, link, asset or task, or null if the request has created nothing.',
    }),
    note: responseText(Note).nullable(),
    proposedById: UserId.meta({ description: 'The user of the API key that proposed the request.' }),
    keyId: Id.meta({ description: 'The API key that proposed the request.' }),
    decidedById: UserId.nullable().meta({ description: 'The user who decided, or null.' }),
    expiresAt: Timestamp.meta({ description: 'When a pending proposal expires.' }),
    endedAt: Timestamp.nullable().meta({
      description: 'When the proposal was decided, expired or was withdrawn. Null while it is pending.',
    }),
    ...versionFields,
  })
  .meta({
    id: 'Proposal',
    description: 'A request that the server runs only after a person accepts it.',
    example: {
      id: 1,
      ...example,
      ifMatch: null,
      ...{ status: 'PENDING', target: 'TICKET:38' },
      preview: [z.globalRegistry.get(ProposalPreview)?.example],
      result: null,
      createdId: null,
      note: null,
      proposedById: 2,
      keyId: 3,
      decidedById: null,
      expiresAt: '2026-11-27T10:05:00.000Z',
      endedAt: null,
      createdAt: '2026-11-20T10:05:00.000Z',
      updatedAt: '2026-11-20T10:05:00.000Z',
      etag: '"1-mi77wsg0-"',
    },
  });
export type Proposal = z.output<typeof Proposal>;

export const ProposalDecision = z
  .strictObject({
    decision: z.enum(['ACCEPTED', 'REJECTED']).meta({ description: 'The decision.' }),
    note: Note.nullish(),
  })
  .meta({
    id: 'ProposalDecision',
    description: 'The decision about a proposal.',
    example: { decision: 'ACCEPTED', note: 'Agreed with the network team.' },
  });
export type ProposalDecision = z.output<typeof ProposalDecision>;

export const ProposalQuery = listQuery({
  status: filter(ProposalStatus),
  operation: filter(ProposalOperation),
  target: filter(ProposalTarget),
  proposedById: userFilter(),
});
export type ProposalQuery = z.output<typeof ProposalQuery>;

const access = meta({ scope: 'any', group: 'tickets' });

export const proposals = endpoints({
  list: {
    method: 'GET',
    path: '/proposals',
    summary: 'List proposals',
    description:
      'Returns the proposals for resources that the API key can read, newest first. ' +
      'Different filters combine with AND. Several values of one filter combine with OR.',
    metadata: meta({
      scope: 'any',
      group: 'tickets',
      agent: {
        tool: 'list_proposals',
        when: 'Shows the decisions.',
        short: ['id', 'operation', 'target', 'status', 'note', 'createdId'],
      },
    }),
    query: ProposalQuery,
    responses: { 200: list(Proposal) },
  },
  create: {
    method: 'POST',
    path: '/proposals',
    summary: 'Propose a request',
    description:
      'Runs the request, rolls back its changes, and stores the proposal. If the request fails, returns its error, with ' +
      'paths below `params` and `body`. All items of an upsert must be valid. If a person accepts the proposal, the ' +
      'server runs the request again as the user of this API key. Requires the scope of the operation. A workspace can ' +
      `have at most ${maxPendingProposals} pending proposals, and an API key ${maxPendingProposalsOfKey}. ` +
      `The body and the preview can have ${maxProposalBytes} bytes in total.`,
    metadata: access,
    body: NewProposal,
    responses: { 201: item(Proposal) },
  },
  get: {
    method: 'GET',
    path: '/proposals/:id',
    summary: 'Get a proposal',
    description: 'Requires the scope that reads the resource of the operation.',
    metadata: access,
    pathParams: IdParam,
    responses: { 200: item(Proposal) },
  },
  decide: {
    method: 'PATCH',
    path: '/proposals/:id',
    summary: 'Decide about a proposal',
    description:
      'If the decision is ACCEPTED, the server runs the request again. It commits the changes if they equal the preview, ' +
      'and the status of the target is still the same. Otherwise, it changes nothing, and the proposal becomes STALE. ' +
      'Check the `status` in the response. Requires an API key that acts for a person, has the scope of the operation, ' +
      'and is not a proposing key. Repeating the same decision changes nothing, even if `If-Match` no longer matches.',
    metadata: access,
    pathParams: IdParam,
    body: ProposalDecision,
    responses: { 200: item(Proposal) },
  },
  delete: {
    method: 'DELETE',
    path: '/proposals/:id',
    summary: 'Withdraw a proposal',
    description:
      'Returns the withdrawn proposal. Requires the API key that created it, or the key that replaced this key in a rotation.',
    metadata: access,
    pathParams: IdParam,
    responses: { 200: item(Proposal) },
  },
});
