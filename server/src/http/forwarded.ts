import type { FastifyInstance } from 'fastify';
import { forwardedHeaders } from '../config/is-local-only.ts';

/**
 * Logs one warning per process if a request carries a forwarded header that is ignored: behind such a proxy, every request
 * has the proxy's address. Fastify sets `ips` where TRUST_PROXY is set, and fills in more than the sender's address if
 * it trusts the sender's `X-Forwarded-For`.
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
