import { Decision, IdParam } from '@itsm-api/contract';
import * as z from 'zod';
import { findAssetNames } from '../../../resources/assets/queries.ts';
import { decide, getApproval } from '../../../resources/tickets/approvals/queries.ts';
import { getTicket } from '../../../resources/tickets/queries.ts';
import { findUserNames } from '../../../resources/users/queries.ts';
import { changeIfUnchanged, Etag, etagField } from '../../framework/optimistic-lock.ts';
import { form, page } from '../../framework/page.ts';
import { decisionBadge, plannedWindow } from '../../ui/approvals.ts';
import { emptyAsNull, renderForm, selectField, submit, textArea, unixLines } from '../../ui/form-fields.ts';
import { facts, html, section } from '../../ui/html.ts';

const path = '/developer/approvals';
const { decision, comment } = Decision.shape;

const choices = [
  { value: '', label: 'Choose' },
  { value: 'APPROVED', label: 'Approve' },
  { value: 'REJECTED', label: 'Reject' },
];

/** The page on which an approver decides about a change. Other users can only read it. */
export const approval = page({
  path: `${path}/:id`,
  roles: ['ADMIN', 'AGENT'],
  params: IdParam,
  async show(request) {
    const { visit, params } = request;
    const { context } = visit;
    const approval = await getApproval(context, params.id);
    const ticket = await getTicket(context, approval.ticketId);
    const assets = await findAssetNames(context, ticket.assetIds);
    const names = await findUserNames(context, [approval.createdById, approval.approverId, ticket.requesterId]);
    const isOpen = approval.decision === 'PENDING' && approval.approverId === Number(context.userId);
    return {
      title: `Approve ${ticket.ticketNumber}: ${ticket.title}`,
      body: html`<p><a href="${path}">My approvals</a></p>
${facts({
  Decision: decisionBadge(approval),
  Change: html`<a href="/developer/tickets/${ticket.id}">${ticket.ticketNumber}</a>`,
  Priority: ticket.priority,
  'Planned window': plannedWindow(visit, ticket),
  Assets: assets.join(', ') || null,
  Requester: names.get(ticket.requesterId) ?? null,
  Approver: names.get(approval.approverId) ?? null,
  'Requested by': names.get(approval.createdById) ?? null,
  Requested: visit.time(approval.createdAt),
  Decided: approval.decidedAt && visit.time(approval.decidedAt),
})}
${section('Description', html`<div class="prose">${ticket.description}</div>`)}
${approval.note && section('Note', html`<div class="prose">${approval.note}</div>`)}
${approval.comment && section('Comment', html`<div class="prose">${approval.comment}</div>`)}
${
  isOpen
    ? section(
        'Your decision',
        renderForm(
          request,
          'decide',
          (
            sent,
          ) => html`${etagField(ticket)}${selectField(sent, { name: 'decision', label: 'Decision', options: choices, required: true })}
${textArea(sent, { name: 'comment', label: 'Comment', hint: "You can't change the decision later." })}${submit('Decide')}`,
        ),
      )
    : null
}`,
    };
  },
  forms: {
    decide: form({
      params: IdParam,
      fields: z.strictObject({ decision, comment: emptyAsNull(unixLines(comment)), etag: Etag }),
      audit: 'approval.decided',
      async run({ visit, params, fields: { etag, ...input } }) {
        const { ticketId } = await changeIfUnchanged(visit.context, etag, (context) =>
          decide(context, params.id, input),
        );
        const { ticketNumber } = await getTicket(visit.context, ticketId);
        const target = { type: 'ticket', id: ticketId } as const;
        return { redirect: path, subject: ticketNumber, target };
      },
    }),
  },
});
