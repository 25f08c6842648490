import {
  type Approval,
  type Attachment,
  type Comment,
  FileName,
  IdParam,
  integerFromText,
  isUnresolved,
  maxApprovals,
  type Team,
  type Ticket,
  TicketIdParam,
} from '@itsm-api/contract';
import * as z from 'zod';
import { listTicketActivity } from '../../../resources/activities/queries.ts';
import { findAssetNames } from '../../../resources/assets/queries.ts';
import { redact } from '../../../resources/privacy/redaction.ts';
import { teams } from '../../../resources/teams/queries.ts';
import { listTicketApprovals } from '../../../resources/tickets/approvals/queries.ts';
import { readContent, storeUploadedFile } from '../../../resources/tickets/attachments/file-transfer.ts';
import { createAttachment, findFile, listAttachments } from '../../../resources/tickets/attachments/queries.ts';
import { getChangePolicy, isWaiting } from '../../../resources/tickets/change-policy.ts';
import { listComments } from '../../../resources/tickets/comments/queries.ts';
import { getPausedSince, getTicket } from '../../../resources/tickets/queries.ts';
import { updateTicket } from '../../../resources/tickets/ticket-update.ts';
import { findUserNames } from '../../../resources/users/queries.ts';
import { invalidField } from '../../../shared/errors.ts';
import { type FormState, form, page } from '../../framework/page.ts';
import type { UserContext } from '../../framework/request-context.ts';
import { activityTable } from '../../ui/activity-table.ts';
import { canDecide, decisionBadge, renderPlannedWindow } from '../../ui/approvals.ts';
import { attachmentTable } from '../../ui/attachment-table.ts';
import { customFieldList } from '../../ui/custom-field-list.ts';
import { PageNumber } from '../../ui/filtered-list.ts';
import {
  checkboxes,
  FileInForm,
  fileField,
  foldedForm,
  type Option,
  renderForm,
  selectField,
  several,
  submit,
  textField,
} from '../../ui/form-fields.ts';
import {
  badge,
  emptyState,
  facts,
  html,
  linkButton,
  pager,
  type SafeHtml,
  section,
  table,
  withQuery,
} from '../../ui/html.ts';
import { statusBadge } from './status-badge.ts';

/** The numbers of comments and of activities per page. */
const [commentsShown, activitiesShown] = [10, 20];

const attachmentsShown = 20;

/** The statuses in which an override of the policy for changes starts the work. */
const StartedStatus = z.enum(['IN_PROGRESS', 'RESOLVED']);

const AttachedFile = FileInForm.refine(({ content }) => content.length > 0, {
  error: 'must not be empty',
  abort: true,
}).refine(({ name }) => FileName.safeParse(name).success, 'must have a name of at most 255 characters');

/** Maximum length of a ticket text and of a comment, in UTF-16 code units. The page truncates longer texts. */
const [longText, shortText] = [16_384, 2048];

/**
 * The page of a ticket. The URL contains the ticket's ID or number. The page
 * can only attach files, redact the ticket and override the policy for changes.
 */
