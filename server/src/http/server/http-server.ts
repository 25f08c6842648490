import { createServer, type RequestListener, type Server } from 'node:http';
import { attachmentLimits } from '@itsm-api/contract';
import { limitArrival } from './arrival-timeout.ts';
import { limitPipelining } from './pipelining-limit.ts';
import { addWriteTimeout } from './write-timeout.ts';

/** Creates the HTTP server that Fastify uses. Sets its timeouts and the pipelining limit. */
export function createHttpServer(handler: RequestListener): Server {
  const server: Server = createServer(
    {
      // `requireHostHeader` is off, because http/host-check.ts responds to a missing `Host` header with an API error.
      requireHostHeader: false,
      headersTimeout: 30_000,
      requestTimeout: attachmentLimits.maxUploadMinutes * 60_000,
      keepAliveTimeout: 72_000,
      connectionsCheckingInterval: 1000,
    },
    limitArrival(limitPipelining(handler), () => server),
  );
  // By default, Node.js rejects an unknown `Expect` value with a response that isn't an API error. This server ignores
  // the value, as RFC 9110 §10.1.1 allows.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  addWriteTimeout(server);
  return server;
}
