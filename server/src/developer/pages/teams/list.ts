import * as z from 'zod';
import { listTeams } from '../../../resources/teams/queries.ts';
import { page } from '../../framework/page.ts';
import { PageNumber, perPage } from '../../ui/filtered-list.ts';
import { badge, html, linkButton, pager, table } from '../../ui/html.ts';

const path = '/developer/teams';

/** The page that lists teams. */
export const teams = page({
  path,
  menu: 'Teams',
  roles: ['ADMIN'],
  query: z.strictObject({ page: PageNumber }),
  async show({ visit, query, address }) {
    const list = await listTeams(visit.context, { ...query, perPage });
    const rows = list.data.map(({ id, name, active, memberIds, updatedAt }) => [
      html`<a href="${path}/${id}">${name}</a>`,
      active ? badge('active', 'good') : badge('inactive'),
      memberIds.length,
      visit.time(updatedAt),
    ]);
    return {
      title: 'Teams',
      body: html`<p class="lead">The teams of this workspace, newest first. A ticket can belong to one active team.</p>
<p class="actions">${linkButton(`${path}/new`, 'New team', 'main')}</p>
${table('Teams', ['Name', 'Status', 'Members', 'Updated'], rows, 'No teams yet.')}
${pager(list.meta, address)}`,
    };
  },
});