export const ticket = page({
  path: '/developer/tickets/:id',
  roles: ['ADMIN', 'AGENT'],
  params: TicketIdParam,
  query: z.strictObject({
    attachments: PageNumber,
    comments: PageNumber,
    page: PageNumber,
    /** The text that the page doesn't truncate: the name of a ticket field, or the ID of a comment. */
    whole: z.string().max(20).optional(),
  }),
  async show(request) {
    const { visit, params, query, address } = request;
    const ticket = await getTicket(visit.context, params.id);
    const comments = await listComments(visit.context, ticket.id, { page: query.comments, perPage: commentsShown });
    const attachments = await listAttachments(visit.context, ticket.id, {
      page: query.attachments,
      perPage: attachmentsShown,
    });
    const activities = await listTicketActivity(visit.context, ticket.id, {
      page: query.page,
      perPage: activitiesShown,
    });
    const approvals = await listTicketApprovals(visit.context, ticket.id, { page: 1, perPage: maxApprovals });
    const authors = [
      ...approvals.data.map(({ approverId }) => approverId),
      ...comments.data.map(({ authorId }) => authorId),
      ...attachments.data.map(({ uploaderId }) => uploaderId),
    ];
    const people = [ticket.requesterId, ticket.assigneeId, ...ticket.watcherUserIds, ...authors];
    const names = await findUserNames(visit.context, people);
    const assets = await findAssetNames(visit.context, ticket.assetIds);
    const team = ticket.teamId === null ? null : await teams.get(visit.context, ticket.teamId);
    const pausedSince = await getPausedSince(visit.context, ticket.id);
    const text: ShowText = (name, value, length) =>
      renderText(value, length, query.whole === name, withQuery(address, { whole: name }));
    return {
      title: `${ticket.ticketNumber}: ${ticket.title}`,
      body: html`<p><a href="/developer/tickets">All tickets</a></p>
${renderFacts(visit, ticket, { names, team, assets, pausedSince })}
${await customFieldList(visit, 'TICKET', ticket.customFields, 500)}
${section('Description', text('description', ticket.description, longText))}
${ticket.resolution && section('Resolution', text('resolution', ticket.resolution, longText))}
${approvals.data.length > 0 ? section(`Approvals (${approvals.data.length})`, approvalTable(visit, approvals.data, names)) : null}
${section(`Attachments (${attachments.meta.totalCount})`, html`${attachmentTable(visit, attachments.data, names)}${pager(attachments.meta, address, { name: 'attachments', label: 'Pages of attachments' })}${renderForm(request, 'attach', (sent) => html`${fileField(sent, { name: 'file', label: 'File', required: true })}${submit('Attach file', 'plain')}`, { upload: true })}`)}
${section(`Comments (${comments.meta.totalCount})`, html`${commentList(visit, comments.data, { names, text })}${pager(comments.meta, address, { name: 'comments', label: 'Pages of comments' })}`)}
${section('Activity', html`${await activityTable(visit, activities.data)}${pager(activities.meta, address, { label: 'Pages of activity' })}`)}
${(await canOverride(visit, ticket)) ? foldedForm(request, 'Override the policy for changes', 'override', overrideFields) : null}
${
  visit.user.account.role === 'ADMIN'
    ? foldedForm(request, 'Redact', 'redact', (sent) => redactionFields(sent, ticket, comments.data, attachments.data))
    : null
}`,
    };
  },
  forms: {
    attach: form({
      params: TicketIdParam,
      upload: 'attachment',
      fields: z.strictObject({ file: AttachedFile }),
      audit: 'attachment.added',
      store: ({ visit, params, fields }) => storeUploadedFile(visit.context, params.id, fields.file),
      async run({ visit, params, fields, checked }) {
        const { name } = fields.file;
        const { ticketId } = await createAttachment(visit.context, params.id, { name, file: checked });
        const target = { type: 'ticket', id: ticketId } as const;
        return { redirect: `/developer/tickets/${params.id}`, subject: name, target };
      },
    }),
    override: form({
      params: TicketIdParam,
      fields: z.strictObject({ status: StartedStatus }),
      audit: 'change.overridden',
      roles: ['ADMIN'],
      async run({ visit, params, fields: { status } }) {
        const before = await getTicket(visit.context, params.id);
        const context = { ...visit.context, overridesChangePolicy: true };
        const { id, ticketNumber } = await updateTicket(context, params.id, { status });
        return {
          redirect: `/developer/tickets/${params.id}`,
          subject: ticketNumber,
          target: { type: 'ticket', id } as const,
          changes: { status: { from: before.status, to: status } },
        };
      },
    }),
    redact: form({
      params: TicketIdParam,
      fields: z.strictObject({
        texts: several(z.array(z.literal('ticket'))),
        comments: several(z.array(integerFromText())),
        attachments: several(z.array(integerFromText())),
        confirmation: z.string(),
      }),
      audit: 'ticket.redacted',
      roles: ['ADMIN'],
      ofAccount: true,
      async run({ visit, params, fields: { texts, comments, attachments, confirmation } }) {
        const { id, ticketNumber } = await getTicket(visit.context, params.id);
        if (confirmation.trim().toUpperCase() !== ticketNumber) {
          throw invalidField('VALIDATION_ERROR', 'confirmation', `must be the number of the ticket: ${ticketNumber}`);
        }
        if (texts.length + comments.length === 0) {
          throw invalidField('VALIDATION_ERROR', 'texts', 'must be selected, unless you select a comment');
        }
        await redact(visit.context, { tickets: texts.length > 0 ? [id] : [], comments, attachments });
        return { redirect: `/developer/tickets/${params.id}`, subject: ticketNumber };
      },
    }),
  },
});

/** The page that downloads an attachment. */
export const attachmentContent = page({
  path: '/developer/attachments/:id/content',
  roles: ['ADMIN', 'AGENT'],
  params: IdParam,
  async show({ visit, params }) {
    const file = await findFile(visit.context, params.id);
    visit.startDownload();
    const { name, contentType: type, size } = file;
    return { file: { name, type, size, content: await readContent(visit.context, file) } };
  },
});

/**
 * Renders a text. If the text is too long, renders its beginning and a link to the full text.
 * @param name the value of the query parameter `whole` in the link
 */
type ShowText = (name: string, text: string, length: number) => SafeHtml;

/** What the page shows of other rows. */
interface TicketContext {
  names: ReadonlyMap<number, string>;
  team: Team | null;
  assets: readonly string[];
  /** When the clock of the resolution target stopped, or null. */
  pausedSince: string | null;
}

