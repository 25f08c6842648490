import {
  type Comment,
  InvalidItem,
  type NewComment,
  type NewTicketItem,
  type NewTicketResult,
  requestLimits,
  type Ticket,
} from '@itsm-api/contract';
import { ApiError, invalidField } from '../../shared/errors.ts';
import { storedBulkResponse } from '../idempotency/stored-bulk-response.ts';
import { BulkItems } from '../shared/bulk-items.ts';
import { type Context, type Transaction, transaction, type UserContext } from '../shared/context.ts';
import {
  addExternalIds,
  type ExternalIds,
  lockExternalIds,
  rejectTaken,
  withoutRepeated,
} from '../shared/external-ids.ts';
import { checkAttachments, checkComment, insertComments } from './comments/comment-creation.ts';
import type { NewTicketRow } from './mutations.ts';
import { presentTicket } from './presenter.ts';
import { assertTicketRules, findTicketRules, toCreation } from './rules.ts';
import { selectTicketsByIds } from './sql.ts';
import { newRow, writeNew } from './ticket-creation.ts';

/**
 * Creates the valid tickets in a bulk request (docs/decisions/tickets.md), with the same rules as `createTicket`. Checks
 * all items first and then writes the valid items together. If a statement fails, the whole request fails and writes
 * nothing. Resolves to one result per item.
 * @throws ApiError PAYLOAD_TOO_LARGE if the tickets have too many comments
 */
export function createTickets(
  context: UserContext,
  given: readonly (NewTicketItem | InvalidItem)[],
): Promise<NewTicketResult[]> {
  rejectManyComments(given);
  return transaction(context, async (context) => {
    const items = BulkItems.of(given).next(({ comments = [], ...input }) => {
      const authors = comments.flatMap((comment, index) => {
        // A new ticket has no attachments.
        checkAttachments(comment, new Set(), `comments.${index}.`);
        return checkComment(context, comment, `comments.${index}.`);
      });
      return { input, comments, creation: toCreation(input, authors) };
    });
    const rules = await findTicketRules(
      context,
      items.accepted.map(({ creation }) => creation),
    );
    const taken = await lockTicketExternalIds(context, items.accepted);
    const now = context.now();
    const valid = items.next(({ input, comments, creation }) => {
      assertTicketRules(context, rules, creation);
      rejectTakenTicket({ row: input, comments }, taken);
      return { row: newRow(context, input, rules.known, now), comments };
    });
    const unique = withoutRepeated(valid.accepted, ({ row, comments }) => [
      row.externalId && `ticket ${row.externalId}`,
      ...comments.map(({ externalId }) => externalId && `comment ${externalId}`),
    ]);
    const written = await writeWithComments(context, unique);
    addExternalIds(taken.tickets, written.tickets);
    addExternalIds(taken.comments, written.comments);
    const ticketOf = new Map(unique.map((item, index) => [item, written.tickets[index]]));
    const created = valid.next((item) => {
      const ticket = ticketOf.get(item);
      if (ticket === undefined) rejectTakenTicket(item, taken);
      return ticket as Ticket;
    });
    return created.results((data) => ({ status: 201, data }), context.publicUrl);
  });
}

/**
 * Rejects a request with too many comments, because other new tickets of the workspace wait for the request.
 * @throws ApiError PAYLOAD_TOO_LARGE
 */
function rejectManyComments(given: readonly (NewTicketItem | InvalidItem)[]): void {
  const counts = given.map((item) => (item instanceof InvalidItem ? 0 : (item.comments?.length ?? 0)));
  if (counts.reduce((sum, count) => sum + count, 0) <= requestLimits.newTicketComments) return;
  const message = `The tickets have more than ${requestLimits.newTicketComments} comments. Send fewer tickets in each request.`;
  throw new ApiError('PAYLOAD_TOO_LARGE', message);
}

/** The external ids that tickets and comments already have. */
interface TakenIds {
  tickets: ExternalIds;
  comments: ExternalIds;
}

/** Locks the external ids of tickets and comments. Returns the ones of a bulk request that rows already have. */
async function lockTicketExternalIds(
  context: Context,
  items: readonly { input: Pick<NewTicketItem, 'externalId'>; comments: readonly NewComment[] }[],
): Promise<TakenIds> {
  const ofComments = items.flatMap(({ comments }) => comments.map(({ externalId }) => externalId));
  return {
    tickets: await lockExternalIds(
      context,
      'ticket',
      items.map(({ input }) => input.externalId),
    ),
    comments: await lockExternalIds(context, 'comment', ofComments),
  };
}

/**
 * Rejects a new ticket if a row has its external id or the external id of one of its comments, or if two of its
 * comments have the same external id.
 * @throws ApiError EXTERNAL_ID_EXISTS, VALIDATION_ERROR
 */
function rejectTakenTicket(
  { row, comments }: { row: Pick<NewTicketItem, 'externalId'>; comments: readonly NewComment[] },
  taken: TakenIds,
): void {
  rejectTaken('ticket', taken.tickets, row.externalId);
  const seen = new Set<string>();
  for (const [index, { externalId }] of comments.entries()) {
    if (externalId == null) continue;
    const path = `comments.${index}.externalId`;
    rejectTaken('comment', taken.comments, externalId, path);
    if (seen.has(externalId)) throw invalidField('VALIDATION_ERROR', path, 'is a duplicate. Choose a different value.');
    seen.add(externalId);
  }
}

/**
 * Inserts tickets and their comments, and emits `ticket.created` for each ticket. Returns the tickets and the comments,
 * both in the given order.
 */
async function writeWithComments(
  context: UserContext & Transaction,
  items: readonly { row: NewTicketRow; comments: readonly NewComment[] }[],
): Promise<{ tickets: Ticket[]; comments: Comment[] }> {
  if (items.length === 0) return { tickets: [], comments: [] };
  const written = { comments: [] as Comment[] };
  const rows = items.map(({ row }) => row);
  const tickets = await writeNew(context, rows, async (created) => {
    const comments = items.flatMap(({ comments }, index) => {
      return comments.map((comment) => ({ ...comment, ticketId: (created[index] as Ticket).id }));
    });
    if (comments.length === 0) return created;
    const inserted = await insertComments(context, comments);
    written.comments = inserted.comments;
    const latest = new Map(inserted.tickets.map((ticket) => [ticket.id, ticket]));
    return created.map((ticket) => latest.get(ticket.id) ?? ticket);
  });
  return { tickets, comments: written.comments };
}

/** The stored form of the response of `createTickets`. */
export const newTicketsFormat = storedBulkResponse(async ({ db }, ids) =>
  (await selectTicketsByIds(db, ids)).map((row) => presentTicket(row)),
);
