import type * as contract from '@itsm-api/contract';
import type { Ticket, TicketStatus, TicketType } from '@itsm-api/contract';
import { unknownId, unknownText } from '../values.ts';
import { anyOf, type ListQuery } from './lists.ts';
import { ascending, isSame, mergeFields, type Outcome } from './rows.ts';
import { holdsWords } from './search.ts';
import { type References, rejectionsOf } from './users.ts';

/* Models tickets (docs/decisions/tickets.md). */

/** The allowed status transitions. */
const moves: Record<TicketStatus, TicketStatus[]> = {
  OPEN: ['IN_PROGRESS', 'PENDING', 'RESOLVED', 'CANCELLED'],
  IN_PROGRESS: ['PENDING', 'RESOLVED', 'CANCELLED'],
  PENDING: ['IN_PROGRESS', 'RESOLVED', 'CANCELLED'],
  RESOLVED: ['CLOSED', 'IN_PROGRESS'],
  CLOSED: [],
  CANCELLED: [],
};

/** The body of a request that creates a ticket. The body references the parent ticket by id. */
export type NewTicket = WithParentId<contract.NewTicket>;
export type TicketPatch = WithParentId<contract.TicketPatch>;
type WithParentId<Body> = Omit<Body, 'parentId'> & { parentId?: number | null };

export const prefixes: Record<TicketType, string> = {
  INCIDENT: 'INC',
  PROBLEM: 'PRB',
  CHANGE: 'CHG',
  SERVICE_REQUEST: 'REQ',
};

/**
 * Returns the new ticket, or the expected error codes.
 * @param userId the id of the API key's user
 */
export function newTicket(input: NewTicket, userId: number, references: References): Outcome<Ticket> {
  const watchers = ascending(input.watcherUserIds ?? []);
  const codes = rejectionsOf(references, {
    users: [input.requesterId, input.assigneeId, ...watchers],
    tickets: [input.parentId],
  });
  if (codes.length > 0) return { codes };
  return {
    row: {
      id: unknownId,
      ticketNumber: unknownText,
      title: input.title.trim(),
      description: input.description,
      type: input.type,
      status: 'OPEN',
      priority: input.priority ?? 'MEDIUM',
      category: input.category ?? null,
      categoryConfigId: input.categoryConfigId ?? null,
      requesterId: input.requesterId ?? userId,
      assigneeId: input.assigneeId ?? null,
      watcherUserIds: watchers,
      parentId: input.parentId ?? null,
      externalId: input.externalId ?? null,
      customFields: input.customFields ?? {},
      resolution: null,
      resolvedAt: null,
      closedAt: null,
      commentCount: 0,
      etag: unknownText,
      createdAt: unknownText,
      updatedAt: unknownText,
    },
  };
}

/** Applies a patch to a ticket. Doesn't check for cycles of parents, because quiet.ts checks for them. */
export function changeTicket(before: Ticket, patch: TicketPatch, references: References): Outcome<Ticket> {
  const { customFields, watcherUserIds, title, ...fields } = patch;
  const after: Ticket = {
    ...before,
    ...fields,
    ...(title !== undefined && { title: title.trim() }),
    ...(watcherUserIds && { watcherUserIds: ascending(watcherUserIds) }),
    customFields: mergeFields(before.customFields, customFields),
  };
  const isMove = after.status !== before.status;
  const added = after.watcherUserIds.filter((id) => !before.watcherUserIds.includes(id));
  const codes = [
    ...(isMove && !moves[before.status].includes(after.status) ? ['INVALID_TRANSITION' as const] : []),
    ...(after.category === null && after.categoryConfigId === null ? ['VALIDATION_ERROR' as const] : []),
    ...(after.externalId !== before.externalId && before.externalId !== null ? ['VALIDATION_ERROR' as const] : []),
    ...(after.parentId === before.id && before.parentId !== before.id ? ['VALIDATION_ERROR' as const] : []),
    ...rejectionsOf(references, {
      users: [after.assigneeId === before.assigneeId ? null : after.assigneeId, ...added],
      tickets: [after.parentId === before.parentId ? null : after.parentId],
    }),
  ];
  if (codes.length > 0) return { codes };
  if (isMove) {
    if (after.status === 'RESOLVED') after.resolvedAt = unknownText;
    else if (after.status === 'CLOSED') after.closedAt = unknownText;
    else after.resolvedAt = null;
  }
  return { row: isSame(before, after) ? before : { ...after, etag: unknownText, updatedAt: unknownText } };
}

/** Returns the state of a ticket after a new comment. */
export function commentedTicket(before: Ticket): Ticket {
  return { ...before, commentCount: before.commentCount + 1, etag: unknownText, updatedAt: unknownText };
}

/**
 * Returns true if a ticket matches a list query.
 * @param me the id of the API key's user
 */
export function isTicketIn(ticket: Ticket, query: ListQuery, me: number): boolean {
  const assignee = ticket.assigneeId ?? 'none';
  const assignees = (query.assigneeId as (number | string)[] | undefined)?.map((each) => (each === 'me' ? me : each));
  return (
    anyOf(query.status, ticket.status) &&
    anyOf(query.priority, ticket.priority) &&
    anyOf(query.type, ticket.type) &&
    anyOf(query.category, ticket.category) &&
    anyOf(query.requesterId, ticket.requesterId) &&
    anyOf(query.parentId, ticket.parentId) &&
    anyOf(query.externalId, ticket.externalId) &&
    anyOf(assignees, assignee) &&
    (query.watcherUserId === undefined || ticket.watcherUserIds.some((id) => anyOf(query.watcherUserId, id))) &&
    (query.createdSince === undefined || ticket.createdAt >= (query.createdSince as string)) &&
    (query.createdBefore === undefined || ticket.createdAt < (query.createdBefore as string)) &&
    (query.q === undefined || holdsWords(query.q as string, [ticket.title, ticket.description], [ticket.ticketNumber]))
  );
}
