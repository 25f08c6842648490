import { integerFromText, Priority, TeamId, TicketQuery, TicketStatus, TicketType } from '@itsm-api/contract';
import * as z from 'zod';
import { teams } from '../../../resources/teams/queries.ts';
import { listTickets } from '../../../resources/tickets/queries.ts';
import { findUserNames } from '../../../resources/users/queries.ts';
import { page } from '../../framework/page.ts';
import type { UserContext } from '../../framework/request-context.ts';
import { filterField, PageNumber, perPage, renderSearch, SearchText, searchList } from '../../ui/filtered-list.ts';
import { type Option, optional } from '../../ui/form-fields.ts';
import { html } from '../../ui/html.ts';
import { statusBadge } from './status-badge.ts';

const path = '/developer/tickets';

/** The maximum number of teams in the filter. */
const maxTeams = 100;

const assignees = [
  { value: 'me', label: 'Me' },
  { value: 'none', label: 'Unassigned' },
] as const;

const Query = z.strictObject({
  page: PageNumber,
  q: SearchText,
  status: optional(TicketStatus),
  priority: optional(Priority),
  type: optional(TicketType),
  assigneeId: optional(z.enum(['me', 'none'])),
  /** The value `none` finds tickets without a team. */
  teamId: optional(z.union([z.literal('none'), integerFromText(TeamId)], 'must be the id of a team, or `none`')),
});

/** The page that lists tickets and finds them by number, text and filters. */
export const tickets = page({
  path,
  menu: 'Tickets',
  roles: ['ADMIN', 'AGENT'],
  query: Query,
  async show({ visit, query, address }) {
    const { context } = visit;
    const { page, q = '', ...chosen } = query;
    const filters = Object.entries(chosen).filter(([, value]) => value !== undefined);
    const found = await searchList(q, TicketQuery.shape.q, (q) =>
      listTickets(context, {
        ...Object.fromEntries(filters.map(([name, value]) => [name, [value]])),
        ...{ page, perPage, q, sort: '-id' },
      }),
    );
    const names = await findUserNames(
      context,
      found.list.data.map(({ assigneeId }) => assigneeId),
    );
    const rows = found.list.data.map(({ id, ticketNumber, title, status, priority, assigneeId, dueAt, updatedAt }) => [
      html`<a href="${path}/${id}">${ticketNumber}</a>`,
      title,
      statusBadge(status),
      priority,
      assigneeId === null ? 'Unassigned' : (names.get(assigneeId) ?? ''),
      visit.time(dueAt, ''),
      visit.time(updatedAt),
    ]);
    const none =
      q === '' && filters.length === 0
        ? html`No tickets yet. <a href="/docs/guides/first-request">Create the first one</a> with the API.`
        : html`No tickets match your search. <a href="${path}">Show all tickets</a>`;
    const heads = ['Number', 'Title', 'Status', 'Priority', 'Assignee', 'Due', 'Updated'];
    return {
      title: 'Tickets',
      body: html`<p class="lead">The tickets of this workspace, newest first. The page of a ticket shows its comments, attachments and activity.</p>
${renderSearch(found, {
  ...{ path, address, placeholder: 'Number, title or text' },
  filters: [
    filterField('status', 'Status', query.status, TicketStatus.options),
    filterField('priority', 'Priority', query.priority, Priority.options),
    filterField('type', 'Type', query.type, TicketType.options),
    filterField('assigneeId', 'Assignee', query.assigneeId, assignees),
    filterField('teamId', 'Team', query.teamId, await teamOptions(visit)),
  ],
  ...{ caption: 'Tickets', heads, rows, none },
})}`,
    };
  },
});

async function teamOptions({ context }: UserContext): Promise<Option[]> {
  const { data } = await teams.list(context, { page: 1, perPage: maxTeams, active: [true] });
  const options = data.map(({ id, name }) => ({ value: String(id), label: name }));
  return [{ value: 'none', label: 'No team' }, ...options];
}
