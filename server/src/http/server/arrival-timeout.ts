import type { IncomingMessage, RequestListener, Server } from 'node:http';
import { attachmentLimits } from '@itsm-api/contract';

/** For each request whose body is arriving, a function that replaces its time limit by a minimum rate. */
const longArrivals = new WeakMap<IncomingMessage, (windowMs: number) => void>();

/**
 * Makes the server close a connection if the body of a request doesn't arrive within `server.headersTimeout`. For
 * uploads, a minimum rate and `server.requestTimeout` apply instead. Node.js itself applies only one timeout to the bodies
 * of all requests.
 */
export function limitArrival(handler: RequestListener, getServer: () => Server): RequestListener {
  return (request, response) => {
    if (!request.complete && hasBody(request)) {
      const onLate = () => {
        clearTimeout(timer);
        if (!request.complete) getServer().emit('clientError', new RequestTimeout(), request.socket);
      };
      let timer = setTimeout(onLate, getServer().headersTimeout);
      longArrivals.set(request, (windowMs) => {
        clearTimeout(timer);
        timer = watchRate(request, windowMs, onLate);
      });
      request.once('close', () => clearTimeout(timer));
    }
    handler(request, response);
  };
}

/**
 * Allows the body of a request to arrive within `server.requestTimeout`, unless it is slower than the minimum rate for
 * `windowMs` milliseconds. Without this rate, two clients could hold half of the uploads of their workspace.
 */
export function allowLongArrival(request: IncomingMessage, windowMs = attachmentLimits.maxIdleSeconds * 1000): void {
  longArrivals.get(request)?.(windowMs);
}

/** Calls a function if a request is slower than the minimum rate for `windowMs` milliseconds. */
function watchRate(request: IncomingMessage, windowMs: number, onSlow: () => void): NodeJS.Timeout {
  const intervalMs = windowMs / 30;
  let remainingMs = windowMs;
  let bytesRead = request.socket.bytesRead;
  return setInterval(() => {
    const bytes = request.socket.bytesRead - bytesRead;
    bytesRead += bytes;
    // While the server doesn't read, the client can't send.
    const isWaiting = request.readableLength > 0;
    const gainedMs = isWaiting ? intervalMs : (bytes * 1000) / attachmentLimits.minUploadBytesPerSecond;
    remainingMs = Math.min(windowMs, remainingMs - intervalMs + gainedMs);
    if (remainingMs <= 0) onSlow();
  }, intervalMs);
}

/** The error that Node.js also reports if a request doesn't arrive in time. */
class RequestTimeout extends Error {
  readonly code = 'ERR_HTTP_REQUEST_TIMEOUT';
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
