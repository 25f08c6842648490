import type * as contract from '@itsm-api/contract';
import type { Ticket, TicketStatus, TicketType } from '@itsm-api/contract';
import { unknownId, unknownText } from '../values.ts';
import { approvalsOf, resetDecisions, type WithApprovals } from './approvals.ts';
import {
  type Clocked,
  changeDates,
  isDueAtSet,
  isFirstResponseOverdue,
  isOverdue,
  newDates,
  type Period,
} from './business-hours.ts';
import { importRejections } from './imports.ts';
import { anyOf, type ListQuery, matchesFields } from './lists.ts';
import { ascending, isSame, mergeFields, type Outcome } from './rows.ts';
import { holdsWords } from './search.ts';
import { changeTags, normalizeTags } from './tags.ts';
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

type TicketState = WithApprovals & Clocked;

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

interface Creator {
  key: { userId: number; isImport: boolean };
  references: References;
  /** The key of the form that the request submits. */
  formKey?: string | null;
}

/** Returns the new ticket, or the expected error codes. */
export function newTicket(input: NewTicket, { key, references, formKey = null }: Creator): Outcome<TicketState> {
  const priority = input.priority ?? 'MEDIUM';
  const watchers = ascending(input.watcherUserIds ?? []);
  const assetIds = ascending(input.assetIds ?? []);
  const { isUser, isActiveUser } = references;
  const codes = [
    ...importRejections(input, key),
    ...rejectionsOf(
      { ...references, isActiveUser: key.isImport ? isUser : isActiveUser },
      {
        users: [input.requesterId, input.assigneeId, ...watchers],
        tickets: [input.parentId],
        assets: assetIds,
        teams: [input.teamId],
        category: input.categoryConfigId,
      },
    ),
  ];
  if (!isWindowValid(input.type, input)) codes.push('VALIDATION_ERROR');
  if (codes.length > 0) return { codes };
  const { status = 'OPEN', createdAt = unknownText } = input;
  const isResolved = status === 'RESOLVED' || status === 'CLOSED';
  return {
    row: {
      id: unknownId,
      ticketNumber: unknownText,
      title: input.title.trim(),
      description: input.description,
      type: input.type,
      status,
      priority,
      category: input.category ?? references.refinedCategory(input.categoryConfigId),
      categoryConfigId: input.categoryConfigId ?? null,
      formKey,
      requesterId: input.requesterId ?? key.userId,
      assigneeId: input.assigneeId ?? null,
      teamId: input.teamId ?? null,
      watcherUserIds: watchers,
      assetIds,
      tags: normalizeTags(input.tags ?? []),
      parentId: input.parentId ?? null,
      externalId: input.externalId ?? null,
      customFields: input.customFields ?? {},
      resolution: null,
      resolvedAt: isResolved ? (input.resolvedAt ?? input.closedAt ?? unknownText) : null,
      closedAt: status === 'CLOSED' ? (input.closedAt ?? unknownText) : null,
      ...newDates(references.hours, {
        ...{ priority, createdAt, updatedAt: unknownText },
        ...{ dueAt: input.dueAt, isImported: key.isImport },
      }),
      plannedStartAt: input.plannedStartAt ?? null,
      plannedEndAt: input.plannedEndAt ?? null,
      approvalStatus: 'NONE',
      [approvalsOf]: [],
      firstRespondedAt: null,
      redactedAt: null,
      commentCount: 0,
      attachmentCount: 0,
      linkCount: 0,
      etag: unknownText,
      createdAt,
      updatedAt: unknownText,
    },
  };
}

/** Returns true if a ticket has no planned window, or a valid one. */
function isWindowValid(
  type: TicketType,
  { plannedStartAt: start, plannedEndAt: end }: Pick<NewTicket, 'plannedStartAt' | 'plannedEndAt'>,
): boolean {
  if (start == null || end == null) return start == null && end == null;
  return type === 'CHANGE' && start < end;
}

/** Returns false if the policy for changes forbids a change of the status. */
function canStart(before: Ticket, { type, status, approvalStatus, plannedStartAt, plannedEndAt }: Ticket): boolean {
  const isStart = ['OPEN', 'PENDING'].includes(before.status) && ['IN_PROGRESS', 'RESOLVED'].includes(status);
  if (type !== 'CHANGE' || !isStart) return true;
  if (approvalStatus !== 'APPROVED' || plannedStartAt === null || plannedEndAt === null) return false;
  return Date.parse(plannedStartAt) <= Date.now() && Date.now() < Date.parse(plannedEndAt);
}

const decisionsOf = ({ approvalStatus, [approvalsOf]: approvals = [] }: WithApprovals) => ({
  approvalStatus,
  [approvalsOf]: approvals,
});

