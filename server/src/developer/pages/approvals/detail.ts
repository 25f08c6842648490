import { type Approval, Decision, IdParam } from '@itsm-api/contract';
import * as z from 'zod';
import { findAssetNames } from '../../../resources/assets/queries.ts';
import { decide, getApproval, withdrawApproval } from '../../../resources/tickets/approvals/queries.ts';
import { listAttachments } from '../../../resources/tickets/attachments/queries.ts';
import { getTicket } from '../../../resources/tickets/queries.ts';
import { findUserNames } from '../../../resources/users/queries.ts';
import { changeIfUnchanged, Etag, etagField } from '../../framework/optimistic-lock.ts';
import { type FormState, form, page } from '../../framework/page.ts';
import { canDecide, decisionBadge, renderPlannedWindow } from '../../ui/approvals.ts';
import { attachmentTable } from '../../ui/attachment-table.ts';
import { customFieldList } from '../../ui/custom-field-list.ts';
import { PageNumber, perPage } from '../../ui/filtered-list.ts';
import { emptyAsNull, foldedForm, renderForm, submit, textArea, unixLines } from '../../ui/form-fields.ts';
import { facts, html, pager, type SafeHtml, section } from '../../ui/html.ts';

const path = '/developer/approvals';
const { decision, comment } = Decision.shape;
/** An approver must see the whole values of custom fields. */
const wholeValue = Number.POSITIVE_INFINITY;
const adviceAfterChange = 'Reload the page and check them.';

/**
 * The page on which an approver decides about a change, and on which administrators withdraw approvals. It shows all
 * that the approver decides about. Other users can only read it.
 */
export const approval = page({
  path: `${path}/:id`,
  roles: ['ADMIN', 'AGENT'],
  params: IdParam,
  query: z.strictObject({ page: PageNumber }),
  async show(request) {
    const { visit, params, query, address } = request;
    const { context } = visit;
    // The approval is read first, so that its ETag is never newer than the shown change.
    const approval = await getApproval(context, params.id);
    const ticket = await getTicket(context, approval.ticketId);
    const assets = await findAssetNames(context, ticket.assetIds);
    const attachments = await listAttachments(context, ticket.id, { ...query, perPage });
    const uploaders = attachments.data.map(({ uploaderId }) => uploaderId);
    const people = [approval.createdById, approval.approverId, ticket.requesterId, ...uploaders];
    const names = await findUserNames(context, people);
    const canWithdraw = visit.user.account.role === 'ADMIN';
    return {
      title: `Approve ${ticket.ticketNumber}: ${ticket.title}`,
      body: html`<p><a href="${path}">My approvals</a></p>
${facts({
  Decision: decisionBadge(approval),
  Change: html`<a href="/developer/tickets/${ticket.id}">${ticket.ticketNumber}</a>`,
  Priority: ticket.priority,
  'Planned window': renderPlannedWindow(visit, ticket),
  Assets: assets.join(', ') || null,
  Requester: names.get(ticket.requesterId) ?? null,
  Approver: names.get(approval.approverId) ?? null,
  'Requested by': names.get(approval.createdById) ?? null,
  Requested: visit.time(approval.createdAt),
  Decided: approval.decidedAt && visit.time(approval.decidedAt),
})}
${await customFieldList(visit, 'TICKET', ticket.customFields, wholeValue)}
${section('Description', html`<div class="prose">${ticket.description}</div>`)}
${approval.note && section('Note', html`<div class="prose">${approval.note}</div>`)}
${approval.comment && section('Comment', html`<div class="prose">${approval.comment}</div>`)}
${section(`Attachments (${attachments.meta.totalCount})`, html`${attachmentTable(visit, attachments.data, names)}${pager(attachments.meta, address, { label: 'Pages of attachments' })}`)}
${
  canDecide(visit, approval)
    ? section(
        'Your decision',
        renderForm(request, 'decide', (sent) => decisionFields(sent, approval)),
      )
    : null
}
${canWithdraw ? foldedForm(request, 'Withdraw', 'withdraw', () => withdrawalFields(approval)) : null}`,
    };
  },
  forms: {
    decide: form({
      params: IdParam,
      fields: z.strictObject({ decision, comment: emptyAsNull(unixLines(comment)), etag: Etag }),
      audit: 'approval.decided',
      async run({ visit, params, fields: { etag, ...input } }) {
        const { ticketId } = await changeIfUnchanged(
          visit.context,
          etag,
          (context) => decide(context, params.id, input),
          adviceAfterChange,
        );
        const { ticketNumber } = await getTicket(visit.context, ticketId);
        const target = { type: 'ticket', id: ticketId } as const;
        return { redirect: path, subject: ticketNumber, target };
      },
    }),
    withdraw: form({
      params: IdParam,
      fields: z.strictObject({ etag: Etag }),
      audit: 'approval.withdrawn',
      roles: ['ADMIN'],
      async run({ visit, params, fields: { etag } }) {
        const { ticketId, approverId, decision } = await changeIfUnchanged(
          visit.context,
          etag,
          (context) => withdrawApproval(context, params.id),
          adviceAfterChange,
        );
        const { ticketNumber } = await getTicket(visit.context, ticketId);
        return {
          redirect: `/developer/tickets/${ticketId}`,
          subject: ticketNumber,
          target: { type: 'ticket', id: ticketId } as const,
          changes: { approverId: { from: approverId, to: null }, decision: { from: decision, to: null } },
        };
      },
    }),
  },
});

function decisionFields(sent: FormState | undefined, approval: Approval): SafeHtml {
  const isRejected = approval.decision === 'REJECTED';
  const hint = isRejected
    ? "You have rejected this change. An approval replaces your comment, and you can't take it back."
    : "You can approve the change after a rejection, but you can't take back an approval.";
  const button = (value: Decision['decision'], text: string, kind: 'main' | 'danger') =>
    submit(text, kind, { name: 'decision', value });
  return html`${etagField(approval)}${textArea(sent, { name: 'comment', label: 'Comment (optional)', hint })}
<div class="actions" id="field-decision">${button('APPROVED', 'Approve', 'main')}${isRejected ? null : button('REJECTED', 'Reject', 'danger')}</div>`;
}

function withdrawalFields(approval: Approval): SafeHtml {
  return html`<p>The approval is removed, also if the approver has decided. The activity of the change and the audit log
 keep the decision.</p>${etagField(approval)}${submit('Withdraw approval', 'danger')}`;
}
