import * as z from 'zod';
import { listApprovals } from '../../../resources/tickets/approvals/queries.ts';
import { getTicket } from '../../../resources/tickets/queries.ts';
import { findUserNames } from '../../../resources/users/queries.ts';
import { page } from '../../framework/page.ts';
import { PageNumber, perPage } from '../../ui/filtered-list.ts';
import { html, pager, table } from '../../ui/html.ts';

const path = '/developer/approvals';

/** The page that lists the approvals on which the signed-in user must decide. */
export const approvals = page({
  path,
  menu: 'My approvals',
  roles: ['ADMIN', 'AGENT'],
  query: z.strictObject({ page: PageNumber }),
  async show({ visit, query, address }) {
    const { context } = visit;
    const list = await listApprovals(context, { ...query, perPage, approverId: ['me'], decision: ['PENDING'] });
    const names = await findUserNames(
      context,
      list.data.map(({ createdById }) => createdById),
    );
    const rows = [];
    for (const { id, ticketId, createdById, createdAt } of list.data) {
      const { ticketNumber, title, plannedStartAt } = await getTicket(context, ticketId);
      rows.push([
        html`<a href="${path}/${id}">${ticketNumber}: ${title}</a>`,
        visit.time(plannedStartAt, 'Not planned'),
        names.get(createdById) ?? '',
        visit.time(createdAt),
      ]);
    }
    return {
      title: 'My approvals',
      body: html`<p class="lead">The changes that wait for your decision, newest first.</p>
${table('Approvals', ['Change', 'Planned start', 'Requested by', 'Requested'], rows, html`<p>No change waits for your decision.</p><p><a href="/developer/tickets?type=CHANGE">Show all changes</a></p>`)}
${pager(list.meta, address)}`,
    };
  },
});
