import { createHash, randomUUID } from 'node:crypto';
import { Readable, Transform } from 'node:stream';
import { defaultFileType, type TicketReference } from '@itsm-api/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createBufferCollector } from '../../../shared/buffer-collector.ts';
import { attachmentDisposition } from '../../../shared/content/content-disposition.ts';
import { ApiError, invalidField } from '../../../shared/errors.ts';
import { shareEventLoop } from '../../../shared/event-loop.ts';
import { isRepeated } from '../../idempotency/idempotency.ts';
import type { Context } from '../../shared/context.ts';
import { type AttachmentFile, checkQuota, findFile, type StoredFile } from './queries.ts';

/*
 * Receives and sends the content of attachments (docs/decisions/attachments-design.md). These functions hold no database
 * connection while bytes arrive or leave.
 */

declare module 'fastify' {
  interface FastifyRequest {
    /** The file that the request has uploaded. Undefined for other endpoints, and before the file has arrived. */
    storedFile: StoredFile | undefined;
  }
}

interface Input {
  request: FastifyRequest;
  reply: FastifyReply;
}

const maxTypeLength = 255;

const name = '[a-z\\d][\\w!#$&^.+-]*';
const token = "[\\w!#$%&'*+.^`|~-]+";
const quotedString = '"(?:[ !#-\\[\\]-~]|\\\\[ -~])*"';
const parameters = `(?:[ \\t]*;[ \\t]*${token}=(?:${token}|${quotedString}))*`;

/**
 * Matches a media type without `*` (RFC 9110 §8.3.1, with the names of RFC 6838 §4.2). The first group excludes separators
 * at the end, as in `text/plain;`.
 */
const concreteType = new RegExp(`^(${name}/${name}${parameters})[ \\t;]*$`, 'i');

/** Returns the type to store for the declared type of a file, which can be missing, malformed or a range. */
function toFileType(declared: string): string {
  const isLong = declared.length > maxTypeLength;
  return (isLong ? undefined : concreteType.exec(declared)?.[1]) ?? defaultFileType;
}

// All uploads share these functions, so that many uploads don't delay other requests.
const yieldToEventLoop = shareEventLoop();
const countReceived = createBufferCollector();

/** The declared size and type of a body. */
interface DeclaredBody {
  size: number;
  contentType: string;
}

/**
 * Returns the declared size and type of an upload.
 * @throws ApiError VALIDATION_ERROR, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE
 */
export function readUploadHeaders({ headers, ctx }: FastifyRequest, reply: FastifyReply): DeclaredBody {
  try {
    const size = Number(headers['content-length']);
    const { 'content-type': declared = '' } = headers;
    if (headers['transfer-encoding'] !== undefined || !Number.isSafeInteger(size)) {
      throw invalidField('VALIDATION_ERROR', 'content-length', 'is required. Send the size of the file in bytes.');
    }
    checkSize(ctx, size);
    if (/^multipart\/form-data\b/i.test(declared)) {
      const message = 'The body is a form. Send only the content of the file, with its type as `Content-Type`.';
      throw new ApiError('UNSUPPORTED_MEDIA_TYPE', message);
    }
    if (declared.length > maxTypeLength) {
      throw invalidField('VALIDATION_ERROR', 'content-type', `must have at most ${maxTypeLength} characters`);
    }
    return { size, contentType: toFileType(declared) };
  } catch (error) {
    // The server doesn't read the body, which can be large.
    reply.header('connection', 'close');
    throw error;
  }
}

/** Checks the size of a file in bytes. @throws ApiError VALIDATION_ERROR, PAYLOAD_TOO_LARGE */
export function checkSize({ attachmentLimits: { maxBytes } }: Pick<Context, 'attachmentLimits'>, size: number): void {
  if (size === 0)
    throw new ApiError('VALIDATION_ERROR', 'The file is empty. Send the content of the file as the body.');
  if (size <= maxBytes) return;
  throw new ApiError('PAYLOAD_TOO_LARGE', `The file is larger than ${maxBytes} bytes. Attach a smaller file.`);
}

/**
 * Checks that the ticket exists and that the file fits into the quota. For a repeated request, checks nothing, because
 * the earlier request may have used up the quota.
 * @throws ApiError NOT_FOUND, QUOTA_EXCEEDED
 */
export async function checkUpload({ request, reply, params }: Input & { params?: unknown }): Promise<void> {
  const { size } = readUploadHeaders(request, reply);
  if (await isRepeated(request)) return;
  await checkQuota(request.ctx, (params as { id: TicketReference }).id, size);
}

