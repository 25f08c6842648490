import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import negotiate from '@fastify/accept-negotiator';
import type { FastifyReply, FastifyRequest } from 'fastify';

const codings = ['br', 'gzip', 'identity'] as const;

export type Encoding = (typeof codings)[number];

/** The coding that a request likes best, of those that there are (RFC 9110 §12.5.3). */
export function encodingFor(request: FastifyRequest): Encoding {
  const accepted = (request.headers['accept-encoding'] ?? '').toLowerCase();
  // `*` means none that is refused by its name, which the negotiator doesn't know.
  const others = codings.filter((coding) => !refusals[coding].test(accepted));
  return negotiate(accepted, others) ?? 'identity';
}

const refusalOf = (coding: Encoding) => new RegExp(`(?:^|,)\\s*${coding}\\s*;\\s*q=0(?:\\.0*)?\\s*(?:,|$)`);
const refusals = { br: refusalOf('br'), gzip: refusalOf('gzip'), identity: refusalOf('identity') };

/** How what is answered becomes the bytes that are sent, beside the thread that serves. */
export type Encoders = Record<Encoding, (text: string | Buffer) => Promise<Buffer>>;

const [compressBrotli, compressGzip] = [promisify(brotliCompress), promisify(gzip)];

function encoders(brotliQuality: number, gzipLevel: number): Encoders {
  return {
    br: (text) => compressBrotli(text, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
    gzip: (text) => compressGzip(text, { level: gzipLevel }),
    identity: async (text) => (typeof text === 'string' ? Buffer.from(text) : text),
  };
}

/** For what is compressed once for each answer (docs/decisions/api-conventions.md). */
export const fastEncoders = encoders(1, 1);

/** For what is compressed once for all. Brotli's best takes a hundred times as long for a tenth less. */
export const bestEncoders = encoders(5, 6);

/** Says to caches that the answer depends on what codings a request takes. */
export function varyByEncoding(reply: FastifyReply): void {
  reply.header('vary', [reply.getHeader('vary'), 'Accept-Encoding'].filter(Boolean).join(', '));
}
