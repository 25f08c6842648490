import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';

/** A request that arrived at the receiver. */
export interface Received {
  headers: Record<string, string>;
  body: string;
  at: number;
}

export interface Receiver {
  url: string;
  port: number;
  received: Received[];
  /** The number of TCP connections since the receiver started. */
  readonly connections: number;
  close(): Promise<void>;
}

/** Responds to a request after the receiver has read the request's body. By default, the receiver responds with 200. */
export type Respond = (request: IncomingMessage, response: ServerResponse, received: Received[]) => void;

interface ReceiverOptions {
  /** The address on which the receiver listens. By default, the IPv4 loopback address. */
  host?: string;
  /** The private key and the certificate for HTTPS. */
  tls?: ServerOptions;
}

/** Starts a webhook receiver on a free port. The receiver records the requests that arrive. */
export async function startReceiver(
  respond: Respond = (_, response) => response.end(),
  { host = '127.0.0.1', tls }: ReceiverOptions = {},
): Promise<Receiver> {
  const received: Received[] = [];
  let connections = 0;
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    // The test can kill the worker while the worker sends a request.
    request.on('error', () => undefined);
    request.on('end', () => {
      const headers = request.headers as Record<string, string>;
      received.push({ headers, body: Buffer.concat(chunks).toString(), at: Date.now() });
      respond(request, response, received);
    });
  };
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  // Keeps idle connections open, because an attempt that reuses a closed connection would fail.
  server.keepAliveTimeout = 60_000;
  server.on('connection', () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}/hook`,
    port,
    received,
    get connections() {
      return connections;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
