import { createServer, type RequestListener, type Server } from 'node:http';
import { limitPipelining } from './pipelining-limit.ts';
import { addWriteTimeout } from './write-timeout.ts';

/** The server below Fastify: how long it waits for clients, and how much it takes from one of them. */
export function createHttpServer(handler: RequestListener): Server {
  const server = createServer(
    // A missing `Host` is answered by http/host.ts, in an envelope.
    { requireHostHeader: false, requestTimeout: 30_000, keepAliveTimeout: 72_000, connectionsCheckingInterval: 1000 },
    limitPipelining(handler),
  );
  // Node answers an unknown `Expect` by itself, without an envelope; an expectation may be ignored (RFC 9110 §10.1.1).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  addWriteTimeout(server);
  return server;
}