function renderFacts(
  visit: UserContext,
  ticket: Ticket,
  { names, team, assets, pausedSince }: TicketContext,
): SafeHtml {
  const person = (id: number | null) => (id === null ? null : (names.get(id) ?? `user ${id}`));
  return facts({
    Status: statusBadge(ticket.status),
    Priority: ticket.priority,
    Type: ticket.type,
    Category: ticket.category,
    'Ticket category': ticket.categoryConfigId,
    Requester: person(ticket.requesterId),
    Assignee: person(ticket.assigneeId) ?? 'Unassigned',
    Team: team?.name ?? null,
    Watchers: ticket.watcherUserIds.map(person).join(', ') || null,
    Assets: assets.join(', ') || null,
    Tags: ticket.tags.join(', ') || null,
    Parent: ticket.parentId && html`<a href="/developer/tickets/${ticket.parentId}">ticket ${ticket.parentId}</a>`,
    'First response due': dueDate(
      visit,
      ticket.firstResponseDueAt,
      ticket.firstRespondedAt === null && isUnresolved(ticket.status),
    ),
    'First response': ticket.firstRespondedAt && visit.time(ticket.firstRespondedAt),
    Due: dueDate(visit, ticket.dueAt, isUnresolved(ticket.status), pausedSince),
    'Clock stopped': pausedSince && html`since ${visit.time(pausedSince)}, because the ticket is pending`,
    'Planned window': renderPlannedWindow(visit, ticket),
    Created: visit.time(ticket.createdAt),
    Updated: visit.time(ticket.updatedAt),
    Resolved: ticket.resolvedAt && visit.time(ticket.resolvedAt),
    Closed: ticket.closedAt && visit.time(ticket.closedAt),
    ID: ticket.id,
  });
}

/** Returns true if the user can start a change against the policy of the workspace. */
async function canOverride({ user, context }: UserContext, { type, status }: Ticket): Promise<boolean> {
  return type === 'CHANGE' && isWaiting(status) && user.account.role === 'ADMIN' && (await getChangePolicy(context.db));
}

function overrideFields(sent: FormState | undefined): SafeHtml {
  const options = StartedStatus.options.map((status) => ({ value: status, label: status }));
  return html`<p>The status changes although the change isn't approved or not within its planned window. The audit log
 records the override.</p>${selectField(sent, { name: 'status', label: 'Status', options })}${submit('Override', 'danger')}`;
}

function approvalTable(visit: UserContext, approvals: readonly Approval[], names: ReadonlyMap<number, string>) {
  const rows = approvals.map((approval) => [
    names.get(approval.approverId) ?? '',
    decisionBadge(approval),
    approval.comment,
    visit.time(approval.decidedAt),
    canDecide(visit, approval)
      ? linkButton(`/developer/approvals/${approval.id}`, 'Decide', 'main')
      : html`<a href="/developer/approvals/${approval.id}">Details</a>`,
  ]);
  return table('Approvals', ['Approver', 'Decision', 'Comment', 'Decided', ''], rows, '');
}

/**
 * Renders a date, with a badge if the filter `overdue` or `firstResponseOverdue` finds the ticket.
 * @param isWaiting true if the first response or the resolution is still missing
 * @param at when the clock stopped, by default now
 */
function dueDate({ context, time }: UserContext, date: string | null, isWaiting: boolean, at: string | null = null) {
  if (date === null) return null;
  const isOverdue = isWaiting && new Date(date) < (at === null ? context.now() : new Date(at));
  return html`${time(date)} ${isOverdue ? badge('overdue', 'warn') : null}`;
}

function commentList(
  visit: UserContext,
  comments: readonly Comment[],
  { names, text }: { names: ReadonlyMap<number, string>; text: ShowText },
): SafeHtml {
  if (comments.length === 0)
    return emptyState(html`No comments yet. <a href="/docs/guides/comments-and-activity">Add one with the API</a>.`);
  return html`<ol class="comments">${comments.map(({ id, authorId, body, visibility, createdAt }) => {
    return html`<li id="comment-${id}"><p>${names.get(authorId) ?? `user ${authorId}`}, ${visit.time(createdAt)}
 ${visibility === 'INTERNAL' ? badge('internal', 'warn') : null}</p>${text(String(id), body, shortText)}</li>`;
  })}</ol>`;
}

/** Renders the fields that select the texts, comments and attachments to redact. Lists only those on the page. */
function redactionFields(
  sent: FormState | undefined,
  { ticketNumber }: Ticket,
  comments: readonly Comment[],
  attachments: readonly Attachment[],
): SafeHtml {
  const group = (name: string, label: string, options: Option[]) =>
    options.length === 0 ? null : checkboxes(sent, { name, label, options });
  return html`<p>Redaction replaces the selected texts with <code>[redacted]</code>, also in the activity, stored events and stored
responses. It also deletes the selected attachments. You can't undo this.</p>
${group('texts', 'Ticket', [{ value: 'ticket', label: 'Title, description and resolution' }])}
${group(
  'comments',
  'Comments on this page',
  comments.map(({ id, body }) => ({ value: String(id), label: `${id}: ${body.slice(0, 60).toWellFormed()}` })),
)}
${group(
  'attachments',
  'Attachments to delete',
  attachments.map(({ id, name }) => ({ value: String(id), label: name })),
)}
${textField(sent, { name: 'confirmation', label: 'Number of the ticket', hint: `To confirm, enter ${ticketNumber}.` })}
${submit('Redact', 'danger')}`;
}

function renderText(text: string, length: number, whole: boolean, more: string): SafeHtml {
  if (whole || text.length <= length) return html`<div class="prose">${text}</div>`;
  return html`<div class="prose">${text.slice(0, length).toWellFormed()}…</div><p><a href="${more}">Show the full text</a></p>`;
}
