import { NewTicket, plainTicketFields, type Ticket } from '@itsm-api/contract';
import { emitAll } from '../../webhooks/outbox/emit.ts';
import { type Context, type Transaction, transaction, type UserContext } from '../shared/context.ts';
import { lockExternalId } from '../shared/external-ids.ts';
import type { Known } from '../shared/foreign-keys.ts';
import { checkImportFields } from '../shared/imports.ts';
import { insertTickets, type NewTicketRow } from './mutations.ts';
import { presentTicket } from './presenter.ts';
import { checkTicketRules, toCreation } from './rules.ts';
import { ascending } from './ticket-change.ts';

/**
 * Creates a ticket with status OPEN and the next number of its type. Emits `ticket.created`.
 * @throws ApiError INVALID_REFERENCE, EXTERNAL_ID_EXISTS, VALIDATION_ERROR
 */
export async function createTicket(context: UserContext, input: NewTicket): Promise<Ticket> {
  const { known } = await checkTicketRules(context, toCreation(input));
  return writeOne(context, input.externalId, () => newRow(context, input, known));
}

/**
 * Inserts a ticket whose values follow the rules, and emits `ticket.created`.
 * @param toRow returns the row, or throws an ApiError that the error of a used external id precedes
 * @throws ApiError EXTERNAL_ID_EXISTS
 */
export function writeOne(
  context: UserContext,
  externalId: NewTicket['externalId'],
  toRow: () => NewTicketRow,
): Promise<Ticket> {
  return transaction(context, async (context) => {
    await lockExternalId(context, 'ticket', externalId);
    const [ticket] = await writeNew(context, [toRow()]);
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
 * Converts the input of a request to the values of a new ticket. If the input has no category, takes the category that
 * its ticket category refines.
 * @param at the time of the request; in a bulk request, the same for all tickets
 * @throws ApiError VALIDATION_ERROR if the input has a field that only an import key can set
 */
export function newRow(
  context: UserContext,
  input: NewTicket,
  { categories }: Known,
  at = context.now(),
): NewTicketRow {
  checkImportFields(context, NewTicket, input);
  const now = at.toISOString();
  const imported = context.isImport === true;
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
    formKey: null,
    requesterId: input.requesterId ?? Number(context.userId),
    assigneeId: input.assigneeId ?? null,
    ...plainFieldsOf(input),
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
    dueAtSet: input.dueAt !== undefined || imported,
    imported,
    ...{ status, createdAt, resolvedAt, closedAt },
    updatedAt: now,
  };
}

/** Returns the values of the fields that a ticket stores as given, or null. */
function plainFieldsOf(input: NewTicket): Pick<Ticket, keyof typeof plainTicketFields> {
  const names = Object.keys(plainTicketFields) as (keyof typeof plainTicketFields)[];
  return Object.fromEntries(names.map((name) => [name, input[name] ?? null])) as ReturnType<typeof plainFieldsOf>;
}
