import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import negotiate from '@fastify/accept-negotiator';
import type { FastifyRequest } from 'fastify';

const encodings = ['br', 'gzip', 'identity'] as const;

export type Encoding = (typeof encodings)[number];

/** Returns the supported encoding that the request prefers (RFC 9110 §12.5.3). */
export function encodingFor(request: FastifyRequest): Encoding {
  const accepted = (request.headers['accept-encoding'] ?? '').toLowerCase();
  // If `Accept-Encoding` rejects an encoding by name, as in `br;q=0, *`, the wildcard doesn't allow it again. The
  // negotiation library ignores this rule, so this function removes rejected encodings first.
  const others = encodings.filter((encoding) => !rejections[encoding].test(accepted));
  return negotiate(accepted, others) ?? 'identity';
}

const createRejectionPattern = (encoding: Encoding) =>
  new RegExp(`(?:^|,)\\s*${encoding}\\s*;\\s*q=0(?:\\.0*)?\\s*(?:,|$)`);
const rejections = {
  br: createRejectionPattern('br'),
  gzip: createRejectionPattern('gzip'),
  identity: createRejectionPattern('identity'),
};

/** The functions that encode a response body, one for each encoding. Compression runs on the Node.js thread pool. */
export type Encoders = Record<Encoding, (text: string | Buffer) => Promise<Buffer>>;

const [compressBrotli, compressGzip] = [promisify(brotliCompress), promisify(gzip)];

function encoders(brotliQuality: number, gzipLevel: number): Encoders {
  return {
    br: (text) => compressBrotli(text, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
    gzip: (text) => compressGzip(text, { level: gzipLevel }),
    identity: async (text) => (typeof text === 'string' ? Buffer.from(text) : text),
  };
}

/**
 * Encoders for responses. They use low compression levels, because each response is compressed separately
 * (docs/decisions/api-conventions.md).
 */
export const fastEncoders = encoders(1, 1);

/**
 * Encoders for files. They use higher compression levels, because each file is compressed only once. The highest Brotli
 * quality would take 100 times as long and make the files only 10% smaller.
 */
export const bestEncoders = encoders(5, 6);

/** The headers of a response. ts-rest declares another type of replies than Fastify. */
export interface ReplyHeaders {
  getHeader(name: string): unknown;
  header(name: string, value: string): unknown;
}

/** Adds `Vary: Accept-Encoding`, because the response depends on the encodings that the client accepts. */
export function varyByEncoding(reply: ReplyHeaders): void {
  reply.header('vary', [reply.getHeader('vary'), 'Accept-Encoding'].filter(Boolean).join(', '));
}
