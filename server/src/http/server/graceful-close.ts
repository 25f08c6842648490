import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Lifecycle } from '../../shared/lifecycle.ts';
import { endsWithin } from '../../shared/timeout.ts';

/**
 * Time limits in milliseconds, counted from the start of the shutdown. Requests must arrive completely within
 * `maxArrivalMs`. Responses must end within `maxResponseMs`.
 */
const maxArrivalMs = 1000;
const maxResponseMs = 11_000;

/**
 * Ensures that a graceful shutdown closes all connections within `maxResponseMs`. During the shutdown, responses have
 * the header `Connection: close` (RFC 9112 §9.6).
 */
export function closeConnectionsGracefully(app: FastifyInstance, lifecycle: Lifecycle): void {
  const close = createClose(app.server);
  app.addHook('preClose', () => {
    lifecycle.enter('stopping');
    return close();
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (lifecycle.phase === 'stopping') reply.header('connection', 'close');
    done(null, payload);
  });
}

/**
 * Returns a function that closes the server. The server stops accepting connections, responds to requests that have
 * arrived completely, and closes all other connections. By default, Node.js would wait for clients that are idle or
 * have sent only part of a request.
 */
function createClose(server: Server): () => Promise<void> {
  /** The pending requests of each connection. */
  const connections = new Map<Socket, Set<IncomingMessage>>();
  server.on('connection', (socket: Socket) => {
    connections.set(socket, new Set());
    socket.once('close', () => connections.delete(socket));
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const pending = connections.get(request.socket);
    pending?.add(request);
    response.once('close', () => pending?.delete(request));
  });

  async function closeIncomplete(closed: Promise<void>): Promise<void> {
    await sleep(maxArrivalMs, undefined, { ref: false });
    do {
      for (const [socket, pending] of connections) {
        if (![...pending].some(({ complete }) => complete)) socket.destroy();
      }
    } while (!(await endsWithin(100, closed)));
  }

  return async () => {
    // `server.close` calls the callback even if the server never listened.
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    if (await endsWithin(maxResponseMs, Promise.race([closed, closeIncomplete(closed)]))) return;
    server.closeAllConnections();
    await closed;
  };
}
