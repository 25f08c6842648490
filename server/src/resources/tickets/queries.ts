import type { Ticket, TicketQuery, TicketReference } from '@itsm-api/contract';
import { requireRow } from '../../shared/errors.ts';
import { findFieldFilters } from '../custom-fields/filters.ts';
import type { Context, UserContext } from '../shared/context.ts';
import { type Page, pageMeta } from '../shared/lists.ts';
import { rejectBroadQuery } from '../shared/search.ts';
import type { Rows } from '../sync/change-feed.ts';
import { selectTickets } from './list-counted.ts';
import { findTickets, isCounted } from './list-search.ts';
import { presentTicket } from './presenter.ts';
import { selectTicket, selectTicketsAfter, type TicketValues, ticketsOfPage, toTicketRow } from './sql.ts';

/** Returns a page of tickets, newest first by default (spec §4). @throws ApiError QUERY_TOO_BROAD, VALIDATION_ERROR */
export async function listTickets(
  { db, userId }: Pick<UserContext, 'db' | 'userId'>,
  query: TicketQuery,
): Promise<Page<Ticket>> {
  const { page, perPage, sort, assigneeId, teamId, ...others } = query;
  const customFields = await findFieldFilters(db, 'TICKET', query.customFields);
  const filters = { ...others, ...parseAssignees(assigneeId, userId), ...parseTeams(teamId), customFields };
  const range = { skip: (page - 1) * perPage, take: perPage, sort };
  const found = await rejectBroadQuery(() =>
    isCounted(filters) ? selectTickets(db, filters, range) : findTickets(db, filters, range),
  );
  return { data: found.rows.map(presentTicket), meta: pageMeta(query, found) };
}

/** Converts the assignee filter. `me` becomes the user id of the request. `none` sets `unassigned`. */
function parseAssignees(requested: TicketQuery['assigneeId'], userId: bigint) {
  const ids = requested?.filter((assignee) => assignee !== 'none').map((id) => (id === 'me' ? Number(userId) : id));
  return { assigneeId: ids?.length === 0 ? undefined : ids, unassigned: requested?.includes('none') ?? false };
}

/** Converts the team filter. `none` sets `withoutTeam`. */
function parseTeams(requested: TicketQuery['teamId']) {
  const ids = requested?.filter((team) => team !== 'none');
  return { teamId: ids?.length === 0 ? undefined : ids, withoutTeam: requested?.includes('none') ?? false };
}

/** Functions that read tickets for incremental sync and exports. */
export const ticketRows: Rows<Ticket> = {
  resource: 'tickets',
  selectRows: {
    select: ticketsOfPage,
    present: (rows) => ((rows ?? []) as TicketValues[]).map(toTicketRow).map(presentTicket),
  },
  after: async (db, id, take) => (await selectTicketsAfter(db, id, take)).map(presentTicket),
};

/** Returns one ticket, by id or number. @throws ApiError NOT_FOUND */
export async function getTicket({ db }: Context, reference: TicketReference): Promise<Ticket> {
  return presentTicket(requireRow(await selectTicket(db, reference), 'ticket'));
}

/** Returns when the clock of the resolution target stopped for a pending ticket, or null. */
export async function getPausedSince({ db }: Context, id: number): Promise<string | null> {
  const ticket = await db.ticket.findFirst({ where: { id }, select: { pausedSince: true } });
  return ticket?.pausedSince?.toISOString() ?? null;
}
