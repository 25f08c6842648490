import { integerFromText, Priority, TeamId, TicketQuery, TicketStatus, TicketType } from '@itsm-api/contract';
import * as z from 'zod';
import { teams } from '../../../resources/teams/queries.ts';
import { listTickets } from '../../../resources/tickets/queries.ts';
import { findUserNames } from '../../../resources/users/queries.ts';
import { page } from '../../framework/page.ts';
import type { UserContext } from '../../framework/request-context.ts';
import {
  PageNumber,
  perPage,
  renderEmptyList,
  SearchText,
  searchForm,
  searchList,
  withAnyOption,
} from '../../ui/filtered-list.ts';
import { type Option, optional, selectField } from '../../ui/form-fields.ts';
import { html, pager, table } from '../../ui/html.ts';
import { statusBadge } from './status-badge.ts';

const path = '/developer/tickets';

/** The maximum number of teams in the filter. */
const maxTeams = 100;

const assignees = [
  { value: '', label: 'Any' },
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
    const { list, words } = await searchList(q, TicketQuery.shape.q, (q) =>
      listTickets(context, {
        ...Object.fromEntries(filters.map(([name, value]) => [name, [value]])),
        ...{ page, perPage, q, sort: '-id' },
      }),
    );
    const names = await findUserNames(
      context,
      list.data.map(({ assigneeId }) => assigneeId),
    );
    const rows = list.data.map(({ id, ticketNumber, title, status, priority, assigneeId, dueAt, updatedAt }) => [
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
${searchForm(path, words, 'Number, title or text', [
  choice('status', 'Status', query.status, withAnyOption(TicketStatus.options, 'Any')),
  choice('priority', 'Priority', query.priority, withAnyOption(Priority.options, 'Any')),
  choice('type', 'Type', query.type, withAnyOption(TicketType.options, 'Any')),
  choice('assigneeId', 'Assignee', query.assigneeId, assignees),
  choice('teamId', 'Team', query.teamId, await teamOptions(visit)),
])}
<div id="found">${table('Tickets', heads, rows, renderEmptyList(words, none))}
${pager(list.meta, address)}</div>`,
    };
  },
});

function choice(name: string, label: string, value: string | number | undefined, options: readonly Option[]) {
  return selectField(undefined, { name, label, value: value === undefined ? '' : String(value), options });
}

async function teamOptions({ context }: UserContext): Promise<Option[]> {
  const { data } = await teams.list(context, { page: 1, perPage: maxTeams, active: [true] });
  const options = data.map(({ id, name }) => ({ value: String(id), label: name }));
  return [{ value: '', label: 'Any' }, { value: 'none', label: 'No team' }, ...options];
}
