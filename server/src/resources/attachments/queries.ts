import type { Attachment, AttachmentQuery, TicketReference } from '@itsm-api/contract';
import { queryOne, queryRows, tenantQuery } from '../../database/client/raw-sql.ts';
import { ApiError, notFound } from '../../shared/errors.ts';
import { serializeTimestamp } from '../../shared/serialize.ts';
import { type Context, type Transaction, transaction, type UserContext } from '../shared/context.ts';
import type { Page } from '../shared/lists.ts';
import { presentTicket } from '../tickets/presenter.ts';
import { writeChanges } from '../tickets/queries.ts';
import { lockTickets, type TicketRow } from '../tickets/sql.ts';
import { resolveTicketId } from '../tickets/ticket-reference.ts';

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

const columns = `a.id, a.ticket_id AS "ticketId", a.name, a.content_type AS "contentType", a.size, a.sha256,
  a.uploader_id AS "uploaderId", a.created_at AS "createdAt"`;

const listing = tenantQuery(`SELECT t.attachment_count AS "totalCount", (
    SELECT json_agg(attachment ORDER BY attachment.id DESC) FROM (
      SELECT ${columns} FROM attachments a WHERE a.tenant_id = $1 AND a.ticket_id = $2
      ORDER BY a.id DESC OFFSET $3::bigint LIMIT $4::int
    ) AS attachment) AS attachments
  FROM tickets t WHERE t.tenant_id = $1 AND t.id = $2`);

/** Returns a page of a ticket's attachments, newest first. @throws ApiError NOT_FOUND if the ticket doesn't exist */
export async function listAttachments(
  context: Context,
  reference: TicketReference,
  { page, perPage }: AttachmentQuery,
): Promise<Page<Attachment>> {
  const values = [await resolveTicketId(context, reference), BigInt(page - 1) * BigInt(perPage), perPage];
  type Row = { totalCount: number; attachments: Attachment[] | null };
  const row = await queryOne<Row>(context.db, listing, values);
  if (row === undefined) throw notFound('ticket');
  const { totalCount, attachments } = row;
  return { data: (attachments ?? []).map(presentAttachment), meta: { page, perPage, totalCount } };
}

/** An attachment with the key of its content in the storage. */
export type AttachmentFile = Attachment & { storageKey: string };

const byId = tenantQuery(`SELECT ${columns}, a.storage_key AS "storageKey" FROM attachments a
  WHERE a.tenant_id = $1 AND a.id = $2`);

/** Returns an attachment with the key of its content. @throws ApiError NOT_FOUND */
export async function findFile({ db }: Context, id: number): Promise<AttachmentFile> {
  const row = await queryOne<AttachmentFile>(db, byId, [id]);
  if (row === undefined) throw notFound('attachment');
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
  const rows = await queryRows<{ id: string }>(db, {
    text: 'SELECT id FROM attachments WHERE tenant_id = $1 AND ticket_id = $2 AND id = ANY ($3::bigint[])',
    values: [db.$tenantId, ticketId, ids],
  });
  return new Set(rows.map(({ id }) => Number(id)));
}

const usage = tenantQuery(`SELECT (SELECT bytes FROM attachment_usage WHERE tenant_id = $1) AS bytes
  FROM tickets t WHERE t.tenant_id = $1 AND t.id = $2`);

/**
 * Checks that a ticket exists and that the quota of the workspace allows `size` more bytes.
 * @throws ApiError NOT_FOUND, QUOTA_EXCEEDED
 */
export async function checkQuota(context: Context, reference: TicketReference, size: number): Promise<void> {
  const row = await queryOne<{ bytes: number | null }>(context.db, usage, [await resolveTicketId(context, reference)]);
  if (row === undefined) throw notFound('ticket');
  if ((row.bytes ?? 0) + size > context.attachmentLimits.quotaBytes) throw quotaExceeded(context);
}

/** Returns the number of bytes of all attachments of the workspace. */
export async function getStoredBytes({ db }: Context): Promise<number> {
  const row = await queryOne<{ bytes: number | null }>(db, storedBytes, []);
  return Number(row?.bytes ?? 0);
}

