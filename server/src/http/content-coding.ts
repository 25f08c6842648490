import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import negotiate from '@fastify/accept-negotiator';
import type { FastifyReply, FastifyRequest } from 'fastify';

const codings = ['br', 'gzip', 'identity'] as const;

export type Coding = (typeof codings)[number];

/** The coding that a request likes best, of those that there are. */
export function codingFor(request: FastifyRequest): Coding {
  return negotiate(request.headers['accept-encoding'] ?? '', [...codings]) ?? 'identity';
}

/** How what is answered becomes the bytes that are sent, beside the thread that serves. */
export type Encoders = Record<Coding, (text: string | Buffer) => Promise<Buffer>>;

const [compressBrotli, compressGzip] = [promisify(brotliCompress), promisify(gzip)];

function encoders(brotliQuality: number, gzipLevel: number): Encoders {
  return {
    br: (text) => compressBrotli(text, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
    gzip: (text) => compressGzip(text, { level: gzipLevel }),
    identity: async (text) => (typeof text === 'string' ? Buffer.from(text) : text),
  };
}

/** For what is compressed once for each answer (docs/decisions/compression.md). */
export const quick = encoders(1, 1);

/** For what is compressed once for all. Brotli's best takes a hundred times as long for a tenth less. */
export const thorough = encoders(5, 6);

/** Says to caches that the answer depends on what codings a request takes. */
export function varyByCoding(reply: FastifyReply): void {
  reply.header('vary', [reply.getHeader('vary'), 'Accept-Encoding'].filter(Boolean).join(', '));
}
