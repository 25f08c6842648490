import type { FastifyInstance } from 'fastify';
import { malformedUrl } from './error-handler.ts';

/**
 * Rejects requests whose query isn't percent-encoded UTF-8. Fastify would keep such values encoded, so the server would
 * store the text `%ff`. Fastify itself rejects such paths.
 */
export function addQueryCheck(app: FastifyInstance): void {
  app.addHook('onRequest', ({ url }, _reply, done) => done(isDecodable(url) ? undefined : malformedUrl('query')));
}

function isDecodable(url: string): boolean {
  if (!url.includes('%')) return true;
  try {
    decodeURIComponent(url);
    return true;
  } catch {
    return false;
  }
}
