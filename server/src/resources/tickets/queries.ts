import {
  type Changes,
  NewTicket,
  type Ticket,
  type TicketPatch,
  type TicketQuery,
  type TicketReference,
} from '@itsm-api/contract';
import { notFound } from '../../shared/errors.ts';
import { requireMatch } from '../../shared/etag.ts';
import { emitAll } from '../../webhooks/outbox/emit.ts';
import { findFieldFilters } from '../custom-fields/filters.ts';
import { type Context, isWithin, type Transaction, transaction, type UserContext } from '../shared/context.ts';
import { lockExternalId } from '../shared/external-ids.ts';
import type { Known } from '../shared/foreign-keys.ts';
import { checkImportFields } from '../shared/imports.ts';
import { type Page, pageMeta } from '../shared/lists.ts';
import { rejectBroadQuery } from '../shared/search.ts';
import { resolveTicketId } from '../shared/ticket-reference.ts';
import type { Rows } from '../sync/change-feed.ts';
import { resetApprovals } from './approvals/approval-status.ts';
import { selectTickets } from './list-counted.ts';
import { findTickets, isCounted } from './list-search.ts';
import { changeTickets, insertTickets, type NewTicketRow } from './mutations.ts';
import { presentTicket } from './presenter.ts';
import { assertChangeRules, checkTicketRules, lockChangeRules, toCreation } from './rules.ts';
import {
  lockTickets,
  selectTicket,
  selectTicketsAfter,
  type TicketRow,
  type TicketValues,
  ticketsOfPage,
  toTicketRow,
} from './sql.ts';
import { ascending, type Change, computeChange } from './ticket-change.ts';

/** Returns a page of tickets, newest first by default (spec §4). @throws ApiError QUERY_TOO_BROAD, VALIDATION_ERROR */
export async function listTickets({ db, userId }: UserContext, query: TicketQuery): Promise<Page<Ticket>> {
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
  const row = await selectTicket(db, reference);
  if (row === undefined) throw notFound('ticket');
  return presentTicket(row);
}

/**
 * Creates a ticket with status OPEN and the next number of its type. Emits `ticket.created`.
 * @throws ApiError INVALID_REFERENCE, EXTERNAL_ID_EXISTS, VALIDATION_ERROR
 */
export async function createTicket(context: UserContext, input: NewTicket): Promise<Ticket> {
  const { known } = await checkTicketRules(context, toCreation(input));
  return transaction(context, async (context) => {
    await lockExternalId(context, 'ticket', input.externalId);
    const [ticket] = await writeNew(context, [newRow(context, input, known)]);
    return ticket as Ticket;
  });
}

/**
 * Inserts tickets and emits `ticket.created` for each of them. Returns the tickets in the given order.
 * @param complete changes the new tickets before the events, and returns them in the same order
 */
export async function writeNew(
  context: Context & Transaction,
  rows: readonly NewTicketRow[],
  complete = async (tickets: Ticket[]) => tickets,
): Promise<Ticket[]> {
  const { tickets, hasSubscribers } = await insertTickets(context, rows);
  const created = await complete(tickets.map(presentTicket));
  if (hasSubscribers) {
    const emissions = created.map((payload) => ({ payload }));
    await emitAll(context, 'ticket.created', emissions);
  }
  return created;
}

/**
 * Updates a ticket and emits `ticket.updated`. If the patch changes nothing, writes and emits nothing, unless it is the
 * first patch that sets `dueAt` (docs/decisions/tickets.md).
 * @throws ApiError NOT_FOUND, PRECONDITION_FAILED, INVALID_TRANSITION, INVALID_REFERENCE, EXTERNAL_ID_EXISTS,
 * VALIDATION_ERROR
 */
export async function updateTicket(context: Context, reference: TicketReference, patch: TicketPatch): Promise<Ticket> {
  const changed = isWithin(context) ? undefined : await patchUnlocked(context, reference, patch);
  return changed ?? transaction(context, (context) => patchLocked(context, reference, patch));
}

/**
 * Updates a ticket without a lock, because most patches don't need one. Reads the ticket, and writes it only if its
 * version hasn't changed. If the patch needs a lock or the version has changed, writes nothing and resolves to
 * undefined.
 */
async function patchUnlocked(
  context: Context,
  reference: TicketReference,
  patch: TicketPatch,
): Promise<Ticket | undefined> {
  const found = await selectTicket(context.db, reference);
  if (found === undefined) throw notFound('ticket');
  const before = presentTicket(found);
  const change = computeRequestedChange(context, before, patch, found);
  if (change === undefined) return before;
  // A new parent and an external id require a lock of the tenant. A reset of approvals requires a lock of the ticket.
  const { references, changes } = change;
  if (references.tickets.length > 0 || 'externalId' in changes || change.resetsApprovals) return undefined;
  await checkTicketRules(context, change);
  const [ticket] = await transaction(context, (context) => writeChanges(context, [change], found.version));
  return ticket;
}

