import type { FastifyInstance } from 'fastify';
import { forwardedHeaders } from '../config/is-local-only.ts';

/**
 * Logs one warning per process if a request has a forwarded header that the server ignores. Without TRUST_PROXY, all
 * requests from behind a proxy have the proxy's address. Fastify sets `ips` if TRUST_PROXY is set. It has more than one
 * address if Fastify trusts the sender's `X-Forwarded-For`.
 */
export function warnAboutUntrustedProxy(app: FastifyInstance): void {
  let hasWarned = false;
  app.addHook('onRequest', (request, _reply, done) => {
    if (hasWarned) return done();
    const header = forwardedHeaders.find((name) => request.headers[name] !== undefined);
    if (header === undefined || (request.ips?.length ?? 1) > 1) return done();
    hasWarned = true;
    request.log.warn(
      { header, from: request.socket.remoteAddress },
      "a forwarded header was ignored: if your proxy sent it, set TRUST_PROXY to the proxy's address and have the proxy send X-Forwarded-For",
    );
    done();
  });
}
