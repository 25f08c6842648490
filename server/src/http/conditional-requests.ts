import { acceptsIfMatch, type Endpoint } from '@itsm-api/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../shared/errors.ts';
import { includesEtag, parseEtags } from '../shared/etag.ts';

/**
 * Adds support for conditional requests (RFC 9110 §13, docs/decisions/optimistic-concurrency-design.md). If `If-None-Match`
 * matches the current ETag, the server responds to a read with 304. For writes, a hook stores the ETags from `If-Match`
 * in `ctx.ifMatch`. The handler locks the row and then compares these ETags with the current one.
 */
export function addConditions(app: FastifyInstance): void {
  app.addHook('preHandler', (request, _reply, done) => {
    const header = request.headers['if-match'];
    const route: Endpoint | undefined = request.routeOptions.config.tsRestRoute;
    if (header === undefined || route === undefined || route.method === 'GET') return done();
    if (!acceptsIfMatch(route)) return done(unsupported());
    const tags = parseEtags(header);
    if (tags === undefined) return done(malformed());
    request.ctx.ifMatch = tags;
    done();
  });

  app.addHook('onSend', (request, reply, payload, done) => {
    const etag = reply.statusCode === 200 ? reply.getHeader('etag') : undefined;
    done(null, typeof etag === 'string' ? notModifiedUnlessChanged(request, reply, payload, etag) : payload);
  });
}

/**
 * If the client already has the current version, sets the status 304 and returns null. Otherwise, returns the payload.
 * For HEAD requests, always returns the payload, because `Content-Length` depends on it.
 */
export function notModifiedUnlessChanged(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  etag: string,
): unknown {
  const { method, headers } = request;
  if (method !== 'GET' && method !== 'HEAD') return payload;
  if (!includesEtag(headers['if-none-match'] ?? '', etag)) return payload;
  reply.code(304);
  return method === 'HEAD' ? payload : null;
}

/**
 * Returns the error for an endpoint that doesn't support `If-Match`. Without this error, the server would silently
 * ignore the condition.
 */
function unsupported(): ApiError {
  const message = 'This endpoint does not support `If-Match`. Remove the header, or update one resource by its id.';
  return new ApiError('VALIDATION_ERROR', message);
}

function malformed(): ApiError {
  const message =
    '`If-Match` is malformed. Send `*`, or copy `ETag` values with their double quotes. ' +
    'Separate several values with commas.';
  return new ApiError('VALIDATION_ERROR', message);
}
