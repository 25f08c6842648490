import type { Changes, Ticket, TicketPatch, TicketReference } from '@itsm-api/contract';
import { requireRow } from '../../shared/errors.ts';
import { requireMatch } from '../../shared/etag.ts';
import { emitAll } from '../../webhooks/outbox/emit.ts';
import { type Context, isWithin, type Transaction, transaction } from '../shared/context.ts';
import { resolveTicketId } from '../shared/ticket-reference.ts';
import { resetApprovals } from './approval-status.ts';
import { changeTickets } from './mutations.ts';
import { presentTicket } from './presenter.ts';
import { assertChangeRules, checkTicketRules, lockChangeRules } from './rules.ts';
import { lockTicket, selectTicket, type TicketRow } from './sql.ts';
import { type Change, computeChange } from './ticket-change.ts';

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
  const found = requireRow(await selectTicket(context.db, reference), 'ticket');
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
  const locked = await lockTicket(context.db, await resolveTicketId(context, reference));
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
    const emissions = changed.map((payload, index) => ({ payload, changes: addDueDates(changes[index], payload) }));
    await emitAll(context, 'ticket.updated', emissions);
  }
  return changed;
}

/** The part of a change that the server writes. */
export type StoredChange = Pick<Change, 'after' | 'dueAtSet' | 'changes'> & Partial<Pick<Change, 'resetsApprovals'>>;

/** Adds the dates that the database has computed to the changes. */
function addDueDates(change: StoredChange | undefined, written: Ticket): Changes {
  const { after, changes } = change as StoredChange;
  const computed = (['dueAt', 'firstResponseDueAt'] as const).filter((name) => after[name] !== written[name]);
  return {
    ...changes,
    ...Object.fromEntries(computed.map((name) => [name, { from: after[name], to: written[name] }])),
  };
}