const storedBytes = tenantQuery('SELECT bytes FROM attachment_usage WHERE tenant_id = $1');

function quotaExceeded({ attachmentLimits: { quotaBytes } }: Context): ApiError {
  const message = `The attachments of this workspace would exceed its quota of ${quotaBytes} bytes. Delete attachments, then retry.`;
  return new ApiError('QUOTA_EXCEEDED', message);
}

/**
 * Attaches a stored file to a ticket. Changes the ticket, and emits `ticket.updated` (docs/decisions/attachments.md).
 * @throws ApiError NOT_FOUND if the ticket doesn't exist; QUOTA_EXCEEDED
 */
export function createAttachment(
  context: Pick<UserContext, 'userId'> & Context,
  reference: TicketReference,
  { name, file }: { name: string; file: StoredFile },
): Promise<Attachment> {
  return transaction(context, async (context) => {
    const { db, userId } = context;
    const ticket = await lockTicket(context, await resolveTicketId(context, reference));
    const { storageKey, contentType, size, sha256 } = file;
    await addUsage(context, size);
    const createdAt = context.now();
    const [row] = await queryRows<{ id: string }>(db, {
      text: `INSERT INTO attachments
          (tenant_id, ticket_id, name, content_type, size, sha256, storage_key, uploader_id, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id`,
      values: [db.$tenantId, ticket.id, name, contentType, size, sha256, storageKey, userId, createdAt],
    });
    const id = Number(row?.id);
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
    const ticket = await lockTicket(context, attachment.ticketId);
    const deleted = await queryRows(db, {
      text: 'DELETE FROM attachments WHERE tenant_id = $1 AND id = $2 RETURNING id',
      values: [db.$tenantId, id],
    });
    if (deleted.length === 0) throw notFound('attachment');
    await addUsage(context, -attachment.size);
    await changeTicket(context, ticket, { from: { id, name: attachment.name }, to: null });
    // If the storage fails, the nightly cleanup deletes the content.
    context.afterCommit(() => void storage.delete(storageKey).catch(() => undefined));
    return attachment;
  });
}

async function lockTicket({ db }: Context & Transaction, id: number): Promise<TicketRow> {
  const [ticket] = await lockTickets(db, [id]);
  if (ticket === undefined) throw notFound('ticket');
  return ticket;
}

/**
 * Adds bytes to the usage of the workspace, and locks it until the end of the transaction. The number of bytes is
 * negative for a deleted file.
 * @throws ApiError QUOTA_EXCEEDED
 */
export async function addUsage(context: Context & Transaction, bytes: number): Promise<void> {
  const { db, attachmentLimits } = context;
  const rows = await queryRows(db, {
    text: `INSERT INTO attachment_usage AS u (tenant_id, bytes) SELECT $1, $2::bigint WHERE $2::bigint <= $3::bigint
      ON CONFLICT (tenant_id) DO UPDATE SET bytes = u.bytes + excluded.bytes
        WHERE excluded.bytes < 0 OR u.bytes + excluded.bytes <= $3::bigint
      RETURNING bytes`,
    values: [db.$tenantId, bytes, attachmentLimits.quotaBytes],
  });
  if (rows.length === 0) throw quotaExceeded(context);
}

/** An attachment in `changes.attachments`. */
type Named = Pick<Attachment, 'id' | 'name'> | null;

/** Changes the `attachmentCount` of a ticket, and records the added or deleted attachment in its activity and event. */
async function changeTicket(
  context: Context & Transaction,
  row: TicketRow,
  attachments: { from: Named; to: Named },
): Promise<void> {
  const { attachmentCount, dueAtSet } = row;
  const after = { ...presentTicket(row), attachmentCount: attachmentCount + (attachments.to === null ? -1 : 1) };
  const changes = { attachmentCount: { from: attachmentCount, to: after.attachmentCount }, attachments };
  await writeChanges(context, [{ after, dueAtSet, changes }]);
}

function presentAttachment({ id, ticketId, name, contentType, size, sha256, uploaderId, createdAt }: Attachment) {
  return { id, ticketId, name, contentType, size, sha256, uploaderId, createdAt: serializeTimestamp(createdAt) };
}
