// Measured: with Brotli, @fastify/compress needs 6 to 17 % more CPU time per list and drops `Content-Length`.

import type { FastifyInstance, FastifyReply } from 'fastify';
import { encodingFor, fastEncoders, varyByEncoding } from './content-encoding.ts';

/** Minimum size of a body to compress. Smaller bodies fit into one packet without compression. Bytes. */
const minBytes = 1024;

/**
 * Compresses successful responses without an `ETag`, which are mainly lists. Responses with a single resource are not
 * compressed: their strong ETag would have to differ for each encoding (docs/decisions/api-conventions.md). Call this
 * function before `countUnreadBytes`, so that the compressed bytes are counted.
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
