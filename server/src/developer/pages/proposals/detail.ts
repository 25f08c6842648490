import { IdParam, type Proposal, type ProposalPreview, proposable } from '@itsm-api/contract';
import { decideProposal } from '../../../resources/proposals/decision.ts';
import { getProposal } from '../../../resources/proposals/queries.ts';
import { readTransaction } from '../../../resources/shared/context.ts';
import { findNames, type Names } from '../../../resources/shared/display-names.ts';
import { findReferencedIds, withNames } from '../../../resources/shared/reference-names.ts';
import { changeIfUnchanged, Etag, etagField } from '../../framework/optimistic-lock.ts';
import { form, page } from '../../framework/page.ts';
import { renderForm } from '../../ui/form-fields.ts';
import { facts, html, notice, type SafeHtml, section, table } from '../../ui/html.ts';
import { Decision, decisionFields, statusBadge, targetLink } from './decision-fields.ts';

const path = '/developer/proposals';

/** The page on which a person decides about a proposal. It shows each field that the request changes. */
export const proposal = page({
  path: `${path}/:id`,
  roles: ['ADMIN', 'AGENT'],
  params: IdParam,
  async show(request) {
    const { visit, params } = request;
    const proposal = await getProposal(visit.context, params.id);
    // A transaction uses one connection for all names.
    const names = await readTransaction(visit.context, (db) => findNames({ db }, idsIn(proposal)));
    const { result } = proposal;
    const user = (id: number) => names.users.get(id) ?? '';
    return {
      title: `${proposable[proposal.operation].summary}: proposal ${proposal.id}`,
      body: html`<p><a href="${path}">Proposals</a></p>
${facts({
  Status: statusBadge(proposal.status),
  Operation: html`<code>${proposal.operation}</code>`,
  Target: proposal.target && targetLink(proposal.target, names.tickets),
  Form: 'key' in proposal.params ? String(proposal.params.key) : null,
  'Proposed by': `${user(proposal.proposedById)}, with API key ${proposal.keyId}`,
  Proposed: visit.time(proposal.createdAt),
  Expires: proposal.status === 'PENDING' ? visit.time(proposal.expiresAt) : null,
  Ended: proposal.endedAt && visit.time(proposal.endedAt),
  'Decided by': proposal.decidedById && user(proposal.decidedById),
  'Created ID': proposal.createdId,
})}
${section('Reason', html`<div class="prose">${proposal.reason}</div>`)}
${proposal.note && section('Note', html`<div class="prose">${proposal.note}</div>`)}
${section('Changes', previewTables(proposal.preview, names))}
${result?.preview ? section('Changes at the decision', previewTables(result.preview, names)) : null}
${result?.error ? section('Error at the decision', notice(result.error.message, 'bad')) : null}
${proposal.status === 'PENDING' ? section('Your decision', decisionForm(request, proposal)) : null}`,
    };
  },
  forms: {
    decide: form({
      params: IdParam,
      fields: Decision.extend({ etag: Etag }),
      audit: 'proposal.decided',
      async run({ visit, params, fields: { etag, ...decision } }) {
        const change = (context: typeof visit.context) => decideProposal(context, params.id, decision);
        const advice = 'Reload the page and check them.';
        const { id, status } = await changeIfUnchanged(visit.context, etag, change, advice);
        return { redirect: `${path}/${id}`, confirmation: `Proposal ${id} is ${status}` };
      },
    }),
  },
});

function decisionForm(request: Parameters<typeof renderForm>[0], proposal: Proposal): SafeHtml {
  return renderForm(request, 'decide', (sent) => html`${etagField(proposal)}${decisionFields(sent)}`);
}

/** Returns the ids of users, teams and tickets that the page names. */
function idsIn(proposal: Proposal): Record<keyof Names, number[]> {
  const { users, teams, tickets } = findReferencedIds({ ...proposal, body: null });
  const [type, id] = (proposal.target ?? '').split(':');
  return { users: [...users], teams: [...teams], tickets: [...tickets, ...(type === 'TICKET' ? [Number(id)] : [])] };
}

/** Renders a table for each changed resource, with a row for each field. */
function previewTables(previews: readonly ProposalPreview[], names: Names): SafeHtml[] {
  return previews.map(({ target, status, changes }, index) => {
    const rows = Object.entries(changes).map(([name, { from, to }]) => [
      html`<code>${name}</code>`,
      ...[from, to].map((value) => html`<div class="prose">${formatValue(withNames(name, value, names))}</div>`),
    ]);
    const title = target === null ? 'New' : html`${targetLink(target, names.tickets)}, ${status}`;
    const heads = ['Field', 'Before', 'After'];
    return html`<h3>${title}</h3>${table(`Changes ${index + 1}`, heads, rows, 'Changes nothing.')}`;
  });
}

function formatValue(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
