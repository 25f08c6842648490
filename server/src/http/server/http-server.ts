import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
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
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    continueOnceRead(request, response);
    server.emit('request', request, response);
  });
  // By default, Node.js rejects an unknown `Expect` value with a response that isn't an API error. This server ignores
  // the value, as RFC 9110 §10.1.1 allows.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  addWriteTimeout(server);
  return server;
}

/**
 * Sends `100 Continue` when the server starts to read the body, which is after it has checked the API key, the scope and
 * the size. By default, Node.js sends it before these checks. If the server never reads the body, the response closes
 * the connection, because the client may send the body or not (RFC 9110 §10.1.1).
 */
function continueOnceRead(request: IncomingMessage, response: ServerResponse): void {
  const { shouldKeepAlive } = response;
  response.shouldKeepAlive = false;
  request.once('resume', () => {
    // Node.js also reads the rest of the body after the response.
    if (response.headersSent) return;
    response.shouldKeepAlive = shouldKeepAlive;
    response.writeContinue();
  });
}
