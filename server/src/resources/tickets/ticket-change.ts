import {
  type Changes,
  findWindowFault,
  type NewTicket,
  type Ticket,
  type TicketPatch,
  type TicketStatus,
  ticketTransitions,
} from '@itsm-api/contract';
import { invalidField } from '../../shared/errors.ts';
import { mergeCustomFields } from '../shared/diff.ts';
import { mergeExternalId } from '../shared/external-ids.ts';
import { listed, type References, reference } from '../shared/foreign-keys.ts';
import { mergeTags } from '../shared/tags.ts';
import { compareTickets } from './approval-status.ts';

/** The change that a patch makes to a ticket. */
export interface Change {
  before: Ticket;
  after: Ticket;
  dueAtSet: boolean;
  changes: Changes;
  /** Whether the approvers must decide again. */
  resetsApprovals: boolean;
  /** The ids of other rows that the patch adds. */
  references: References;
  /** The custom fields that the patch names. */
  customFields: TicketPatch['customFields'];
}

/**
 * Computes the change that a patch makes to a ticket. Returns undefined if the patch changes nothing. Checks only rules
 * that don't need a database query.
 * @param given `dueAtSet` is true if an earlier request set `dueAt`
 * @throws ApiError INVALID_TRANSITION, VALIDATION_ERROR
 */
export function computeChange(
  before: Ticket,
  patch: TicketPatch,
  given: { dueAtSet: boolean; now: Date },
): Change | undefined {
  const { after, changes, resetsApprovals } = compareTickets(before, merge(before, patch, given.now));
  const dueAtSet = given.dueAtSet || patch.dueAt !== undefined;
  if (Object.keys(changes).length === 0 && dueAtSet === given.dueAtSet) return undefined;
  const references = collectReferences(patch, before);
  return { before, after, dueAtSet, changes, resetsApprovals, references, customFields: patch.customFields };
}

/** Returns the references to users, tickets, assets, teams and ticket categories that a request body adds. */
export function collectReferences(input: NewTicket | TicketPatch, before?: Ticket): References {
  return {
    users: [
      ...('requesterId' in input ? reference('requesterId', input.requesterId) : []),
      ...reference('assigneeId', input.assigneeId, before?.assigneeId),
      ...listed('watcherUserIds', input.watcherUserIds, before?.watcherUserIds),
    ],
    tickets: reference('parentId', input.parentId, before?.parentId),
    assets: listed('assetIds', input.assetIds, before?.assetIds),
    teams: reference('teamId', input.teamId, before?.teamId),
    categories: reference('categoryConfigId', input.categoryConfigId, before?.categoryConfigId),
  };
}

/** Applies a patch to a ticket and returns the result. Checks only rules that don't need a database query. */
function merge(before: Ticket, patch: TicketPatch, now: Date): Ticket {
  const { customFields, watcherUserIds, assetIds, tags, addTags, removeTags, externalId, ...fields } = patch;
  const after: Ticket = {
    ...before,
    ...fields,
    externalId: mergeExternalId(before.externalId, externalId),
    customFields: mergeCustomFields(before.customFields, customFields),
    watcherUserIds: watcherUserIds ? ascending(watcherUserIds) : before.watcherUserIds,
    assetIds: assetIds ? ascending(assetIds) : before.assetIds,
    tags: mergeTags(before.tags, { tags, addTags, removeTags }),
    ...mergeWindow(before, patch),
  };
  if (after.category === null && after.categoryConfigId === null) {
    throw invalidField('VALIDATION_ERROR', 'category', 'is required unless categoryConfigId is given');
  }
  return after.status === before.status ? after : { ...after, ...getStatusTimestamps(before, after.status, now) };
}

/**
 * Returns the planned window after a patch. If the patch clears one time and doesn't contain the other, clears both.
 * @throws ApiError VALIDATION_ERROR
 */
function mergeWindow(
  before: Ticket,
  { plannedStartAt, plannedEndAt }: TicketPatch,
): Pick<Ticket, 'plannedStartAt' | 'plannedEndAt'> | undefined {
  if (plannedStartAt === undefined && plannedEndAt === undefined) return undefined;
  const isCleared = plannedStartAt === null || plannedEndAt === null;
  const kept = isCleared ? { plannedStartAt: null, plannedEndAt: null } : before;
  const window = {
    plannedStartAt: plannedStartAt === undefined ? kept.plannedStartAt : plannedStartAt,
    plannedEndAt: plannedEndAt === undefined ? kept.plannedEndAt : plannedEndAt,
  };
  const fault = findWindowFault({ type: before.type, ...window });
  if (fault !== undefined) throw invalidField('VALIDATION_ERROR', fault.path, fault.message);
  return window;
}

/** Returns the timestamps that a status change sets or clears. @throws ApiError INVALID_TRANSITION */
function getStatusTimestamps(from: Ticket, to: TicketStatus, now: Date): Pick<Ticket, 'resolvedAt' | 'closedAt'> {
  const allowed = ticketTransitions[from.status];
  if (!allowed.includes(to)) {
    const advice =
      allowed.length === 0
        ? `${from.status} is final. To continue, create a new ticket.`
        : `Allowed values: ${allowed.join(', ')}.`;
    throw invalidField('INVALID_TRANSITION', 'status', `can't change from ${from.status} to ${to}. ${advice}`);
  }
  const timestamp = now.toISOString();
  if (to === 'RESOLVED') return { resolvedAt: timestamp, closedAt: null };
  if (to === 'CLOSED') return { resolvedAt: from.resolvedAt, closedAt: timestamp };
  return { resolvedAt: null, closedAt: null };
}

/** Returns the ids in ascending order, without duplicates. */
export function ascending(ids: number[]): number[] {
  return [...new Set(ids)].sort((a, b) => a - b);
}
