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

type Encode = (text: string | Buffer) => Promise<Buffer>;

const [compressBrotli, compressGzip] = [promisify(brotliCompress), promisify(gzip)];

/** How what is answered becomes the bytes that are sent, beside the thread that serves (docs/decisions/compression.md). */
export const encode: Record<Coding, Encode> = {
  br: (text) => compressBrotli(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (text) => compressGzip(text),
  identity: async (text) => (typeof text === 'string' ? Buffer.from(text) : text),
};

/** Says to caches that the answer depends on what codings a request takes. */
export function varyByCoding(reply: FastifyReply): void {
  reply.header('vary', [reply.getHeader('vary'), 'Accept-Encoding'].filter(Boolean).join(', '));
}
