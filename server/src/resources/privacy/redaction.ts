import type { TicketReference } from '@itsm-api/contract';
import { sql, tenant } from '../../database/client/sql.ts';
import { command, rows } from '../../database/client/statements.ts';
import { lockTenant } from '../../database/row-lock.ts';
import { invalidField, notFound } from '../../shared/errors.ts';
import { record } from '../activities/record.ts';
import { recordAudit } from '../audit/audit-entry.ts';
import { type Context, type Transaction, transaction } from '../shared/context.ts';
import { noSuchAttachment } from '../shared/foreign-keys.ts';
import { resolveTicketId } from '../shared/ticket-reference.ts';
import { addUsage, type DeletedRow, deleteAttachmentRows } from '../tickets/attachments/queries.ts';
import { lockTickets, nextUpdatedAt, type TicketRow } from '../tickets/sql.ts';
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
  /** The number of files that the storage failed to delete. The nightly job deletes them. Set after the commit. */
  remainingFiles: number;
}

/**
 * Replaces the title, description and resolution of tickets, the texts of their approvals, and the bodies of comments,
 * with `[redacted]`. Deletes the given attachments. Does the same in copies: activity, events, stored responses and
 * proposals. Sets `redactedAt`, and emits no event (docs/decisions/privacy.md). A repeated call sets `redactedAt` again,
 * and deletes files that an earlier call couldn't delete. Requires the database role `itsm_system`.
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

    const named = new Set(attachments);
    const removed = await deleteAttachmentRows(db, { ids: [...named], ticketIds: affected });
    const redaction: Redaction = {
      ...{ tickets: [...ticketIds], comments: [...commentIds], attachments: [...named], remainingFiles: 0 },
    };
    await deleteFilesAfterCommit(context, affected, redaction);
    const at = context.now();
    for (const row of rows) await changeTicket(context, row, { at, isRedacted: ticketIds.has(row.id), removed });
    await redactApprovals(context, ticketIds);
    await redactComments(context, commentIds, at);
    await redactCopies(context, {
      tickets: new Map(
        rows.map((row) => [row.id, { isRedacted: ticketIds.has(row.id), customFields: row.customFields }]),
      ),
      comments: commentIds,
      attachments: new Set([...named, ...(await findDeletedAttachments(context, ticketIds))]),
      redactedAt: at.toISOString(),
    });
    // The last statements, because new proposals and uploads of the workspace wait for their locks.
    await redactProposals(context, ticketIds, commentIds);
    if (removed.length > 0) await addUsage(context, -removed.reduce((sum, { size }) => sum + size, 0));
    return redaction;
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
  return (await db.$sql(selectDeleted, { ticketIds: [...ticketIds] })).map(({ id }) => Number(id));
}

const selectDeleted = rows<{ ticketIds: number[] }, { id: string }>(
  ({ ticketIds }) => sql`SELECT changes #>> '{attachments,from,id}' AS id FROM activities
    WHERE tenant_id = ${tenant} AND resource = 'TICKET' AND resource_id = ANY (${ticketIds}::bigint[])
      AND changes #>> '{attachments,from,id}' IS NOT NULL`,
);

/**
 * Checks that all attachments of a redaction are deleted, now or by an earlier transaction. After the commit, deletes
 * all files of deleted attachments of the tickets that may still exist.
 */
async function deleteFilesAfterCommit(
  { db, storage, afterCommit }: Context & Transaction,
  ticketIds: readonly number[],
  redaction: Redaction,
): Promise<void> {
  const found = await db.$sql(selectDeletedFiles, { ticketIds, ids: redaction.attachments });
  const deleted = new Set(found.map(({ id }) => Number(id)));
  if (!redaction.attachments.every((id) => deleted.has(id))) {
    throw invalidField('INVALID_REFERENCE', 'attachments', noSuchAttachment);
  }
  afterCommit(async () => {
    for (const { storageKey } of found) {
      if (storageKey === null) continue;
      await storage.delete(storageKey).catch(() => {
        redaction.remainingFiles++;
      });
    }
  });
}

