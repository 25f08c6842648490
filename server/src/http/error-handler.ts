import { randomInt } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { docsOf, type ErrorEnvelope, requestLimits } from '@itsm-api/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, formatSeconds } from '../shared/errors.ts';
import { hasPgCode, LOCK_NOT_AVAILABLE } from '../shared/pg-errors.ts';
import { tenantIdToJson } from '../shared/tenant-id.ts';
import { TenantLimitExceeded } from '../shared/tenant-limiter.ts';
import { defaultHeadersOf, setDefaultHeaders } from './default-headers.ts';
import { requestIdOf } from './request-id.ts';

const tooLarge = `The body is larger than ${requestLimits.bodyBytes} bytes. Send less data in each request.`;

const unexpected =
  'An unexpected error occurred on the server. Retry later, and report the request id if it happens again.';

/** Maps the errors of Fastify to errors of the API. All other errors are INTERNAL_ERROR. */
const frameworkErrors: Record<string, () => ApiError> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () => new ApiError('PAYLOAD_TOO_LARGE', tooLarge),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new ApiError(
      'INVALID_JSON',
      "The length of the body doesn't match `Content-Length`. Send the exact length in bytes.",
    ),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new ApiError('UNSUPPORTED_MEDIA_TYPE', '`Content-Type` is malformed. Send `Content-Type: application/json`.'),
  FST_ERR_BAD_URL: () =>
    new ApiError('VALIDATION_ERROR', 'The path is not correctly percent-encoded. Encode a literal `%` as `%25`.'),
  FST_ERR_MAX_PARAM_LENGTH: () =>
    new ApiError('VALIDATION_ERROR', 'A path parameter is too long. Use the id of the resource.'),
};

declare module 'fastify' {
  interface FastifyInstance {
    /** `PUBLIC_URL`, where errors link to. */
    publicUrl: string | undefined;
  }
}

export interface ErrorSources {
  /** Whether a request failed because the database is unavailable, which is logged there. */
  isOutage(thrown: unknown): boolean;
}

/** Every answer that is not a success is written here (spec §7); handlers and hooks only throw. */
export function addErrorHandler(app: FastifyInstance, sources: ErrorSources): void {
  app.setErrorHandler(async (thrown, request, reply) => {
    if (thrown instanceof TenantLimitExceeded) await request.giveBack(reply);
    answerWith(apiErrorOf(thrown, request, sources), request, reply);
    return reply;
  });
  // Node passes on the bare connection.
  app.server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    endWith(
      new ApiError(
        'NOT_FOUND',
        'CONNECT is not supported, because this server is not a proxy. Use GET, POST, PATCH or DELETE.',
      ),
      socket,
      app.publicUrl,
    );
  });
}

/** Answers what Fastify finds before routing (`frameworkErrors`). */
export function respondWithError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  answerWith(apiErrorOf(thrown, request, { isOutage: () => false }), request, reply);
}

/** What is answered for whatever was thrown; what nobody has foreseen is logged. */
export function apiErrorOf(thrown: unknown, request: FastifyRequest, { isOutage }: ErrorSources): ApiError {
  // Looks like a lost connection to the database, too.
  if (isHangUp(thrown, request)) return brokenOff();
  if (isOutage(thrown)) return outage();
  const error = toApiError(thrown);
  if (error.code === 'INTERNAL_ERROR' && error !== thrown)
    request.log.error({ requestId: request.id, err: thrown }, 'request failed');
  // May be the fault of who asks, or of a database that is slow.
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

function answerWith(error: ApiError, request: FastifyRequest, reply: FastifyReply): void {
  rejectRequest(error, request, reply, envelopeOf(error, request.id, request.server.publicUrl));
}

/** Answers an error with its status and headers, and with this body. */
export function rejectRequest(error: ApiError, request: FastifyRequest, reply: FastifyReply, body: object): void {
  if (error.code === 'INVALID_API_KEY') reply.header('www-authenticate', 'Bearer');
  if (error.retryAfterSeconds !== undefined) reply.header('retry-after', error.retryAfterSeconds);
  setDefaultHeaders(request, reply);
  reply.code(error.status).send(body);
}

/** Answers what Node's HTTP parser refuses before there is a request: bad request lines, too large headers. */
export function respondToClientError(this: FastifyInstance, error: Error & { code?: string }, socket: Duplex): void {
  // Who hasn't read what was sent before will not read this either.
  if (error.code === 'ECONNRESET' || !socket.writable || socket.writableLength > 0) socket.destroy();
  else endWith(clientError(error.code), socket, this.publicUrl);
}

/** For so long a connection is kept whose client has yet to read why it is closed. Milliseconds. */
const lingerMs = 2000;

/**
 * Writes an error where there is no reply, and closes the connection. What still arrives is thrown away: a request that is
 * refused goes no further, and who is cut off at once may not come to read the answer.
 */
function endWith(error: ApiError, socket: Duplex, publicUrl: string | undefined): void {
  const requestId = requestIdOf({ headers: {} });
  const body = JSON.stringify(envelopeOf(error, requestId, publicUrl));
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    ...defaultHeadersOf(requestId, publicUrl),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  // Node looks no longer after what it has handed on: an error without a listener would end the process.
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
        'The request did not arrive within 30 seconds. Check your connection and retry.',
      );
    default:
      return new ApiError(
        'VALIDATION_ERROR',
        'This is not a valid HTTP request. Check the request line and the headers.',
      );
  }
}

/** Whether the caller went away while the request was still coming in; nobody will read the answer. */
function isHangUp(thrown: unknown, { raw }: FastifyRequest): boolean {
  return thrown instanceof Error && raw.errored === thrown;
}

function brokenOff(): ApiError {
  return new ApiError('INVALID_JSON', 'The connection closed before the body was complete. Send the request again.');
}

/** When to come back, in seconds: not everybody at the same time. */
const outageSeconds = { min: 1, max: 5 };

function outage(): ApiError {
  const seconds = randomInt(outageSeconds.min, outageSeconds.max + 1);
  const message = `The database is unavailable. Retry in ${formatSeconds(seconds)}.`;
  return new ApiError('INTERNAL_ERROR', message, { retryAfterSeconds: seconds });
}

/** Something else holds what is needed for longer than a lock is waited for, such as an import of many rows. */
function heldUp(): ApiError {
  const seconds = outageSeconds.max;
  const message = `Timed out waiting for a lock. No changes were made. Retry in ${formatSeconds(seconds)}.`;
  return new ApiError('INTERNAL_ERROR', message, { retryAfterSeconds: seconds });
}

function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (hasPgCode(thrown, LOCK_NOT_AVAILABLE)) return heldUp();
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
  return frameworkErrors[code]?.() ?? new ApiError('INTERNAL_ERROR', unexpected);
}

/** Returns the body of an error (spec §7). */
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
      // Not on an outage, where the header alone says it (spec §7).
      ...(retryAfterSeconds !== undefined && code !== 'INTERNAL_ERROR' && { retryAfterSeconds }),
      ...(details !== undefined && { details: [...details] }),
      docs: docsOf(code, publicUrl),
      requestId,
    },
  };
}
