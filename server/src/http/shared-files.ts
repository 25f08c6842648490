import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import negotiate from '@fastify/accept-negotiator';
import type { FastifyInstance, FastifyReply } from 'fastify';

const codings = ['br', 'gzip', 'identity'] as const;

type Coding = (typeof codings)[number];

/** How a text becomes the bytes that are sent. Brotli's best takes a hundred times as long for a tenth less. */
const encode: Record<Coding, (text: string) => Promise<Buffer>> = {
  br: (text) => promisify(brotliCompress)(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (text) => promisify(gzip)(text),
  identity: async (text) => Buffer.from(text),
};

/** A text that is the same in every answer. */
interface SharedFile {
  /** Of its content. */
  tag: string;
  bytes: Partial<Record<Coding, Promise<Buffer>>>;
}

/**
 * For a scope whose text, but for its pages, never changes while the process runs: each is compressed once, when it is
 * first asked for, and all answers share the bytes, so that connections that don't read hold no copies. A browser keeps
 * it and asks whether it is still the same.
 */
export function shareFiles(scope: FastifyInstance): void {
  const files = new Map<string, SharedFile>();

  scope.addHook('onSend', async (request, reply, text) => {
    if (typeof text !== 'string' || text === '' || reply.statusCode !== 200 || isPage(reply)) return text;
    const file: SharedFile = files.get(text) ?? {
      tag: createHash('sha256').update(text).digest('base64url'),
      bytes: {},
    };
    files.set(text, file);

    const coding = negotiate(request.headers['accept-encoding'] ?? '', [...codings]) ?? 'identity';
    const etag = `"${file.tag}-${coding}"`;
    const vary = [reply.getHeader('vary'), 'Accept-Encoding'].filter(Boolean).join(', ');
    reply.headers({ etag, vary, 'cache-control': 'public, no-cache' });
    if (names(request.headers['if-none-match'] ?? '', etag)) {
      reply.code(304);
      return null;
    }
    if (coding !== 'identity') reply.header('content-encoding', coding);
    file.bytes[coding] ??= encode[coding](text);
    return file.bytes[coding];
  });
}

/** Whether an answer is a page, which has a nonce of its own. */
export function isPage(reply: FastifyReply): boolean {
  return String(reply.getHeader('content-type')).startsWith('text/html');
}

/** Whether the tags of `If-None-Match` name one, by the weak comparison (RFC 9110 §13.1.2). */
function names(tags: string, etag: string): boolean {
  return tags.split(',').some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim()));
}
