import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { unlessKnown } from './conditions.ts';
import { type Coding, codingFor, thorough, varyByCoding } from './content-coding.ts';

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

    const coding = codingFor(request);
    const etag = `"${file.tag}-${coding}"`;
    varyByCoding(reply);
    reply.headers({ etag, 'cache-control': 'public, no-cache' });
    file.bytes[coding] ??= thorough[coding](text);
    const payload = unlessKnown(request, reply, await file.bytes[coding], etag);
    if (coding !== 'identity' && payload !== null) reply.header('content-encoding', coding);
    return payload;
  });
}

/** Whether an answer is a page, which has a nonce of its own. */
export function isPage(reply: FastifyReply): boolean {
  return String(reply.getHeader('content-type')).startsWith('text/html');
}
