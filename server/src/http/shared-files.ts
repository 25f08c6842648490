import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { notModifiedUnlessChanged } from './conditional-requests.ts';
import { bestEncoders, type Encoding, encodingFor, varyByEncoding } from './content-encoding.ts';

/** A text that is the same in every answer. */
interface SharedFile {
  /** Of its content. */
  tag: string;
  bytes: Partial<Record<Encoding, Promise<Buffer>>>;
}

/**
 * For a scope whose text never changes while the process runs: each is compressed once, when it is first asked for, and
 * all answers share the bytes, so that connections that don't read hold no copies.
 * @param cacheControl for how long a browser keeps them, and whether it asks then if they are still the same
 */
export function serveSharedFiles(scope: FastifyInstance, cacheControl: string): void {
  const files = new Map<string, SharedFile>();

  scope.addHook('onSend', async (request, reply, text) => {
    if (typeof text !== 'string' || text === '' || reply.statusCode !== 200) return text;
    const file: SharedFile = files.get(text) ?? {
      tag: createHash('sha256').update(text).digest('base64url'),
      bytes: {},
    };
    files.set(text, file);

    const coding = encodingFor(request);
    const etag = `"${file.tag}-${coding}"`;
    varyByEncoding(reply);
    reply.headers({ etag, 'cache-control': cacheControl });
    file.bytes[coding] ??= bestEncoders[coding](text).catch((error: unknown) => {
      delete file.bytes[coding];
      throw error;
    });
    const payload = notModifiedUnlessChanged(request, reply, await file.bytes[coding], etag);
    if (coding !== 'identity' && payload !== null) reply.header('content-encoding', coding);
    return payload;
  });
}
