import { createServer, type RequestListener, type Server } from 'node:http';
import { limitPipelining } from './pipelining-limit.ts';
import { addWriteTimeout } from './write-timeout.ts';

/** Creates the HTTP server that Fastify uses, with its timeouts and the pipelining limit. */
export function createHttpServer(handler: RequestListener): Server {
  const server = createServer(
    // `requireHostHeader` is off, because http/host-check.ts rejects a missing `Host` with an error of the API.
    { requireHostHeader: false, requestTimeout: 30_000, keepAliveTimeout: 72_000, connectionsCheckingInterval: 1000 },
    limitPipelining(handler),
  );
  // By default, Node.js rejects an unknown `Expect` without an error of the API. A server may ignore the header (RFC
  // 9110 §10.1.1).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  addWriteTimeout(server);
  return server;
}
