import type { ErrorCode, ErrorEnvelope } from '@itsm-api/contract';
import { localhostAllowedOrigins, ProtocolErrorCode, validateOriginHeader } from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import { apiErrorOf, type ErrorSources, envelopeOf, rejectRequest } from '../http/error-handler.ts';
import { ApiError } from '../shared/errors.ts';

/** A JSON-RPC error for a message that the API rejects before an MCP server processes it. */
export interface JsonRpcError {
  jsonrpc: '2.0';
  error: { code: number; message: string; data?: Omit<ErrorEnvelope['error'], 'message'> };
  id: string | number | null;
}

/** The JSON-RPC codes for errors that occur before an MCP server processes the message. */
const codes: Partial<Record<ErrorCode, number>> = {
  INVALID_JSON: ProtocolErrorCode.ParseError,
  PAYLOAD_TOO_LARGE: ProtocolErrorCode.InvalidRequest,
  UNSUPPORTED_MEDIA_TYPE: ProtocolErrorCode.InvalidRequest,
  VALIDATION_ERROR: ProtocolErrorCode.InvalidRequest,
  INTERNAL_ERROR: ProtocolErrorCode.InternalError,
};

/**
 * The JSON-RPC code for API errors that have no specific JSON-RPC code. It is in the range for server errors (JSON-RPC
 * 2.0 §5.1).
 */
const serverError = -32_000;

/** Creates a JSON-RPC error without a message id. */
export function jsonRpcError(message: string, code: number = serverError): JsonRpcError {
  return { jsonrpc: '2.0', error: { code, message }, id: null };
}

/** Returns an error handler that responds with JSON-RPC errors. `data` contains the API error. */
export function createJsonRpcErrorHandler(sources: ErrorSources): NonNullable<RouteShorthandOptions['errorHandler']> {
  return async (thrown, request, reply) => {
    const error = apiErrorOf((await count(request, reply, thrown)) ?? thrown, request, sources);
    const { message, ...data } = envelopeOf(error, request.id, request.server.publicUrl).error;
    const response: JsonRpcError = {
      jsonrpc: '2.0',
      error: { code: codes[error.code] ?? serverError, message, data },
      id: getMessageId(request),
    };
    rejectRequest(error, request, reply, response);
    return reply;
  };
}

/**
 * Counts a message toward the rate limits, unless it is already counted, has no valid API key, or comes from a network
 * that the API key doesn't allow. If the message exceeds a limit, resolves to the error.
 */
async function count(request: FastifyRequest, reply: FastifyReply, thrown: unknown): Promise<unknown> {
  if (request.identity === undefined || request.rateLimit !== undefined) return undefined;
  if (thrown instanceof ApiError && thrown.code === 'ADDRESS_NOT_ALLOWED') return undefined;
  return request.takeRequest(reply).then(
    () => undefined,
    (error: unknown) => error,
  );
}

function getMessageId({ body }: FastifyRequest): string | number | null {
  const { id } = (body ?? {}) as { id?: unknown };
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/**
 * Returns a hook that responds with 403 to requests from pages of other origins, as MCP requires. This check prevents
 * DNS rebinding attacks on a local server. The hook accepts requests without `Origin`, because only browsers send this
 * header.
 * @param publicUrl the URL that browsers use to reach the server
 */
export function createOriginCheck(publicUrl: string | undefined) {
  const own = publicUrl === undefined ? [] : [new URL(publicUrl).hostname];
  const allowed = [...localhostAllowedOrigins(), ...own];
  return async ({ headers }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    if (validateOriginHeader(headers.origin, allowed).ok) return undefined;
    return reply
      .code(403)
      .send(
        jsonRpcError(
          'Pages from this `Origin` are not allowed. Send messages from the origin of this server, or without `Origin`.',
        ),
      );
  };
}
