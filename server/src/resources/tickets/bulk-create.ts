import {
  type InvalidItem,
  idOfItem,
  type NewTicket,
  type NewTicketAnswer,
  repeatedId,
  type Ticket,
  type TicketPatchAnswer,
  type TicketPatchItem,
} from '@itsm-api/contract';
import { invalidField, notFound } from '../../shared/errors.ts';
import { BulkItems } from '../shared/bulk-items.ts';
import { type Context, transaction, type UserContext } from '../shared/context.ts';
import { assertKnown, findKnown, type Known } from '../shared/foreign-keys.ts';
import { presentTicket } from './presenter.ts';
import {
  type Change,
  changeOf,
  lockParents,
  newRow,
  type Parents,
  referencesOf,
  rejectCycle,
  writeChanges,
  writeNew,
} from './queries.ts';
import { lockTickets, selectTicketsByIds } from './sql.ts';
import { byId, findTicketIds, type IdOf } from './ticket-number.ts';

/*
 * Many tickets in one request (docs/decisions/tickets.md). All that can refuse an item is found before anything is written;
 * what is good is written by the statements that write one. What fails then fails the request, and nothing was written.
 */

/** Creates tickets, each as `createTicket` does. */
export function createTickets(
  context: UserContext,
  given: readonly (NewTicket | InvalidItem)[],
): Promise<NewTicketAnswer[]> {
  return transaction(context, async (context) => {
    const bodies = BulkItems.of(given);
    const idOf = await findTicketIds(
      context,
      bodies.going.map(({ parentId }) => parentId),
    );
    const items = bodies.next((body) => {
      const input = byId(body, idOf);
      return { input, references: referencesOf(input) };
    });
    const known = await findKnown(
      context,
      items.going.map(({ references }) => references),
    );
    const rows = items.next(({ input, references }) => {
      assertKnown(references, known);
      return newRow(context, input);
    });
    const made = rows.going.length === 0 ? [] : await writeNew(context, rows.going);
    const ticketOf = new Map(rows.going.map((row, index) => [row, made[index] as Ticket]));
    return rows.answers((row) => ({ status: 201, data: ticketOf.get(row) as Ticket }), context.publicUrl);
  });
}

/** Changes tickets, each as `updateTicket` does; a parent that one is given counts for those behind it. */
export function updateTickets(
  context: Context,
  given: readonly (TicketPatchItem | InvalidItem)[],
): Promise<TicketPatchAnswer[]> {
  return transaction(context, async (context) => {
    const bodies = BulkItems.of(given);
    const idOf = await findTicketIds(context, [
      ...given.map(idOfItem),
      ...bodies.going.map(({ parentId }) => parentId),
    ]);
    refuseRepeated(given, idOf);
    const ids = bodies.going.flatMap(({ id }) => idOf(id) ?? []);
    const locked = ids.length === 0 ? [] : await lockTickets(context.db, ids);
    const befores = new Map<number | undefined, Ticket>(locked.map((row) => [row.id, presentTicket(row)]));
    const now = context.now();
    const looked = bodies.next(({ id, ...patch }) => {
      const before = befores.get(idOf(id));
      if (before === undefined) throw notFound('ticket');
      return { before, change: changeOf(before, byId(patch, idOf), now) };
    });
    const changed = looked.going.flatMap(({ change }) => change ?? []);
    const known = await findKnown(
      context,
      changed.map(({ references }) => references),
    );
    const parents = await lockParents(context, changed);
    const items = looked.next((item) => {
      if (item.change !== undefined) takeUp(item.change, known, parents);
      return item;
    });
    const changes = items.going.flatMap(({ change }) => change ?? []);
    const written = changes.length === 0 ? [] : await writeChanges(context, changes);
    const afters = new Map(written.map((ticket) => [ticket.id, ticket]));
    return items.answers(({ before }) => ({ status: 200, data: afters.get(before.id) ?? before }), context.publicUrl);
  });
}

/** The contract compares what items are named by; a ticket has two names. @throws ApiError VALIDATION_ERROR */
function refuseRepeated(given: readonly (TicketPatchItem | InvalidItem)[], idOf: IdOf): void {
  const seen = new Set<number>();
  for (const [index, item] of given.entries()) {
    const id = idOf(idOfItem(item));
    if (id !== undefined && seen.has(id)) throw invalidField('VALIDATION_ERROR', `tickets.${index}.id`, repeatedId);
    if (id !== undefined) seen.add(id);
  }
}

/** Checks what needs the database, and has those behind it see its parent. */
function takeUp(change: Change, known: Known, parents: Parents): void {
  assertKnown(change.references, known);
  rejectCycle(change, parents);
  const { id, parentId } = change.after;
  if (parentId === null) parents.delete(id);
  else parents.set(id, parentId);
}

/** What is kept of the answer to new tickets under an `Idempotency-Key`: which they are, and not what they hold. */
export const keptNewTickets = {
  keep: (answers: NewTicketAnswer[]): unknown[] => {
    return answers.map((answer) => (answer.status === 201 ? { status: 201, id: answer.data.id } : answer));
  },
  /** The answer again, with the tickets as they are now. */
  restore: async ({ db }: Context, kept: unknown[]): Promise<NewTicketAnswer[]> => {
    const answers = kept as ({ status: 201; id: number } | Exclude<NewTicketAnswer, { status: 201 }>)[];
    const ids = answers.flatMap((answer) => (answer.status === 201 ? answer.id : []));
    const rows = ids.length === 0 ? [] : await selectTicketsByIds(db, ids);
    const tickets = new Map(rows.map((row) => [row.id, presentTicket(row)]));
    return answers.map((answer) => {
      return answer.status === 201 ? { status: 201, data: tickets.get(answer.id) as Ticket } : answer;
    });
  },
};
