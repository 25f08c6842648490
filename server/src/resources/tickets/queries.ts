import {
  type NewTicket,
  type Ticket,
  type TicketPatch,
  type TicketQuery,
  type TicketStatus,
  ticketTransitions,
} from '@itsm-api/contract';
import { type Context, transaction, type UserContext } from '../../context.ts';
import { lockTenant } from '../../database/lock.ts';
import { invalidField, notFound } from '../../errors.ts';
import { emit } from '../../webhooks/emit.ts';
import type { Rows } from '../change-feed.ts';
import { changesBetween, mergeCustomFields } from '../changes.ts';
import type { Page } from '../lists.ts';
import { checkTickets, checkUsers, reference } from '../references.ts';
import { selectTickets } from './pages.ts';
import { presentTicket } from './presenter.ts';
import {
  changeTicket,
  insertTicket,
  insertUntoldTicket,
  isSelfOrAncestor,
  lockTicket,
  type NewTicketRow,
  selectTicket,
  selectTicketsAfter,
  type TicketRow,
  ticketsOfPage,
} from './sql.ts';

/** A page of tickets, newest first (spec §4). */
export async function listTickets({ db }: Context, { page, perPage, ...filters }: TicketQuery): Promise<Page<Ticket>> {
  const range = { skip: (page - 1) * perPage, take: perPage };
  const { rows, totalCount } = await selectTickets(db, filters, range);
  return { data: rows.map(presentTicket), meta: { page, perPage, totalCount } };
}

/** Tickets for those who keep a copy. */
export const ticketRows: Rows<Ticket> = {
  resource: 'tickets',
  named: { text: ticketsOfPage, present: (rows) => ((rows ?? []) as TicketRow[]).map(presentTicket) },
  after: async (db, id, take) => (await selectTicketsAfter(db, id, take)).map(presentTicket),
};

/** One ticket. @throws ApiError NOT_FOUND */
export async function getTicket({ db }: Context, id: number): Promise<Ticket> {
  const row = await selectTicket(db, id);
  if (row === undefined) throw notFound('ticket');
  return presentTicket(row);
}

/**
 * Creates a ticket, OPEN and with the next number of its type; emits `ticket.created`.
 * @throws ApiError INVALID_REFERENCE
 */
export async function createTicket(context: UserContext, input: NewTicket): Promise<Ticket> {
  await checkUsers(context, [
    ...reference('assigneeId', input.assigneeId),
    ...(input.watcherUserIds ?? []).map((id, index) => ({ path: `watcherUserIds.${index}`, id })),
  ]);
  await checkTickets(context, reference('parentId', input.parentId));
  const given = newRow(context, input);
  // Mostly nobody wants to be told, and there is nothing to do between the statement and its commit.
  const untold = await insertUntoldTicket(context.db, given);
  if (untold !== undefined) return presentTicket(untold);

  return transaction(context, async (context) => {
    const ticket = presentTicket(await insertTicket(context.db, given));
    await emit(context, 'ticket.created', { payload: ticket });
    return ticket;
  });
}

/**
 * Changes a ticket and emits `ticket.updated`; a patch that changes nothing does neither (docs/decisions/tickets.md).
 * @throws ApiError NOT_FOUND, INVALID_TRANSITION, INVALID_REFERENCE, VALIDATION_ERROR
 */
export function updateTicket(context: Context, id: number, patch: TicketPatch): Promise<Ticket> {
  return transaction(context, async (context) => {
    const { db } = context;
    const locked = await lockTicket(db, id);
    if (locked === undefined) throw notFound('ticket');
    const before = presentTicket(locked);
    const after = merge(before, patch, context.now());
    const changes = changesBetween(before, after);
    if (Object.keys(changes).length === 0) return before;

    await checkReferences(context, before, patch);
    const written = await changeTicket(db, after);
    const ticket = presentTicket(written.ticket);
    if (written.isWanted) await emit(context, 'ticket.updated', { payload: ticket, changes });
    return ticket;
  });
}

/** The ticket as the patch would leave it; what the patch alone can break is checked here. */
function merge(before: Ticket, { customFields, watcherUserIds, ...fields }: TicketPatch, now: Date): Ticket {
  const after: Ticket = {
    ...before,
    ...fields,
    customFields: mergeCustomFields(before.customFields, customFields),
    watcherUserIds: watcherUserIds ? ascending(watcherUserIds) : before.watcherUserIds,
  };
  if (after.category === null && after.categoryConfigId === null) {
    throw invalidField('VALIDATION_ERROR', 'category', 'is required unless categoryConfigId is given');
  }
  return after.status === before.status ? after : { ...after, ...move(before, after.status, now) };
}

/** The moments that a change of status sets and clears. @throws ApiError INVALID_TRANSITION */
function move(from: Ticket, to: TicketStatus, now: Date): Pick<Ticket, 'resolvedAt' | 'closedAt'> {
  const allowed = ticketTransitions[from.status];
  if (!allowed.includes(to)) {
    const choice = allowed.length === 0 ? 'which is final' : `from which it can become ${allowed.join(', ')}`;
    throw invalidField('INVALID_TRANSITION', 'status', `cannot become ${to}: the ticket is ${from.status}, ${choice}`);
  }
  const moment = now.toISOString();
  if (to === 'RESOLVED') return { resolvedAt: moment, closedAt: null };
  if (to === 'CLOSED') return { resolvedAt: from.resolvedAt, closedAt: moment };
  return { resolvedAt: null, closedAt: null };
}

async function checkReferences(context: Context, before: Ticket, patch: TicketPatch): Promise<void> {
  await checkUsers(context, [
    ...reference('assigneeId', patch.assigneeId, before.assigneeId),
    ...(patch.watcherUserIds ?? [])
      .map((id, index) => ({ path: `watcherUserIds.${index}`, id }))
      .filter(({ id }) => !before.watcherUserIds.includes(id)),
  ]);
  const newParent = reference('parentId', patch.parentId, before.parentId);
  await checkTickets(context, newParent);
  for (const { id } of newParent) {
    // Two moves at once could close a cycle that neither sees.
    await lockTenant(context.db, 'ticketParents');
    if (await isSelfOrAncestor(context.db, before.id, id)) {
      throw invalidField('VALIDATION_ERROR', 'parentId', 'would make the ticket its own ancestor');
    }
  }
}

function newRow({ userId, now }: UserContext, input: NewTicket): NewTicketRow {
  return {
    title: input.title,
    description: input.description,
    type: input.type,
    priority: input.priority ?? 'MEDIUM',
    category: input.category ?? null,
    categoryConfigId: input.categoryConfigId ?? null,
    requesterId: Number(userId),
    assigneeId: input.assigneeId ?? null,
    parentId: input.parentId ?? null,
    watcherUserIds: ascending(input.watcherUserIds ?? []),
    customFields: input.customFields ?? {},
    createdAt: now().toISOString(),
  };
}

function ascending(ids: number[]): number[] {
  return [...new Set(ids)].sort((a, b) => a - b);
}
