import { randomInt } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { authenticationChallenge, docsOf, type ErrorCode, type ErrorEnvelope, requestLimits } from '@itsm-api/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hasErrorCode, LOCK_NOT_AVAILABLE } from '../shared/error-codes.ts';
import { ApiError, formatSeconds, MissingFileError } from '../shared/errors.ts';
import { TenantLimitExceeded } from '../shared/limiters/tenant-limiter.ts';
import { tenantIdToJson } from '../shared/tenant-id.ts';
import { defaultHeadersOf, setDefaultHeaders } from './default-headers.ts';
import { requestIdOf } from './request-id.ts';

const bodyTooLargeMessage = `The body is larger than ${requestLimits.bodyBytes} bytes. Send less data in each request.`;

const unexpectedErrorMessage =
  'An unexpected error occurred on the server. You can retry a read, or a write with the same `Idempotency-Key`. ' +
  'If it happens again, report the request id to the operator of the server.';

/** The API errors for Fastify error codes. `toApiError` converts all other unexpected errors to INTERNAL_ERROR. */
const frameworkErrors: Record<string, () => ApiError> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () => new ApiError('PAYLOAD_TOO_LARGE', bodyTooLargeMessage),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new ApiError(
      'INVALID_JSON',
      "The length of the body doesn't match `Content-Length`. Send the exact length in bytes.",
    ),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new ApiError(
      'UNSUPPORTED_MEDIA_TYPE',
      '`Content-Type` is malformed. Send a media type such as `application/json`.',
    ),
  FST_ERR_BAD_URL: () => malformedUrl('path'),
  FST_ERR_MAX_PARAM_LENGTH: () =>
    new ApiError('VALIDATION_ERROR', 'A path parameter is too long. Use the id of the resource.'),
};

/** Returns the error for a path or query that contains an invalid percent-encoding, such as `%zz` or `%ff`. */
export function malformedUrl(part: 'path' | 'query'): ApiError {
  const message = `The ${part} is not percent-encoded UTF-8. Encode a literal \`%\` as \`%25\`, and other text as UTF-8.`;
  return new ApiError('VALIDATION_ERROR', message);
}

declare module 'fastify' {
  interface FastifyInstance {
    /** The value of `PUBLIC_URL`, which is the base URL for documentation links in errors. */
    publicUrl: string | undefined;
  }
  interface FastifyRequest {
    /** The code of the error response, or undefined if the request has not failed. */
    errorCode: ErrorCode | undefined;
  }
}

export interface ErrorSources {
  /** Returns whether a request failed because the database is unavailable. The database module logs the outage. */
  isOutage(thrown: unknown): boolean;
}

/** Adds the error handler, which sends all error responses (spec §7). Handlers and hooks only throw errors. */
export function addErrorHandler(app: FastifyInstance, sources: ErrorSources): void {
  app.decorateRequest('errorCode');
  app.setErrorHandler(async (thrown, request, reply) => {
    if (thrown instanceof TenantLimitExceeded) await request.refundRateLimit(reply);
    sendError(apiErrorOf(thrown, request, sources), request, reply);
    return reply;
  });
  // For CONNECT requests, Node.js emits the event `connect` instead of calling the request handler.
  app.server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    endSocket(
      new ApiError(
        'NOT_FOUND',
        'CONNECT is not supported, because this server is not a proxy. Use GET, POST, PATCH or DELETE.',
      ),
      socket,
      app.publicUrl,
    );
  });
}

/** Responds to errors that Fastify finds before it routes a request, such as an invalid URL. */
export function respondWithError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  sendError(apiErrorOf(thrown, request, { isOutage: () => false }), request, reply);
}

/** Converts a thrown value to an API error. Logs unexpected errors. */
export function apiErrorOf(thrown: unknown, request: FastifyRequest, { isOutage }: ErrorSources): ApiError {
  // Check for a disconnected client first, because the resulting error looks like a lost database connection.
  if (isHangUp(thrown, request)) return incompleteBodyError();
  if (isOutage(thrown)) return outageError();
  const error = toApiError(thrown);
  if (error.code === 'INTERNAL_ERROR' && error !== thrown)
    request.log.error({ requestId: request.id, err: thrown }, 'request failed');
  if (error instanceof MissingFileError && isFirst(error))
    request.log.error({ requestId: request.id, storageKey: error.key }, 'the file of an attachment is missing');
  // QUERY_TOO_BROAD is logged, unlike other client errors, because its cause can be a slow database.
  if (error.code === 'QUERY_TOO_BROAD')
    request.log.warn(
      {
        requestId: request.id,
        tenantId: request.identity && tenantIdToJson(request.identity.tenantId),
        route: request.routeOptions.url,
      },
      'a list took longer than STATEMENT_TIMEOUT_MS',
    );
  return error;
}

const maxLoggedFiles = 10_000;
const loggedFiles = new Set<string>();

