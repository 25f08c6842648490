import type { TicketReference } from '@itsm-api/contract';
import { queryRows } from '../../database/client/raw-sql.ts';
import { invalidField, notFound } from '../../shared/errors.ts';
import { record } from '../activities/record.ts';
import { addUsage } from '../attachments/queries.ts';
import { recordAudit } from '../audit/audit-entry.ts';
import { type Context, type Transaction, transaction } from '../shared/context.ts';
import { noSuchAttachment } from '../shared/foreign-keys.ts';
import { lockTickets, nextUpdatedAt, type TicketRow } from '../tickets/sql.ts';
import { resolveTicketId } from '../tickets/ticket-reference.ts';
import { redactedText } from './redacted-copy.ts';
import { redactCopies } from './stored-copies.ts';

/** The texts to redact. Each list can be empty. */
export interface RedactionInput {
  tickets?: readonly TicketReference[] | undefined;
  comments?: readonly number[] | undefined;
  /** The attachments to delete. They must belong to one of the tickets, or to the ticket of one of the comments. */
  attachments?: readonly number[] | undefined;
}

/** The ids of the redacted tickets and comments, and of the deleted attachments. */
export interface Redaction {
  tickets: number[];
  comments: number[];
  attachments: number[];
}

/**
 * Replaces the title, description and resolution of tickets, and the bodies of comments, with `[redacted]`. Deletes the
 * given attachments. Does the same in copies: activity, events and stored responses. Sets `redactedAt`, and emits no
 * event (docs/decisions/privacy.md). A repeated call only sets `redactedAt` again. Requires the database role
 * `itsm_system`.
 * @throws ApiError NOT_FOUND; INVALID_REFERENCE for an attachment of another ticket
 */
export function redact(
  context: Context,
  { tickets = [], comments = [], attachments = [] }: RedactionInput,
): Promise<Redaction> {
  return transaction(context, async (context) => {
    const { db } = context;
    const ids: number[] = [];
    for (const reference of tickets) ids.push(await resolveTicketId(context, reference));
    const ticketIds = new Set(ids);
    const commentIds = new Set(comments);
    const commentTicketIds = await findTicketsOfComments(context, commentIds);
    // Locks the tickets, so that no other transaction writes copies in the meantime.
    const affected = [...new Set([...ticketIds, ...commentTicketIds])];
    const rows = await lockTickets(db, affected);
    if (rows.length < affected.length) throw notFound('ticket');

    const removed = await deleteAttachments(context, { ticketIds: affected, ids: [...new Set(attachments)] });
    const at = context.now();
    for (const row of rows) await changeTicket(context, row, { at, isRedacted: ticketIds.has(row.id), removed });
    await redactComments(context, commentIds, at);
    await redactCopies(context, {
      tickets: new Map(
        rows.map((row) => [row.id, { isRedacted: ticketIds.has(row.id), customFields: row.customFields }]),
      ),
      comments: commentIds,
      attachments: new Set([...removed.map(({ id }) => id), ...(await findDeletedAttachments(context, ticketIds))]),
      redactedAt: at.toISOString(),
    });
    // The last statement, because uploads of the workspace wait for its lock.
    if (removed.length > 0) await addUsage(context, -removed.reduce((sum, { size }) => sum + size, 0));
    return { tickets: [...ticketIds], comments: [...commentIds], attachments: removed.map(({ id }) => id) };
  });
}

/** Returns the tickets of comments. @throws ApiError NOT_FOUND if a comment doesn't exist */
async function findTicketsOfComments({ db }: Context, ids: ReadonlySet<number>): Promise<number[]> {
  if (ids.size === 0) return [];
  const rows = await db.comment.findMany({ where: { id: { in: [...ids] } }, select: { ticketId: true } });
  if (rows.length < ids.size) throw notFound('comment');
  return rows.map(({ ticketId }) => Number(ticketId));
}

