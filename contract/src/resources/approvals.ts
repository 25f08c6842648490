import * as z from 'zod';
import { endpoints, filter, IdParam, item, list, listQuery, meta } from '../endpoint.ts';
import { Id, longText, numberFromText, responseText, TicketId, Timestamp, UserId, versionFields } from '../fields.ts';
import { EmailReference, reference, UserReference } from '../references.ts';
import { TicketIdParam } from './ticket-reference.ts';

/** The maximum number of approvals of a ticket. */
export const maxApprovals = 20;

export const ApprovalDecision = z.enum(['PENDING', 'APPROVED', 'REJECTED']).meta({
  id: 'ApprovalDecision',
  description: 'The decision of the approver. PENDING until the approver decides.',
});
export type ApprovalDecision = z.output<typeof ApprovalDecision>;

export const ApprovalStatus = z.enum(['NONE', 'PENDING', 'APPROVED', 'REJECTED']).meta({
  id: 'ApprovalStatus',
  description:
    'The result of the approvals of the ticket: NONE without approvals, REJECTED after one rejection, PENDING while a ' +
    'decision is missing, and otherwise APPROVED.',
});
export type ApprovalStatus = z.output<typeof ApprovalStatus>;

const Note = longText('What the approver needs to know', 4096);
const DecisionComment = longText('The reason for the decision', 4096);

/** The value of `changes.approvals` in activity and events. */
export const ChangedApproval = z
  .object({
    id: Id,
    approverId: UserId.meta({ description: 'The user who decides.' }),
    decision: ApprovalDecision,
  })
  .meta({
    id: 'ChangedApproval',
    description: 'An approval before or after a change of the ticket.',
    example: { id: 1, approverId: 1, decision: 'PENDING' },
  });
export type ChangedApproval = z.output<typeof ChangedApproval>;

export const Approval = z
  .object({
    id: Id,
    ticketId: TicketId.meta({ description: 'The change to approve.' }),
    approverId: UserId.meta({ description: 'The user who decides.' }),
    createdById: UserId.meta({ description: 'The user of the API key that requested the approval.' }),
    note: responseText(Note).nullable(),
    decision: ApprovalDecision,
    comment: responseText(DecisionComment).nullable(),
    decidedAt: Timestamp.nullable().meta({ description: 'When the approver decided, or null while PENDING.' }),
    ...versionFields,
    updatedAt: Timestamp.meta({ description: 'When the approval, or what the approver decides about, last changed.' }),
    etag: versionFields.etag.meta({
      description:
        'The version of the approval. It also changes if the change that the approver decides about is edited. Read it ' +
        'before you read the ticket, and send it in `If-Match` with the decision.',
    }),
  })
  .meta({
    id: 'Approval',
    description: 'The approval of a change by one user.',
    example: {
      id: 1,
      ticketId: 27,
      approverId: 1,
      createdById: 2,
      note: 'The vendor recommends the upgrade before the year ends.',
      decision: 'PENDING',
      comment: null,
      decidedAt: null,
      createdAt: '2026-11-20T10:05:00.000Z',
      updatedAt: '2026-11-20T10:05:00.000Z',
      etag: '"1-mi77wsg0"',
    },
  });
export type Approval = z.output<typeof Approval>;

export const NewApproval = z
  .strictObject({
    approverId: UserReference.meta({
      description:
        'The user who decides, by id or email address: an active ADMIN or AGENT, also a service account. The requester ' +
        "of the ticket and the user of the API key can't approve.",
    }),
    note: Note.nullish(),
  })
  .meta({
    id: 'NewApproval',
    description: 'A request for an approval.',
    example: { approverId: 4, note: 'Checks that the window is free.' },
  });
export type NewApproval = z.output<typeof NewApproval>;

export const Decision = z
  .strictObject({
    decision: z.enum(['APPROVED', 'REJECTED']).meta({
      description: 'The decision. The approver can change REJECTED to APPROVED later, but not APPROVED to REJECTED.',
    }),
    comment: DecisionComment.nullish(),
  })
  .meta({
    id: 'Decision',
    description: 'The decision of the approver.',
    example: { decision: 'APPROVED', comment: 'Only after the backup.' },
  });
