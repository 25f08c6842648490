import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../shared/errors.ts';
import { headerValues } from './server/raw-headers.ts';

/** A name or an address, and perhaps a port (RFC 3986 §3.2.2); empty for a target that has none. */
const hostPattern = /^(\[[\w.~!$&'()*+,;=:-]+\]|([\w.~!$&'()*+,;=-]|%[0-9a-f]{2})*)(:\d*)?$/i;

/** Refuses requests that don't say one host, as RFC 9112 §3.2 asks; only HTTP/1.0 may leave it out. */
export function addHostCheck(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    const fault = hostFault(raw);
    done(fault === undefined ? undefined : new ApiError('VALIDATION_ERROR', fault));
  });
}

function hostFault(request: IncomingMessage): string | undefined {
  const [host, ...others] = headerValues(request, 'host');
  if (others.length > 0) return 'The request has several `Host` headers. Send one.';
  if (host === undefined)
    return request.httpVersion === '1.0' ? undefined : 'The request has no `Host` header. Send one.';
  return hostPattern.test(host)
    ? undefined
    : 'The `Host` header is malformed. Send a host name or IP address, optionally with a port.';
}