/** Returns the attachments of tickets that a request has deleted. Copies of the tickets still contain their names. */
async function findDeletedAttachments({ db }: Context, ticketIds: ReadonlySet<number>): Promise<number[]> {
  const rows = await queryRows<{ id: string }>(db, {
    text: `SELECT changes #>> '{attachments,from,id}' AS id FROM activities
      WHERE tenant_id = $1 AND resource = 'TICKET' AND resource_id = ANY ($2::bigint[])
        AND changes #>> '{attachments,from,id}' IS NOT NULL`,
    values: [db.$tenantId, [...ticketIds]],
  });
  return rows.map(({ id }) => Number(id));
}

interface RemovedAttachment {
  id: number;
  ticketId: number;
  /** In bytes. */
  size: number;
}

/** Deletes attachments of the given tickets, and their content after the commit. The caller updates the usage. */
async function deleteAttachments(
  context: Context & Transaction,
  { ticketIds, ids }: { ticketIds: number[]; ids: number[] },
): Promise<RemovedAttachment[]> {
  if (ids.length === 0) return [];
  const { db, storage } = context;
  const rows = await queryRows<{ id: string; ticketId: string; size: string; storageKey: string }>(db, {
    text: `DELETE FROM attachments WHERE tenant_id = $1 AND id = ANY ($2::bigint[]) AND ticket_id = ANY ($3::bigint[])
      RETURNING id, ticket_id AS "ticketId", size, storage_key AS "storageKey"`,
    values: [db.$tenantId, ids, ticketIds],
  });
  if (rows.length < ids.length) throw invalidField('INVALID_REFERENCE', 'attachments', noSuchAttachment);
  // If the storage fails, the nightly cleanup deletes the content.
  context.afterCommit(async () => {
    for (const { storageKey } of rows) await storage.delete(storageKey).catch(() => undefined);
  });
  return rows.map(({ id, ticketId, size }) => ({ id: Number(id), ticketId: Number(ticketId), size: Number(size) }));
}

const updateTicket = `UPDATE tickets SET attachment_count = attachment_count - $3, updated_at = ${nextUpdatedAt('$4')},
    title = CASE WHEN $5 THEN '${redactedText}' ELSE title END,
    description = CASE WHEN $5 THEN '${redactedText}' ELSE description END,
    resolution = CASE WHEN $5 AND resolution IS NOT NULL THEN '${redactedText}' ELSE resolution END,
    redacted_at = CASE WHEN $5 THEN $4 ELSE redacted_at END
  WHERE tenant_id = $1 AND id = $2`;

/** Redacts a locked ticket, and updates its number of attachments. */
async function changeTicket(
  context: Context & Transaction,
  { id, attachmentCount, redactedAt }: TicketRow,
  { at, isRedacted, removed }: { at: Date; isRedacted: boolean; removed: readonly RemovedAttachment[] },
): Promise<void> {
  const ids = removed.filter(({ ticketId }) => ticketId === id).map((attachment) => attachment.id);
  if (!isRedacted && ids.length === 0) return;
  const { db } = context;
  await queryRows(db, { text: updateTicket, values: [db.$tenantId, id, ids.length, at, isRedacted] });
  const target = { type: 'ticket', id } as const;
  const count = { attachmentCount: { from: attachmentCount, to: attachmentCount - ids.length } };
  const changes = {
    ...(isRedacted && { redactedAt: { from: redactedAt && new Date(redactedAt).toISOString(), to: at.toISOString() } }),
    ...(ids.length > 0 && count),
  };
  await record(context, { resource: 'TICKET', ids: [id], action: 'UPDATED', changes });
  if (isRedacted) await recordAudit(context, { action: 'ticket.redacted', target });
  if (ids.length > 0) {
    await recordAudit(context, {
      action: 'attachment.redacted',
      target,
      changes: { attachments: { from: ids, to: [] } },
    });
  }
}

async function redactComments(context: Context, ids: ReadonlySet<number>, at: Date): Promise<void> {
  if (ids.size === 0) return;
  const data = { body: redactedText, redactedAt: at };
  await context.db.comment.updateMany({ where: { id: { in: [...ids] } }, data });
  for (const id of ids) await recordAudit(context, { action: 'comment.redacted', target: { type: 'comment', id } });
}