const selectDeletedFiles = rows<
  { ticketIds: readonly number[]; ids: readonly number[] },
  { id: bigint; storageKey: string | null }
>(
  ({ ticketIds, ids }) => sql`SELECT id, storage_key AS "storageKey" FROM deleted_attachments
    WHERE tenant_id = ${tenant} AND ticket_id = ANY (${ticketIds}::bigint[])
      AND (storage_key IS NOT NULL OR id = ANY (${ids}::bigint[]))`,
);

const updateTicket = command<{ id: number; removed: number; at: Date; isRedacted: boolean }>(
  ({ id, removed, at, isRedacted }) => sql`UPDATE tickets
    SET attachment_count = attachment_count - ${removed}, updated_at = ${nextUpdatedAt(at)},
      title = CASE WHEN ${isRedacted} THEN ${redactedText} ELSE title END,
      description = CASE WHEN ${isRedacted} THEN ${redactedText} ELSE description END,
      resolution = CASE WHEN ${isRedacted} AND resolution IS NOT NULL THEN ${redactedText} ELSE resolution END,
      redacted_at = CASE WHEN ${isRedacted} THEN ${at} ELSE redacted_at END
    WHERE tenant_id = ${tenant} AND id = ${id}`,
);

/** Redacts a locked ticket, and updates its number of attachments. */
async function changeTicket(
  context: Context & Transaction,
  { id, attachmentCount, redactedAt }: TicketRow,
  { at, isRedacted, removed }: { at: Date; isRedacted: boolean; removed: readonly DeletedRow[] },
): Promise<void> {
  const ids = removed.filter(({ ticketId }) => ticketId === id).map((attachment) => attachment.id);
  if (!isRedacted && ids.length === 0) return;
  const { db } = context;
  await db.$sql(updateTicket, { id, removed: ids.length, at, isRedacted });
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

async function redactApprovals({ db }: Context, ticketIds: ReadonlySet<number>): Promise<void> {
  for (const text of ['note', 'comment'] as const) {
    const where = { ticketId: { in: [...ticketIds] }, [text]: { not: null } };
    await db.approval.updateMany({ where, data: { [text]: redactedText } });
  }
}

const emptyProposals = command<{ targets: string[]; ticketIds: number[]; commentIds: number[]; at: Date }>(
  ({ targets, ticketIds, commentIds, at }) => sql`UPDATE proposals
    SET body = NULL, preview = '[]', result = NULL, reason = ${redactedText}, updated_at = ${at},
      note = CASE WHEN note IS NULL THEN NULL ELSE ${redactedText} END,
      ended_at = CASE WHEN status = 'PENDING' THEN ${at} ELSE ended_at END,
      status = CASE WHEN status = 'PENDING' THEN 'STALE' ELSE status END
    WHERE tenant_id = ${tenant} AND (target = ANY (${targets}::text[])
      OR operation IN ('tickets_create', 'requestForms_submit') AND created_id = ANY (${ticketIds}::bigint[])
      OR operation = 'comments_create' AND created_id = ANY (${commentIds}::bigint[]))`,
);

/** Empties the proposals of tickets, and those that created one of the tickets or comments. Pending ones become STALE. */
async function redactProposals(
  { db, now }: Context,
  tickets: ReadonlySet<number>,
  comments: ReadonlySet<number>,
): Promise<void> {
  const ticketIds = [...tickets];
  const targets = ticketIds.map((id) => `TICKET:${id}`);
  // Withdrawals change several proposals in another order.
  await lockTenant(db, 'proposals');
  await db.$sql(emptyProposals, { targets, ticketIds, commentIds: [...comments], at: now() });
}

async function redactComments(context: Context, ids: ReadonlySet<number>, at: Date): Promise<void> {
  if (ids.size === 0) return;
  const data = { body: redactedText, redactedAt: at };
  await context.db.comment.updateMany({ where: { id: { in: [...ids] } }, data });
  for (const id of ids) await recordAudit(context, { action: 'comment.redacted', target: { type: 'comment', id } });
}
