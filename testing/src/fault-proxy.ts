import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A fault of one request:
 * - `status`: the response has this status. The server doesn't get the request.
 * - `disconnect`: the connection is closed after the server has processed the request.
 * - `delayMs`: the server gets the request after this number of milliseconds.
 */
export type Fault = { status: number; retryAfterSeconds?: number } | { disconnect: true } | { delayMs: number };

export interface FaultProxy {
  url: string;
  failNext(fault: Fault): void;
  close(): Promise<void>;
}

/** The error codes of the API, by status. With any other status, the response has no error code, as from a proxy. */
const codes: Record<number, string> = {
  400: 'VALIDATION_ERROR',
  401: 'INVALID_API_KEY',
  403: 'INSUFFICIENT_SCOPE',
  404: 'NOT_FOUND',
  409: 'IDEMPOTENCY_IN_PROGRESS',
  412: 'PRECONDITION_FAILED',
  429: 'RATE_LIMIT_EXCEEDED',
  500: 'INTERNAL_ERROR',
  503: 'SERVICE_UNAVAILABLE',
};

/** Starts an HTTP proxy in front of a server. The proxy doesn't keep the process alive. */
export async function startFaultProxy(serverUrl: string): Promise<FaultProxy> {
  const faults: Fault[] = [];
  const proxy = createServer(async (request, response) => {
    const fault = faults.shift();
    if (fault !== undefined && 'status' in fault) return respondWithError(response, fault);
    if (fault !== undefined && 'delayMs' in fault) await sleep(fault.delayMs);
    if (!response.destroyed) forward(request, response, fault !== undefined && 'disconnect' in fault);
  });
  // An open connection would also keep the process alive, until its keep-alive time ends.
  proxy.on('connection', (socket) => socket.unref());
  proxy.unref().listen(0, '127.0.0.1');
  await once(proxy, 'listening');

  function forward(request: IncomingMessage, response: ServerResponse, disconnects: boolean): void {
    const { method, headers } = request;
    const upstream = sendRequest(new URL(request.url ?? '/', serverUrl), { method, headers });
    // The client sees what it would see if the server closed the connection.
    upstream.on('error', () => request.socket.destroy());
    upstream.on('response', (received) => {
      if (disconnects) {
        received.resume().on('end', () => request.socket.destroy());
      } else {
        response.writeHead(received.statusCode ?? 502, received.rawHeaders);
        pipeline(received, response, () => undefined);
      }
    });
    response.on('close', () => upstream.destroy());
    request.pipe(upstream);
  }

  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    failNext: (fault) => faults.push(fault),
    async close() {
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}

function respondWithError(
  response: ServerResponse,
  { status, retryAfterSeconds }: Extract<Fault, { status: number }>,
): void {
  const code = codes[status];
  const requestId = 'test-fault';
  const retry = retryAfterSeconds === undefined ? undefined : { 'retry-after': String(retryAfterSeconds) };
  const message = `The test requested status ${status} with failNext.`;
  response.writeHead(status, {
    'content-type': code === undefined ? 'text/plain' : 'application/json; charset=utf-8',
    'x-request-id': requestId,
    ...retry,
  });
  const error = { code, message, retryAfterSeconds, docs: `/docs/errors#${code}`, requestId };
  response.end(code === undefined ? message : JSON.stringify({ success: false, error }));
}
