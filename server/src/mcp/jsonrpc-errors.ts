import type { ErrorCode, ErrorEnvelope } from '@itsm-api/contract';
import { localhostAllowedOrigins, ProtocolErrorCode, validateOriginHeader } from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import { apiErrorOf, type ErrorSources, envelopeOf, rejectRequest } from '../http/error-handler.ts';

/** What is answered to a message that came to no server: an error of JSON-RPC. */
export interface JsonRpcError {
  jsonrpc: '2.0';
  error: { code: number; message: string; data?: Omit<ErrorEnvelope['error'], 'message'> };
  id: string | number | null;
}

/** The codes of JSON-RPC for what is wrong with a message before anybody has read it. */
const codes: Partial<Record<ErrorCode, number>> = {
  INVALID_JSON: ProtocolErrorCode.ParseError,
  PAYLOAD_TOO_LARGE: ProtocolErrorCode.InvalidRequest,
  UNSUPPORTED_MEDIA_TYPE: ProtocolErrorCode.InvalidRequest,
  VALIDATION_ERROR: ProtocolErrorCode.InvalidRequest,
  INTERNAL_ERROR: ProtocolErrorCode.InternalError,
};

/** The code for whatever has none of its own: the first of those that a server may give (JSON-RPC 2.0 §5.1). */
const serverError = -32_000;

/** An error with no message to answer. */
export function jsonRpcError(message: string, code: number = serverError): JsonRpcError {
  return { jsonrpc: '2.0', error: { code, message }, id: null };
}

/** Has what is thrown on the way to a server answered as an error of JSON-RPC; its `data` is the API's error. */
export function refuseByProtocol(sources: ErrorSources): NonNullable<RouteShorthandOptions['errorHandler']> {
  return async (thrown, request, reply) => {
    const error = apiErrorOf((await count(request, reply)) ?? thrown, request, sources);
    const { message, ...data } = envelopeOf(error, request.id, request.server.publicUrl).error;
    const answer: JsonRpcError = {
      jsonrpc: '2.0',
      error: { code: codes[error.code] ?? serverError, message, data },
      id: idOf(request),
    };
    rejectRequest(error, request, reply, answer);
    return reply;
  };
}

/** Counts a message of a valid key in its limits, unless that was done; resolves to the error where there is no room. */
async function count(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  if (request.identity === undefined || request.rateLimit !== undefined) return undefined;
  return request.takeRequest(reply).then(
    () => undefined,
    (error: unknown) => error,
  );
}

function idOf({ body }: FastifyRequest): string | number | null {
  const { id } = (body ?? {}) as { id?: unknown };
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/**
 * Answers 403 to pages of other sites, as the protocol asks: one whose name was made to lead to this machine must not reach
 * a server on it. Only browsers send an `Origin`.
 * @param publicUrl where browsers find this server
 */
export function refuseForeignPages(publicUrl: string | undefined) {
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
