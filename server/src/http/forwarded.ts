import type { FastifyInstance } from 'fastify';
import { forwardedHeaders } from '../config/is-local-only.ts';

/**
 * Logs a warning, once per process, if the server ignores a forwarding header such as `X-Forwarded-For`. If TRUST_PROXY
 * isn't set, the server uses the proxy's address as the address of all clients behind the proxy. If Fastify trusts the
 * proxy's `X-Forwarded-For` header, `request.ips` contains several addresses, so there is no warning.
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
