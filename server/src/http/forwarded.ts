import type { FastifyInstance } from 'fastify';
import { forwardedHeaders } from '../config/is-local-only.ts';

/**
 * Logs a warning, once per process, if the server ignores a forwarded header of a request. Without the setting
 * TRUST_PROXY, the server uses the address of the proxy as the address of all clients behind it. Fastify sets `ips`
 * only if TRUST_PROXY is set. `ips` contains more than one address only if Fastify trusts the `X-Forwarded-For` header
 * of the sender.
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
