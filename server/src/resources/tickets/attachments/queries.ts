import type { Attachment, AttachmentQuery, TicketReference } from '@itsm-api/contract';
import { sql, tenant } from '../../../database/client/sql.ts';
import { command, oneAsJson, rows } from '../../../database/client/statements.ts';
import { ApiError, notFound, requireRow } from '../../../shared/errors.ts';
import { serializeId, serializeTimestamp } from '../../../shared/serialize.ts';
import { type Context, type Transaction, transaction, type UserContext } from '../../shared/context.ts';
import type { Page } from '../../shared/lists.ts';
import { resolveTicketId } from '../../shared/ticket-reference.ts';
import { compareTickets } from '../approval-status.ts';
import { presentTicket } from '../presenter.ts';
import { lockTicket, type TicketRow } from '../sql.ts';
import { writeChanges } from '../ticket-update.ts';

/** A file in the storage that no attachment refers to yet. */
export interface StoredFile {
  storageKey: string;
  contentType: string;
  /** The size in bytes. */
  size: number;
  /** The SHA-256 hash of the content in hexadecimal. */
  sha256: string;
  /** Whether a committed attachment refers to the file. */
  isAttached: boolean;
}

const columns = sql`a.id, a.ticket_id AS "ticketId", a.name, a.content_type AS "contentType", a.size, a.sha256,
  a.uploader_id AS "uploaderId", a.created_at AS "createdAt"`;

const selectPage = oneAsJson<
  { ticketId: number; skip: bigint; take: number },
  { totalCount: number; attachments: Attachment[] | null }
>(
  ({ ticketId, skip, take }) => sql`SELECT t.attachment_count AS "totalCount", (
      SELECT json_agg(attachment ORDER BY attachment.id DESC) FROM (
        SELECT ${columns} FROM attachments a WHERE a.tenant_id = ${tenant} AND a.ticket_id = ${ticketId}
        ORDER BY a.id DESC OFFSET ${skip}::bigint LIMIT ${take}::int
      ) AS attachment) AS attachments
    FROM tickets t WHERE t.tenant_id = ${tenant} AND t.id = ${ticketId}`,
);

/** Returns a page of a ticket's attachments, newest first. @throws ApiError NOT_FOUND if the ticket doesn't exist */
export async function listAttachments(
  context: Context,
  reference: TicketReference,
  { page, perPage }: AttachmentQuery,
): Promise<Page<Attachment>> {
  const ticketId = await resolveTicketId(context, reference);
  const skip = BigInt(page - 1) * BigInt(perPage);
  const row = requireRow(await context.db.$sql(selectPage, { ticketId, skip, take: perPage }), 'ticket');
  const { totalCount, attachments } = row;
  return { data: (attachments ?? []).map(presentAttachment), meta: { page, perPage, totalCount } };
}

/** An attachment with the key of its content in the storage. */
export type AttachmentFile = Attachment & { storageKey: string };

const selectFile = oneAsJson<{ id: number }, AttachmentFile>(
  ({ id }) => sql`SELECT ${columns}, a.storage_key AS "storageKey" FROM attachments a
    WHERE a.tenant_id = ${tenant} AND a.id = ${id}`,
);

/** Returns an attachment with the key of its content. @throws ApiError NOT_FOUND */
export async function findFile({ db }: Context, id: number): Promise<AttachmentFile> {
  const row = requireRow(await db.$sql(selectFile, { id }), 'attachment');
  return { ...presentAttachment(row), storageKey: row.storageKey };
}

/** Returns an attachment without its content. @throws ApiError NOT_FOUND */
export async function getAttachment(context: Context, id: number): Promise<Attachment> {
  const { storageKey: _, ...attachment } = await findFile(context, id);
  return attachment;
}

/**
 * Returns those of the given ids that are attachments of the ticket. If no id is given, doesn't query the database. Lock
 * the ticket first, so that no other transaction deletes the attachments.
 */
export async function findAttachmentsOf(
  { db }: Context,
  ticketId: number,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  if (ids.length === 0) return new Set();
  const rows = await db.attachment.findMany({ where: { ticketId, id: { in: [...ids] } }, select: { id: true } });
  return new Set(rows.map(({ id }) => Number(id)));
}

const selectUsageOfTicket = oneAsJson<{ ticketId: number }, { bytes: number | null }>(
  ({ ticketId }) => sql`SELECT (SELECT bytes FROM attachment_usage WHERE tenant_id = ${tenant}) AS bytes
    FROM tickets t WHERE t.tenant_id = ${tenant} AND t.id = ${ticketId}`,
);

/**
 * Checks that a ticket exists and that the quota of the workspace allows `size` more bytes.
 * @throws ApiError NOT_FOUND, QUOTA_EXCEEDED
 */
export async function checkQuota(context: Context, reference: TicketReference, size: number): Promise<void> {
  const ticketId = await resolveTicketId(context, reference);
  const row = requireRow(await context.db.$sql(selectUsageOfTicket, { ticketId }), 'ticket');
  if ((row.bytes ?? 0) + size > context.attachmentLimits.quotaBytes) throw quotaExceeded(context);
}

/** Returns the number of bytes of all attachments of the workspace. */
export async function getStoredBytes({ db }: Context): Promise<number> {
  const usage = await db.attachmentUsage.findFirst();
  return Number(usage?.bytes ?? 0);
}

function quotaExceeded({ attachmentLimits: { quotaBytes } }: Context): ApiError {
  const message = `The attachments of this workspace would exceed its quota of ${quotaBytes} bytes. Delete attachments, then retry.`;
  return new ApiError('QUOTA_EXCEEDED', message);
}