/** Returns true for the first error about a file. Clients can request a missing file again and again. */
function isFirst({ key }: MissingFileError): boolean {
  if (loggedFiles.has(key)) return false;
  if (loggedFiles.size >= maxLoggedFiles) loggedFiles.clear();
  loggedFiles.add(key);
  return true;
}

function sendError(error: ApiError, request: FastifyRequest, reply: FastifyReply): void {
  rejectRequest(error, request, reply, envelopeOf(error, request.id, request.server.publicUrl));
}

/** Sends an error response with the status and headers of the error and with the given body. */
export function rejectRequest(error: ApiError, request: FastifyRequest, reply: FastifyReply, body: object): void {
  if (error.code === 'INVALID_API_KEY') reply.header('www-authenticate', authenticationChallenge);
  if (error.retryAfterSeconds !== undefined) reply.header('retry-after', error.retryAfterSeconds);
  setDefaultHeaders(request, reply);
  request.errorCode = error.code;
  reply.code(error.status).send(body);
}

/** Responds to requests that Node's HTTP parser rejects, such as malformed request lines and oversized headers. */
export function respondToClientError(this: FastifyInstance, error: Error & { code?: string }, socket: Duplex): void {
  // A client that hasn't read earlier responses won't read the error response either.
  if (error.code === 'ECONNRESET' || !socket.writable || socket.writableLength > 0) socket.destroy();
  else endSocket(clientError(error.code), socket, this.publicUrl);
}

/**
 * The time in milliseconds that a connection stays open after an error response. The client needs this time to read the
 * response.
 */
const lingerMs = 2000;

/**
 * Writes an error response to a socket and closes the connection after `lingerMs`. Discards incoming data until then.
 * If the server closed the connection immediately, the client might be unable to read the response.
 */
function endSocket(error: ApiError, socket: Duplex, publicUrl: string | undefined): void {
  const requestId = requestIdOf({ headers: {} });
  const body = JSON.stringify(envelopeOf(error, requestId, publicUrl));
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    ...defaultHeadersOf(requestId, publicUrl),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  // Node.js no longer handles errors on this socket. Without an error listener, an error would end the process.
  socket.on('error', () => undefined);
  socket.removeAllListeners('data').on('data', () => undefined);
  socket.end(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n${body}`);
  setTimeout(() => socket.destroy(), lingerMs).unref();
}

function clientError(code: string | undefined): ApiError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new ApiError(
        'PAYLOAD_TOO_LARGE',
        'The request line and headers are larger than 16 KiB. Shorten the URL or the headers.',
      );
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ApiError(
        'VALIDATION_ERROR',
        'The request did not arrive within 30 seconds, or 15 minutes for an upload, or the upload was slower than 1 KB ' +
          'per second. Check your connection and retry.',
      );
    default:
      return new ApiError(
        'VALIDATION_ERROR',
        'This is not a valid HTTP request. Check the request line and the headers.',
      );
  }
}

/** Returns whether the client disconnected before the server received the whole request. */
function isHangUp(thrown: unknown, { raw }: FastifyRequest): boolean {
  return thrown instanceof Error && raw.errored === thrown;
}

function incompleteBodyError(): ApiError {
  return new ApiError('INVALID_JSON', 'The connection closed before the body was complete. Send the request again.');
}

/**
 * The minimum and maximum retry delay during an outage, in seconds. The server selects a random value, so that clients
 * don't all retry at the same time.
 */
const outageRetrySeconds = { min: 1, max: 5 };

function outageError(): ApiError {
  const seconds = randomInt(outageRetrySeconds.min, outageRetrySeconds.max + 1);
  const message = `The database is unavailable. Retry in ${formatSeconds(seconds)}.`;
  return new ApiError('INTERNAL_ERROR', message, { retryAfterSeconds: seconds });
}

/**
 * Returns the error for a lock timeout. The cause is another transaction, such as a large import, that holds a lock for
 * too long.
 */
function lockTimeoutError(): ApiError {
  const seconds = outageRetrySeconds.max;
  const message =
    'Another operation, such as a large import, blocked this request for too long. No changes were made. ' +
    `Retry in ${formatSeconds(seconds)}.`;
  return new ApiError('INTERNAL_ERROR', message, { retryAfterSeconds: seconds });
}

function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (hasErrorCode(thrown, LOCK_NOT_AVAILABLE)) return lockTimeoutError();
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
  return frameworkErrors[code]?.() ?? new ApiError('INTERNAL_ERROR', unexpectedErrorMessage);
}

/** Returns the response body for an error (spec §7). */
export function envelopeOf(
  { code, message, retryAfterSeconds, details }: ApiError,
  requestId: string,
  publicUrl?: string,
): ErrorEnvelope {
  return {
    success: false,
    error: {
      code,
      message,
      // During an outage, the header `Retry-After` contains the retry delay, but the body doesn't (spec §7).
      ...(retryAfterSeconds !== undefined && code !== 'INTERNAL_ERROR' && { retryAfterSeconds }),
      ...(details !== undefined && { details: [...details] }),
      docs: docsOf(code, publicUrl),
      requestId,
    },
  };
}