/** Applies a patch to a ticket. Doesn't check for cycles of parents, because quiet.ts checks for them. */
export function changeTicket(before: TicketState, patch: TicketPatch, references: References): Outcome<TicketState> {
  const { customFields, watcherUserIds, assetIds, tags, addTags, removeTags, title, ...fields } = patch;
  const isSet = isDueAtSet(before) || patch.dueAt !== undefined;
  const after: TicketState = {
    ...before,
    ...fields,
    ...(title !== undefined && { title: title.trim() }),
    ...(watcherUserIds && { watcherUserIds: ascending(watcherUserIds) }),
    ...(assetIds && { assetIds: ascending(assetIds) }),
    tags: changeTags(before.tags, { tags, addTags, removeTags }),
    customFields: mergeFields(before.customFields, customFields),
  };
  const times = [patch.plannedStartAt, patch.plannedEndAt];
  if (times.includes(null)) {
    if (patch.plannedStartAt === undefined) after.plannedStartAt = null;
    if (patch.plannedEndAt === undefined) after.plannedEndAt = null;
  }
  const decided = resetDecisions(before, after, references.isApprover);
  const isMove = after.status !== before.status;
  const added = after.watcherUserIds.filter((id) => !before.watcherUserIds.includes(id));
  const codes = [
    ...(isMove && !moves[before.status].includes(after.status) ? ['INVALID_TRANSITION' as const] : []),
    ...(references.hasChangePolicy && isMove && !canStart(before, decided) ? ['INVALID_TRANSITION' as const] : []),
    ...(isWindowValid(after.type, after) ? [] : ['VALIDATION_ERROR' as const]),
    ...(after.category === null && after.categoryConfigId === null ? ['VALIDATION_ERROR' as const] : []),
    ...(after.externalId !== before.externalId && before.externalId !== null ? ['VALIDATION_ERROR' as const] : []),
    ...(after.parentId === before.id && before.parentId !== before.id ? ['VALIDATION_ERROR' as const] : []),
    ...rejectionsOf(references, {
      users: [after.assigneeId === before.assigneeId ? null : after.assigneeId, ...added],
      tickets: [after.parentId === before.parentId ? null : after.parentId],
      assets: after.assetIds.filter((id) => !before.assetIds.includes(id)),
      teams: [after.teamId === before.teamId ? null : after.teamId],
      category: after.categoryConfigId === before.categoryConfigId ? null : after.categoryConfigId,
    }),
  ];
  if (codes.length > 0) return { codes };
  if (isMove) {
    if (after.status === 'RESOLVED') after.resolvedAt = unknownText;
    else if (after.status === 'CLOSED') after.closedAt = unknownText;
    else after.resolvedAt = null;
  }
  const isUnchanged = isSame(before, after) && isSet === isDueAtSet(before);
  Object.assign(after, changeDates(references.hours, before, after, isSet));
  return {
    row: isUnchanged ? before : { ...after, ...decisionsOf(decided), etag: unknownText, updatedAt: unknownText },
  };
}

/**
 * Returns true if a ticket matches a list query, or undefined if it depends on an unknown time.
 * @param me the id of the API key's user
 * @param period when the server ran the query
 */
export function isTicketIn(ticket: Clocked, query: ListQuery, me: number, period: Period): boolean | undefined {
  const assignee = ticket.assigneeId ?? 'none';
  const assignees = (query.assigneeId as (number | string)[] | undefined)?.map((each) => (each === 'me' ? me : each));
  return (
    anyOf(query.status, ticket.status) &&
    anyOf(query.priority, ticket.priority) &&
    anyOf(query.type, ticket.type) &&
    anyOf(query.category, ticket.category) &&
    anyOf(query.requesterId, ticket.requesterId) &&
    anyOf(query.teamId, ticket.teamId ?? 'none') &&
    anyOf(query.categoryConfigId, ticket.categoryConfigId) &&
    anyOf(query.formKey, ticket.formKey) &&
    anyOf(query.parentId, ticket.parentId) &&
    anyOf(query.externalId, ticket.externalId) &&
    anyOf(query.approvalStatus, ticket.approvalStatus) &&
    anyOf(assignees, assignee) &&
    (query.watcherUserId === undefined || ticket.watcherUserIds.some((id) => anyOf(query.watcherUserId, id))) &&
    (query.assetId === undefined || ticket.assetIds.some((id) => anyOf(query.assetId, id))) &&
    (query.tag === undefined || ticket.tags.some((tag) => anyOf(query.tag, tag))) &&
    matchesFields(ticket, query.customFields) &&
    (query.createdSince === undefined || ticket.createdAt >= (query.createdSince as string)) &&
    (query.createdBefore === undefined || ticket.createdAt < (query.createdBefore as string)) &&
    isPlannedIn(ticket, query) &&
    (query.q === undefined ||
      holdsWords(query.q as string, [ticket.title, ticket.description], [ticket.ticketNumber])) &&
    isDueIn(ticket, query) &&
    // The last filters can depend on unknown times.
    (query.overdue === undefined || isOverdue(ticket, period)) &&
    (query.firstResponseOverdue === undefined || isFirstResponseOverdue(ticket, period))
  );
}

/**
 * Returns true if a ticket matches the filters on the due date. An unknown due date is computed from a target, so it is
 * between the bounds that requests use.
 */
function isDueIn({ dueAt }: Ticket, { dueSince, dueBefore }: ListQuery): boolean {
  if (dueSince === undefined && dueBefore === undefined) return true;
  if (dueAt === null || dueAt === unknownText) return dueAt !== null;
  return (
    (dueSince === undefined || dueAt >= (dueSince as string)) &&
    (dueBefore === undefined || dueAt < (dueBefore as string))
  );
}

/** Returns true if the planned window of a ticket overlaps the period of the filters. */
function isPlannedIn({ plannedStartAt, plannedEndAt }: Ticket, { plannedSince, plannedBefore }: ListQuery): boolean {
  if (plannedSince === undefined && plannedBefore === undefined) return true;
  if (plannedStartAt === null || plannedEndAt === null) return false;
  return (
    (plannedSince === undefined || plannedEndAt > (plannedSince as string)) &&
    (plannedBefore === undefined || plannedStartAt < (plannedBefore as string))
  );
}