/**
 * Attaches a stored file to a ticket. Changes the ticket, and emits `ticket.updated` (docs/decisions/attachments-design.md).
 * @throws ApiError NOT_FOUND if the ticket doesn't exist; QUOTA_EXCEEDED
 */
export function createAttachment(
  context: Pick<UserContext, 'userId'> & Context,
  reference: TicketReference,
  { name, file }: { name: string; file: StoredFile },
): Promise<Attachment> {
  return transaction(context, async (context) => {
    const { db, userId } = context;
    const ticket = await lockTicket(context.db, await resolveTicketId(context, reference));
    const { storageKey, contentType, size, sha256 } = file;
    await addUsage(context, size);
    const createdAt = context.now();
    const data = { name, contentType, size, sha256, storageKey, ticketId: ticket.id, uploaderId: userId, createdAt };
    const id = serializeId((await db.attachment.create({ data })).id);
    await changeTicket(context, ticket, { from: null, to: { id, name } });
    context.afterCommit(() => {
      file.isAttached = true;
    });
    const uploaderId = Number(userId);
    return { id, ticketId: ticket.id, name, contentType, size, sha256, uploaderId, createdAt: createdAt.toISOString() };
  });
}

/**
 * Deletes an attachment, and its content after the commit. Changes the ticket, and emits `ticket.updated`. Comments keep
 * the id of the attachment.
 * @throws ApiError NOT_FOUND
 */
export function deleteAttachment(context: Context, id: number): Promise<Attachment> {
  return transaction(context, async (context) => {
    const { db, storage } = context;
    const { storageKey, ...attachment } = await findFile(context, id);
    const ticket = await lockTicket(context.db, attachment.ticketId);
    const deleted = await deleteAttachmentRows(db, { ids: [id], ticketIds: [ticket.id] });
    if (deleted.length === 0) throw notFound('attachment');
    await addUsage(context, -attachment.size);
    await changeTicket(context, ticket, { from: { id, name: attachment.name }, to: null });
    // If the storage fails, the nightly job deletes the content.
    context.afterCommit(() => void storage.delete(storageKey).catch(() => undefined));
    return attachment;
  });
}

/** A deleted attachment. The size is in bytes. */
export type DeletedRow = Pick<Attachment, 'id' | 'ticketId' | 'size'>;

/**
 * Deletes those of the given attachments that belong to one of the tickets. Records them in `deleted_attachments`, so
 * that the nightly job deletes their files even if the process is killed after the commit.
 */
export async function deleteAttachmentRows(
  db: Context['db'],
  { ids, ticketIds }: { ids: readonly number[]; ticketIds: readonly number[] },
): Promise<DeletedRow[]> {
  if (ids.length === 0) return [];
  const deleted = await db.$sql(deleteAndRecord, { ids, ticketIds });
  return deleted.map(({ id, ticketId, size }) => ({ id: Number(id), ticketId: Number(ticketId), size: Number(size) }));
}

const deleteAndRecord = rows<
  { ids: readonly number[]; ticketIds: readonly number[] },
  Record<keyof DeletedRow, bigint>
>(
  ({ ids, ticketIds }) => sql`WITH deleted AS (
      DELETE FROM attachments
      WHERE tenant_id = ${tenant} AND id = ANY (${ids}::bigint[]) AND ticket_id = ANY (${ticketIds}::bigint[])
      RETURNING id, ticket_id, size, storage_key
    ), recorded AS (
      INSERT INTO deleted_attachments (tenant_id, ticket_id, id, storage_key)
      SELECT ${tenant}, ticket_id, id, storage_key FROM deleted
    )
    SELECT id, ticket_id AS "ticketId", size FROM deleted`,
);

/**
 * Adds bytes to the usage of the workspace, and locks it until the end of the transaction. The number of bytes is
 * negative for a deleted file.
 * @throws ApiError QUOTA_EXCEEDED
 */
export async function addUsage(context: Context & Transaction, bytes: number): Promise<void> {
  const { db, attachmentLimits } = context;
  const count = await db.$sql(addBytes, { bytes, quota: attachmentLimits.quotaBytes });
  if (count === 0) throw quotaExceeded(context);
}

const addBytes = command<{ bytes: number; quota: number }>(
  ({ bytes, quota }) => sql`INSERT INTO attachment_usage AS u (tenant_id, bytes)
    SELECT ${tenant}, ${bytes}::bigint WHERE ${bytes}::bigint <= ${quota}::bigint
    ON CONFLICT (tenant_id) DO UPDATE SET bytes = u.bytes + excluded.bytes
      WHERE excluded.bytes < 0 OR u.bytes + excluded.bytes <= ${quota}::bigint`,
);

/** An attachment in `changes.attachments`. */
type AttachmentSummary = Pick<Attachment, 'id' | 'name'> | null;

/** Changes the `attachmentCount` of a ticket, and records the added or deleted attachment in its activity and event. */
async function changeTicket(
  context: Context & Transaction,
  row: TicketRow,
  attachments: { from: AttachmentSummary; to: AttachmentSummary },
): Promise<void> {
  const before = presentTicket(row);
  const attachmentCount = before.attachmentCount + (attachments.to === null ? -1 : 1);
  const change = compareTickets(before, { ...before, attachmentCount });
  const changes = { ...change.changes, attachments };
  await writeChanges(context, [{ ...change, changes, dueAtSet: row.dueAtSet }]);
}

function presentAttachment({ id, ticketId, name, contentType, size, sha256, uploaderId, createdAt }: Attachment) {
  return { id, ticketId, name, contentType, size, sha256, uploaderId, createdAt: serializeTimestamp(createdAt) };
}