export type Decision = z.output<typeof Decision>;

const Approver = reference(
  'user',
  EmailReference,
  z
    .union([Id, EmailReference, z.enum(['me'])], {
      error: 'must be a positive integer, an email address or `me`',
    })
    .meta({
      id: 'Approver',
      description: 'The id or the email address of a user, or `me` for the user of the API key.',
    }),
);

/** The query of the approvals of one ticket. */
export const TicketApprovalQuery = listQuery({});
export type TicketApprovalQuery = z.output<typeof TicketApprovalQuery>;

export const ApprovalQuery = listQuery({
  approverId: filter(z.preprocess(numberFromText<number | EmailReference | 'me'>, Approver)),
  decision: filter(ApprovalDecision),
});
export type ApprovalQuery = z.output<typeof ApprovalQuery>;

const short = ['id', 'ticketId', 'approverId', 'decision', 'note', 'comment', 'etag'];

const effects = 'Changes `updatedAt` of the ticket, and emits `ticket.updated`.';

export const approvals = endpoints({
  ofTicket: {
    method: 'GET',
    path: '/tickets/:id/approvals',
    summary: 'List the approvals of a ticket',
    description: 'Returns the newest approvals first. Only tickets of the type CHANGE have approvals.',
    metadata: meta({
      scope: 'tickets:read',
      group: 'tickets',
      agent: { tool: 'list_approvals', when: 'Shows who decides about a CHANGE.', short },
    }),
    pathParams: TicketIdParam,
    query: TicketApprovalQuery,
    responses: { 200: list(Approval) },
  },
  create: {
    method: 'POST',
    path: '/tickets/:id/approvals',
    summary: 'Request an approval of a change',
    description: `A CHANGE has at most ${maxApprovals} approvals, each by a different user. ${effects}`,
    metadata: meta({
      scope: 'tickets:write',
      group: 'tickets',
      agent: { tool: 'request_approval', when: 'The approver is another ADMIN or AGENT.', short },
    }),
    pathParams: TicketIdParam,
    body: NewApproval,
    responses: { 201: item(Approval) },
  },
  list: {
    method: 'GET',
    path: '/approvals',
    summary: 'List approvals',
    description: 'Returns the approvals of all tickets, newest first.',
    metadata: meta({
      scope: 'tickets:read',
      group: 'tickets',
      agent: { tool: 'search_approvals', when: 'To find your open decisions: approverId me, decision PENDING.', short },
    }),
    query: ApprovalQuery,
    responses: { 200: list(Approval) },
  },
  get: {
    method: 'GET',
    path: '/approvals/:id',
    summary: 'Get an approval',
    metadata: meta({ scope: 'tickets:read', group: 'tickets' }),
    pathParams: IdParam,
    responses: { 200: item(Approval) },
  },
  decide: {
    method: 'PATCH',
    path: '/approvals/:id',
    summary: 'Decide about a change',
    description:
      'Requires an API key of the approver. Repeating the same decision with the same comment changes nothing, with any ' +
      `\`If-Match\`. ${effects}`,
    metadata: meta({
      scope: 'tickets:write',
      group: 'tickets',
      agent: {
        tool: 'decide_approval',
        when: 'First list the approval, then read its ticket.',
        short,
        needsEtag: true,
      },
    }),
    pathParams: IdParam,
    body: Decision,
    responses: { 200: item(Approval) },
  },
  delete: {
    method: 'DELETE',
    path: '/approvals/:id',
    summary: 'Withdraw the request for an approval',
    description:
      'Returns the withdrawn approval. Requires an API key of its approver or of the user who requested it. Only a ' +
      'PENDING approval can be withdrawn, by the user who requested it only if no approver of the ticket has decided yet. ' +
      `Administrators can withdraw any approval in the developer area. ${effects}`,
    metadata: meta({ scope: 'tickets:write', group: 'tickets' }),
    pathParams: IdParam,
    responses: { 200: item(Approval) },
  },
});
