import type { IncomingMessage, RequestListener, Server } from 'node:http';

const timers = new WeakMap<IncomingMessage, NodeJS.Timeout>();

/**
 * Makes the server close a connection if the body of a request doesn't arrive within `server.headersTimeout`. For
 * uploads, `server.requestTimeout` applies instead. Node.js itself applies only one timeout to the bodies of all requests.
 */
export function limitArrival(handler: RequestListener, getServer: () => Server): RequestListener {
  return (request, response) => {
    if (!request.complete && hasBody(request)) {
      const onLate = () => {
        if (!request.complete) getServer().emit('clientError', new RequestTimeout(), request.socket);
      };
      timers.set(request, setTimeout(onLate, getServer().headersTimeout));
      request.once('close', () => clearTimeout(timers.get(request)));
    }
    handler(request, response);
  };
}

/** Allows the body of a request to arrive within `server.requestTimeout`. */
export function allowLongArrival(request: IncomingMessage): void {
  clearTimeout(timers.get(request));
}

/** The error that Node.js also reports if a request doesn't arrive in time. */
class RequestTimeout extends Error {
  readonly code = 'ERR_HTTP_REQUEST_TIMEOUT';
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
