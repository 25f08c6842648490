import { integerFromText, ProposalOperation, ProposalStatus, proposable } from '@itsm-api/contract';
import * as z from 'zod';
import { decideProposal } from '../../../resources/proposals/decision.ts';
import { listProposals } from '../../../resources/proposals/queries.ts';
import { findUserNames } from '../../../resources/users/queries.ts';
import { ApiError } from '../../../shared/errors.ts';
import { form, page } from '../../framework/page.ts';
import { filterField, PageNumber, perPage } from '../../ui/filtered-list.ts';
import { checkbox, optional, renderError, renderForm, several, submit } from '../../ui/form-fields.ts';
import { html, pager, table } from '../../ui/html.ts';
import { Decision, decisionFields, statusBadge, targetLink } from './decision-fields.ts';

const path = '/developer/proposals';

const Query = z.strictObject({
  page: PageNumber,
  status: z.union([ProposalStatus, z.literal('')]).default('PENDING'),
  operation: optional(ProposalOperation),
});

const Chosen = several(z.array(integerFromText()).min(1, 'must be selected').max(perPage));

/** The page that lists proposals, and decides about several of them. */
export const proposals = page({
  path,
  menu: 'Proposals',
  roles: ['ADMIN', 'AGENT'],
  query: Query,
  async show(request) {
    const { visit, query, address } = request;
    const { page, status, operation } = query;
    const list = await listProposals(visit.context, {
      ...{ page, perPage, status: status === '' ? undefined : [status], operation: operation && [operation] },
    });
    const names = await findUserNames(
      visit.context,
      list.data.map(({ proposedById }) => proposedById),
    );
    const hasPending = list.data.some((each) => each.status === 'PENDING');
    const rows = list.data.map((each) => [
      each.status === 'PENDING' ? checkbox('ids', String(each.id), `Proposal ${each.id}`, false) : '',
      html`<a href="${path}/${each.id}">${proposable[each.operation].summary}</a>`,
      targetLink(each.target),
      html`<div class="prose">${each.reason.slice(0, 200).toWellFormed()}</div>`,
      names.get(each.proposedById) ?? '',
      statusBadge(each.status),
      visit.time(each.createdAt),
    ]);
    const heads = ['', 'Request', 'Target', 'Reason', 'Proposed by', 'Status', 'Proposed'];
    const found = table(
      'Proposals',
      heads,
      rows,
      html`No proposals match. <a href="${path}?status=">Show all proposals</a>`,
    );
    return {
      title: 'Proposals',
      body: html`<p class="lead">Requests of API keys that can only propose changes, newest first. The server runs a request only if you accept it.</p>
<form class="filters" method="get" action="${path}" role="search">
${filterField('status', 'Status', status, ProposalStatus.options)}
${filterField('operation', 'Operation', operation, ProposalOperation.options)}
${submit('Filter', 'plain')}</form>
${hasPending ? renderForm(request, 'decide', (sent) => html`<div id="field-ids">${renderError(sent, 'ids')}${found}</div>${decisionFields(sent)}`) : found}
${pager(list.meta, address)}`,
    };
  },
  forms: {
    decide: form({
      fields: z.strictObject({ ids: Chosen, ...Decision.shape }),
      audit: 'proposal.decided',
      // Runs outside of the transaction of the form, because each proposal has its own.
      async check({ visit, fields: { ids, ...decision } }) {
        const outcomes: string[] = [];
        for (const id of ids) {
          const decided = decideProposal(visit.context, id, decision);
          outcomes.push(await decided.then(({ status }) => status, describeSkipped));
        }
        return [...Map.groupBy(outcomes, (outcome) => outcome)].map(([outcome, { length }]) => `${length} ${outcome}`);
      },
      run: async ({ checked }) => ({ redirect: path, confirmation: `Proposals decided: ${checked.join(', ')}` }),
    }),
  },
});

/** Describes a proposal about which nothing was decided. The other proposals have their own transactions. @throws Error */
function describeSkipped(error: unknown): string {
  const code = error instanceof ApiError ? error.code : undefined;
  if (code === 'VALIDATION_ERROR') return 'no longer pending';
  if (code === 'NOT_FOUND') return 'not found';
  throw error;
}