/** Streams the body of a request to the storage. */
export async function receiveUpload({ request, reply }: Input): Promise<StoredFile> {
  const declared = readUploadHeaders(request, reply);
  const { raw, ctx } = request;
  const hash = createHash('sha256');
  const content = new Transform({
    transform(chunk, _encoding, done) {
      hash.update(chunk);
      countReceived(chunk.length);
      yieldToEventLoop().then(() => done(null, chunk), done);
    },
  });
  const fail = (error: Error) => content.destroy(error);
  // Doesn't use `pipeline`, because it would close the connection after an error, so the client would get no response.
  raw.once('error', fail);
  // If the client has closed the connection before, no event follows.
  if (raw.destroyed && !raw.readableEnded) fail(raw.errored ?? new Error('The client closed the connection.'));
  raw.pipe(content);
  try {
    return await storeFile(ctx, content, { ...declared, hash: () => hash.digest('hex') });
  } catch (error) {
    // Discards the rest of the body, so that the client can read the response.
    raw.unpipe(content);
    raw.resume();
    // The storage can wrap the error of the content.
    throw content.errored ?? error;
  } finally {
    raw.off('error', fail);
  }
}

/**
 * Writes a file to the storage.
 * @param declared the size and the type of the content, and a function that returns its hash after it has been read
 */
export async function storeFile(
  { db, storage }: Pick<Context, 'db' | 'storage'>,
  content: Readable,
  { size, contentType, hash }: DeclaredBody & { hash: () => string },
): Promise<StoredFile> {
  const temporaryKey = await storage.writeTemporary(content, size);
  const storageKey = `${db.$tenantId}/${randomUUID()}`;
  try {
    await storage.move(temporaryKey, storageKey);
  } catch (error) {
    await storage.delete(temporaryKey).catch(() => undefined);
    throw error;
  }
  return { storageKey, contentType, size, sha256: hash(), isAttached: false };
}

/**
 * Stores a file that a user has uploaded in a form.
 * @throws ApiError NOT_FOUND if the ticket doesn't exist; PAYLOAD_TOO_LARGE, QUOTA_EXCEEDED
 */
export async function storeUploadedFile(
  context: Context,
  ticket: TicketReference,
  { type, content }: { type: string; content: Buffer },
): Promise<StoredFile> {
  const size = content.length;
  checkSize(context, size);
  await checkQuota(context, ticket, size);
  const contentType = toFileType(type);
  const hash = () => createHash('sha256').update(content).digest('hex');
  return storeFile(context, Readable.from([content], { objectMode: false }), { size, contentType, hash });
}

/**
 * Runs work that attaches a file, and deletes the file if the work doesn't attach it. After an unexpected error, the
 * transaction may have been committed, so the file remains until the nightly cleanup.
 */
export async function attachOrDelete<Result>(
  { storage }: Pick<Context, 'storage'>,
  file: StoredFile,
  work: () => Promise<Result>,
): Promise<Result> {
  const deleteFile = () => storage.delete(file.storageKey).catch(() => undefined);
  const result = await work().catch(async (error) => {
    if (error instanceof ApiError) await deleteFile();
    throw error;
  });
  // The response is the stored response of an earlier request with the same `Idempotency-Key`.
  if (!file.isAttached) await deleteFile();
  return result;
}

/**
 * Opens the content of an attachment for a response, and sets the headers of the response. The stream closes with the
 * response. For a HEAD request, returns an empty stream.
 */
export async function openFile({ request, reply }: Input, file: AttachmentFile): Promise<Readable> {
  const content = request.method === 'HEAD' ? Readable.from([]) : await readContent(request.ctx, file);
  if (request.raw.socket.destroyed) content.destroy();
  onceClosed({ request, reply }, () => content.destroy());
  reply.headers(fileHeaders(file));
  return content;
}

/**
 * Opens the file of an attachment.
 * @throws ApiError NOT_FOUND if a request has deleted the attachment in the meantime; SERVICE_UNAVAILABLE; or
 * MissingFileError
 */
export async function readContent(context: Context, { id, storageKey }: AttachmentFile): Promise<Readable> {
  try {
    return await context.storage.read(storageKey);
  } catch (error) {
    await findFile(context, id);
    throw error;
  }
}

/** Calls a function once, after the response has been sent or the connection has closed. */
export function onceClosed({ request, reply }: Input, callback: () => void): void {
  const { socket } = request.raw;
  // The client may have closed the connection already. No further event follows.
  if (socket.destroyed || reply.raw.closed) {
    callback();
    return;
  }
  const end = () => {
    reply.raw.off('close', end);
    socket.off('close', end);
    callback();
  };
  reply.raw.once('close', end);
  // A response that waits behind an earlier response emits no `close` event.
  socket.once('close', end);
}

/** Returns the headers of a response with the content of an attachment. Browsers save it and never run its scripts. */
function fileHeaders({ name, contentType, size }: AttachmentFile): Record<string, string | number> {
  return {
    'content-type': contentType,
    'content-length': size,
    'content-disposition': attachmentDisposition(name),
    'content-security-policy': 'sandbox',
  };
}
