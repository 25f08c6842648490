import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../shared/errors.ts';
import { headerValues } from './server/raw-headers.ts';

/**
 * Matches the value of a `Host` header: a host name or IP address with an optional port (RFC 3986 §3.2.2). It also
 * matches the empty value, which clients send if the request target has no host.
 */
const hostPattern = /^(\[[\w.~!$&'()*+,;=:-]+\]|([\w.~!$&'()*+,;=-]|%[0-9a-f]{2})*)(:\d*)?$/i;

/** Rejects requests without exactly one valid `Host` header (RFC 9112 §3.2). HTTP/1.0 requests may omit the header. */
export function addHostCheck(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    const problem = findHostError(raw);
    done(problem === undefined ? undefined : new ApiError('VALIDATION_ERROR', problem));
  });
}

function findHostError(request: IncomingMessage): string | undefined {
  const [host, ...others] = headerValues(request, 'host');
  if (others.length > 0) return 'The request has several `Host` headers. Send one.';
  if (host === undefined)
    return request.httpVersion === '1.0' ? undefined : 'The request has no `Host` header. Send one.';
  return hostPattern.test(host)
    ? undefined
    : 'The `Host` header is malformed. Send a host name or IP address, optionally with a port.';
}
