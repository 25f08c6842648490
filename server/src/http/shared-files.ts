import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { bestEncoders, type Encoding, encodingFor, varyByEncoding } from '../shared/content/content-encoding.ts';
import { notModifiedUnlessChanged } from './conditional-requests.ts';

/** A file that has the same content in all responses. */
interface SharedFile {
  /** A hash of the content for the ETag. */
  tag: string;
  bytes: Partial<Record<Encoding, Promise<Buffer>>>;
}

/**
 * Serves files that don't change while the process runs. The server compresses a file when it is first requested. All
 * responses share the compressed bytes, so slow clients don't use additional memory.
 * @param cacheControl the value of the `Cache-Control` header
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

    const encoding = encodingFor(request);
    const etag = `"${file.tag}-${encoding}"`;
    varyByEncoding(reply);
    reply.headers({ etag, 'cache-control': cacheControl });
    file.bytes[encoding] ??= bestEncoders[encoding](text).catch((error: unknown) => {
      delete file.bytes[encoding];
      throw error;
    });
    const payload = notModifiedUnlessChanged(request, reply, await file.bytes[encoding], etag);
    if (encoding !== 'identity' && payload !== null) reply.header('content-encoding', encoding);
    return payload;
  });
}
