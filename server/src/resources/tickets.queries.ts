import {
  type NewTicket,
  type Ticket,
  type TicketPatch,
  type TicketQuery,
  type TicketStatus,
  ticketNumberPrefixes,
  ticketTransitions,
} from '@itsm-api/contract';
import { type Context, transaction, type UserContext } from '../context.ts';
import type { Prisma } from '../data/generated/client.ts';
import { lockRow, lockTenant } from '../data/lock.ts';
import { isSelfOrAncestor, takeTicketNumber } from '../data/tickets.ts';
import { invalidField, notFound } from '../errors.ts';
import { presentCustomFields, presentId, presentTimestamp, presentTimestamps, toDate } from '../present.ts';
import { emit } from '../webhooks/emit.ts';
import { changesBetween, mergeCustomFields } from './changes.ts';
import { anyOf, type Page, readPage } from './lists.ts';
import { checkTickets, checkUsers, reference } from './references.ts';

const withWatchers = { watchers: { select: { userId: true }, orderBy: { userId: 'asc' } } } as const;

type TicketRow = Prisma.TicketGetPayload<{ include: typeof withWatchers }>;

/** A page of tickets, newest first (spec §4). */
export function listTickets({ db }: Context, query: TicketQuery): Promise<Page<Ticket>> {
  const where = {
    ...anyOf('status', query.status),
    ...anyOf('priority', query.priority),
    ...anyOf('assigneeId', query.assigneeId),
    ...anyOf('type', query.type),
    ...anyOf('category', query.category),
  };
  return readPage(query, {
    count: () => db.ticket.count({ where }),
    find: async (range) => {
      const rows = await db.ticket.findMany({ where, include: withWatchers, orderBy: { id: 'desc' }, ...range });
      return rows.map(presentTicket);
    },
  });
}

/** One ticket. @throws ApiError NOT_FOUND */
export async function getTicket({ db }: Context, id: number): Promise<Ticket> {
  const row = await db.ticket.findFirst({ where: { id }, include: withWatchers });
  if (row === null) throw notFound('ticket');
  return presentTicket(row);
}

/**
 * Creates a ticket, OPEN and with the next number of its type; emits `ticket.created`.
 * @throws ApiError INVALID_REFERENCE
 */
export function createTicket(context: UserContext, input: NewTicket): Promise<Ticket> {
  return transaction(context, async (context) => {
    const watcherUserIds = ascending(input.watcherUserIds ?? []);
    await checkUsers(context, [
      ...reference('assigneeId', input.assigneeId),
      ...(input.watcherUserIds ?? []).map((id, index) => ({ path: `watcherUserIds.${index}`, id })),
    ]);
    await checkTickets(context, reference('parentId', input.parentId));

    const { db } = context;
    const row = await db.ticket.create({
      data: {
        type: input.type,
        number: await takeTicketNumber(db, input.type),
        title: input.title,
        description: input.description,
        priority: input.priority ?? 'MEDIUM',
        category: input.category ?? null,
        categoryConfigId: input.categoryConfigId ?? null,
        requesterId: context.userId,
        assigneeId: input.assigneeId ?? null,
        parentId: input.parentId ?? null,
        customFields: input.customFields ?? {},
      },
    });
    const watchers = await addWatchers(context, row.id, watcherUserIds);
    const ticket = presentTicket({ ...row, watchers });
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
    if (!(await lockRow(db, 'tickets', id))) throw notFound('ticket');
    const before = await getTicket(context, id);
    const after = merge(before, patch, context.now());
    const changes = changesBetween(before, after);
    if (Object.keys(changes).length === 0) return before;

    await checkReferences(context, before, patch);
    const { watcherUserIds, id: _, ticketNumber, type, requesterId, createdAt, updatedAt, ...columns } = after;
    const [row] = await db.ticket.updateManyAndReturn({
      where: { id },
      data: { ...columns, resolvedAt: toDate(after.resolvedAt), closedAt: toDate(after.closedAt) },
    });
    if (row === undefined) throw notFound('ticket');
    if (changes.watcherUserIds) {
      await db.ticketWatcher.deleteMany({ where: { ticketId: id } });
      await addWatchers(context, row.id, watcherUserIds);
    }
    const ticket = presentTicket({ ...row, watchers: watcherUserIds.map((userId) => ({ userId: BigInt(userId) })) });
    await emit(context, 'ticket.updated', { payload: ticket, changes });
    return ticket;
  });
}

/** A ticket as the API answers it and as events carry it. */
export function presentTicket(row: TicketRow): Ticket {
  return {
    id: presentId(row.id),
    ticketNumber: `${ticketNumberPrefixes[row.type]}-${row.number}`,
    title: row.title,
    description: row.description,
    type: row.type,
    status: row.status,
    priority: row.priority,
    category: row.category,
    categoryConfigId: row.categoryConfigId,
    requesterId: presentId(row.requesterId),
    assigneeId: presentId(row.assigneeId),
    watcherUserIds: row.watchers.map(({ userId }) => presentId(userId)),
    parentId: presentId(row.parentId),
    customFields: presentCustomFields(row.customFields),
    resolution: row.resolution,
    resolvedAt: presentTimestamp(row.resolvedAt),
    closedAt: presentTimestamp(row.closedAt),
    ...presentTimestamps(row),
  };
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

async function addWatchers({ db }: Context, ticketId: bigint, userIds: number[]): Promise<{ userId: bigint }[]> {
  if (userIds.length === 0) return [];
  await db.ticketWatcher.createMany({ data: userIds.map((userId) => ({ ticketId, userId })) });
  return userIds.map((userId) => ({ userId: BigInt(userId) }));
}

function ascending(ids: number[]): number[] {
  return [...new Set(ids)].sort((a, b) => a - b);
}
