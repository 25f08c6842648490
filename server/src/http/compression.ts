// This module replaces @fastify/compress. With Brotli, that library needs 6 to 17% more CPU time per list. It also
// removes `Content-Length`.

import type { FastifyInstance, FastifyReply } from 'fastify';
import { encodingFor, fastEncoders, varyByEncoding } from '../shared/content/content-encoding.ts';

/** The minimum size in bytes of a body that is compressed. A smaller body fits into one packet without compression. */
const minBytes = 1024;

/**
 * Compresses successful responses without an `ETag`, such as lists. Responses with a single resource aren't compressed,
 * because their strong ETag would have to differ for each encoding (docs/decisions/api-conventions.md). Call this
 * function before `countUnreadBytes`, so that only compressed bytes are counted.
 */
export function compressResponses(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (!isCompressible(reply, payload)) return done(null, payload);
    varyByEncoding(reply);
    const encoding = encodingFor(request);
    if (encoding === 'identity') return done(null, payload);
    reply.header('content-encoding', encoding);
    fastEncoders[encoding](payload).then((bytes) => done(null, bytes), done);
  });
}

function isCompressible(reply: FastifyReply, payload: unknown): payload is string | Buffer {
  if (reply.statusCode >= 300 || reply.hasHeader('etag')) return false;
  return (typeof payload === 'string' || Buffer.isBuffer(payload)) && Buffer.byteLength(payload) >= minBytes;
}
