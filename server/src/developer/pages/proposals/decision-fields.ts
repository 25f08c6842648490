import { ProposalDecision, type ProposalStatus } from '@itsm-api/contract';
import * as z from 'zod';
import type { Names } from '../../../resources/shared/display-names.ts';
import type { FormState } from '../../framework/page.ts';
import { emptyAsNull, submit, textArea, unixLines } from '../../ui/form-fields.ts';
import { badge, html, type SafeHtml } from '../../ui/html.ts';

/** The fields of a decision in a form. */
export const Decision = z.strictObject({
  decision: ProposalDecision.shape.decision,
  note: emptyAsNull(unixLines(ProposalDecision.shape.note)),
});

export function decisionFields(sent: FormState | undefined): SafeHtml {
  const hint = 'The agent can read this note.';
  const button = (value: string, text: string, kind: 'main' | 'danger') =>
    submit(text, kind, { name: 'decision', value });
  return html`${textArea(sent, { name: 'note', label: 'Note (optional)', hint })}
<div class="actions" id="field-decision">${button('ACCEPTED', 'Accept', 'main')}${button('REJECTED', 'Reject', 'danger')}</div>`;
}

export function statusBadge(status: ProposalStatus): SafeHtml {
  const kinds = { PENDING: 'warn', ACCEPTED: 'good', REJECTED: 'bad', STALE: 'bad' } as const;
  return badge(status, kinds[status as keyof typeof kinds] ?? 'plain');
}

/**
 * Renders a target such as `TICKET:38` as a link to its page, if it has one.
 * @param tickets the ticket numbers by id; without them, the link contains the id
 */
export function targetLink(target: string | null, tickets?: Names['tickets']): SafeHtml | string {
  if (target === null) return '';
  const [type = '', id = ''] = target.toLowerCase().split(':');
  const name = (type === 'ticket' && tickets?.get(Number(id))) || `${type} ${id}`;
  return type === 'task' ? name : html`<a href="/developer/${type}s/${id}">${name}</a>`;
}
