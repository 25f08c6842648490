import {
  type InvalidItem,
  idOfItem,
  repeatedId,
  type TicketPatchItem,
  type TicketPatchResult,
} from '@itsm-api/contract';
import { invalidField, notFound } from '../../shared/errors.ts';
import { requireMatch } from '../../shared/etag.ts';
import { BulkItems } from '../shared/bulk-items.ts';
import { type Context, transaction } from '../shared/context.ts';
import { presentTicket } from './presenter.ts';
import { assertChangeRules, assertTicketRules, findTicketRules, lockChangeRules } from './rules.ts';
import { lockTickets, type TicketRow } from './sql.ts';
import { computeChange } from './ticket-change.ts';
import { writeChanges } from './ticket-update.ts';

/**
 * Updates the valid tickets in a bulk request (docs/decisions/tickets.md), with the same rules as `updateTicket`. Checks
 * all items first and then writes the valid items together. The cycle check considers the new parents from earlier
 * items. Resolves to one result per item.
 */
export function updateTickets(
  context: Context,
  given: readonly (TicketPatchItem | InvalidItem)[],
): Promise<TicketPatchResult[]> {
  rejectRepeated(given);
  return transaction(context, async (context) => {
    const bodies = BulkItems.of(given);
    const ids = bodies.accepted.map(({ id }) => id);
    const locked = ids.length === 0 ? [] : await lockTickets(context.db, ids);
    const rows = new Map<number, TicketRow>(locked.map((row) => [row.id, row]));
    const now = context.now();
    const checked = bodies.next(({ id, ifMatch, ...patch }) => {
      const row = rows.get(id);
      if (row === undefined) throw notFound('ticket');
      const before = presentTicket(row);
      requireMatch(ifMatch === undefined ? undefined : [ifMatch], before);
      return { before, change: computeChange(before, patch, { ...row, now }) };
    });
    const changed = checked.accepted.flatMap(({ change }) => change ?? []);
    const rules = await findTicketRules(context, changed);
    const lockedRules = await lockChangeRules(context, changed);
    const items = checked.next((item) => {
      if (item.change !== undefined) {
        assertTicketRules(context, rules, item.change);
        assertChangeRules(lockedRules, item.change);
      }
      return item;
    });
    const changes = items.accepted.flatMap(({ change }) => change ?? []);
    const written = changes.length === 0 ? [] : await writeChanges(context, changes);
    const afters = new Map(written.map((ticket) => [ticket.id, ticket]));
    return items.results(({ before }) => ({ status: 200, data: afters.get(before.id) ?? before }), context.publicUrl);
  });
}

/**
 * Rejects a request that lists a ticket both by id and by number. The contract can't detect this repetition, because it
 * only compares the text of the references.
 * @throws ApiError VALIDATION_ERROR
 */
function rejectRepeated(given: readonly (TicketPatchItem | InvalidItem)[]): void {
  const seen = new Set<number>();
  for (const [index, item] of given.entries()) {
    const id = idOfItem(item);
    if (id !== undefined && seen.has(id)) throw invalidField('VALIDATION_ERROR', `tickets.${index}.id`, repeatedId);
    if (id !== undefined) seen.add(id);
  }
}