/** Locks a ticket until the end of the transaction, and updates it. */
async function patchLocked(
  context: Context & Transaction,
  reference: TicketReference,
  patch: TicketPatch,
): Promise<Ticket> {
  const [locked] = await lockTickets(context.db, [await resolveTicketId(context, reference)]);
  if (locked === undefined) throw notFound('ticket');
  const before = presentTicket(locked);
  const change = computeRequestedChange(context, before, patch, locked);
  if (change === undefined) return before;
  await checkTicketRules(context, change);
  assertChangeRules(await lockChangeRules(context, [change]), change);
  const [ticket] = await writeChanges(context, [change]);
  return ticket as Ticket;
}

/**
 * Computes the change that a request makes to a ticket.
 * @throws ApiError PRECONDITION_FAILED, and the errors of `computeChange`
 */
function computeRequestedChange(
  context: Context,
  before: Ticket,
  patch: TicketPatch,
  { dueAtSet }: TicketRow,
): Change | undefined {
  requireMatch(context.ifMatch, before);
  return computeChange(before, patch, { dueAtSet, now: context.now() });
}

/**
 * Writes changes to tickets and emits `ticket.updated`. The caller must lock the tickets, unless it sets `version`.
 * Returns the tickets in the order of the changes.
 * @param version the expected version of a single ticket; if the actual version differs, the function writes nothing
 */
export async function writeChanges(
  context: Context & Transaction,
  given: readonly StoredChange[],
  version?: number,
): Promise<Ticket[]> {
  const changes = given.some(({ resetsApprovals }) => resetsApprovals) ? await resetApprovals(context, given) : given;
  const { tickets, hasSubscribers } = await changeTickets(context, changes, version);
  if (tickets.length === 0) return [];
  const byId = new Map(tickets.map((row) => [row.id, presentTicket(row)]));
  const changed = changes.map(({ after }) => byId.get(after.id) as Ticket);
  if (hasSubscribers) {
    const emissions = changed.map((payload, index) => ({ payload, changes: addDueAt(changes[index], payload) }));
    await emitAll(context, 'ticket.updated', emissions);
  }
  return changed;
}

/** The part of a change that the server writes. */
export type StoredChange = Pick<Change, 'after' | 'dueAtSet' | 'changes'> & Partial<Pick<Change, 'resetsApprovals'>>;

/** Adds the new due date to the changes if the database has computed it from the new priority. */
function addDueAt(change: StoredChange | undefined, { dueAt }: Ticket): Changes {
  const { after, changes } = change as StoredChange;
  return after.dueAt === dueAt ? changes : { ...changes, dueAt: { from: after.dueAt, to: dueAt } };
}

/**
 * Converts the input of a request to the values of a new ticket. If the input has no category, takes the category that
 * its ticket category refines.
 * @throws ApiError VALIDATION_ERROR if the input has a field that only an import key can set
 */
export function newRow(context: UserContext, input: NewTicket, { categories }: Known): NewTicketRow {
  checkImportFields(context, NewTicket, input);
  const now = context.now().toISOString();
  const { status = 'OPEN', createdAt = now } = input;
  const closedAt = status === 'CLOSED' ? (input.closedAt ?? now) : null;
  const resolvedAt = status === 'CLOSED' || status === 'RESOLVED' ? (input.resolvedAt ?? input.closedAt ?? now) : null;
  return {
    title: input.title,
    description: input.description,
    type: input.type,
    priority: input.priority ?? 'MEDIUM',
    category: input.category ?? categories?.get(input.categoryConfigId ?? '') ?? null,
    categoryConfigId: input.categoryConfigId ?? null,
    requesterId: input.requesterId ?? Number(context.userId),
    assigneeId: input.assigneeId ?? null,
    teamId: input.teamId ?? null,
    parentId: input.parentId ?? null,
    externalId: input.externalId ?? null,
    watcherUserIds: ascending(input.watcherUserIds ?? []),
    assetIds: ascending(input.assetIds ?? []),
    tags: input.tags ?? [],
    customFields: input.customFields ?? {},
    dueAt: input.dueAt ?? null,
    plannedStartAt: input.plannedStartAt ?? null,
    plannedEndAt: input.plannedEndAt ?? null,
    // The targets don't apply to imported tickets.
    dueAtSet: input.dueAt !== undefined || context.isImport === true,
    ...{ status, createdAt, resolvedAt, closedAt },
    updatedAt: now,
  };
}
