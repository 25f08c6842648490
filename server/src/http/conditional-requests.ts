import { acceptsIfMatch, type Endpoint } from '@itsm-api/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../shared/errors.ts';
import { names, parseEtags } from '../shared/etag.ts';

/**
 * Conditional requests (RFC 9110 §13, docs/decisions/optimistic-concurrency.md): whoever has read a resource is answered 304 while
 * it is the same, and may have it changed only then. Who changes it looks at `ifMatch` under the row's lock.
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

/** The payload, or none with 304 where a reader has it already. HEAD tells its length all the same. */
export function notModifiedUnlessChanged(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  etag: string,
): unknown {
  const { method, headers } = request;
  if (method !== 'GET' && method !== 'HEAD') return payload;
  if (!names(headers['if-none-match'] ?? '', etag)) return payload;
  reply.code(304);
  return method === 'HEAD' ? payload : null;
}

/** The caller expects a condition that nothing checks: without this error, the write would ignore it. */
function unsupported(): ApiError {
  const message = 'This endpoint does not support `If-Match`. Remove the header, or update one resource by its id.';
  return new ApiError('VALIDATION_ERROR', message);
}

function malformed(): ApiError {
  const message =
    '`If-Match` is malformed. Send `*`, or ETags in double quotes, as the API returned them, separated by commas.';
  return new ApiError('VALIDATION_ERROR', message);
}
