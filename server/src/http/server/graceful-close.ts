import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Lifecycle } from '../../shared/lifecycle.ts';
import { endsWithin } from '../../shared/timeout.ts';

/** Once a server closes: how long requests may still come in, and how long they may take to be answered. Milliseconds. */
const arrivalMs = 1000;
const answerMs = 11_000;

/**
 * Ends connections with the answers that are given while the process stops (RFC 9112 §9.6), and has the server close in
 * time, whatever its clients do.
 */
export function closeConnectionsGracefully(app: FastifyInstance, lifecycle: Lifecycle): void {
  const end = endOf(app.server);
  app.addHook('preClose', () => {
    lifecycle.enter('stopping');
    return end();
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (lifecycle.phase === 'stopping') reply.header('connection', 'close');
    done(null, payload);
  });
}

/**
 * What closes a server: it takes no connections any more, what has come in is answered, and the rest is cut off. Node
 * alone would wait for whoever is connected and has sent nothing, or half a request.
 */
function endOf(server: Server): () => Promise<void> {
  /** The requests of each connection that are not answered. */
  const connections = new Map<Socket, Set<IncomingMessage>>();
  server.on('connection', (socket: Socket) => {
    connections.set(socket, new Set());
    socket.once('close', () => connections.delete(socket));
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const unanswered = connections.get(request.socket);
    unanswered?.add(request);
    response.once('close', () => unanswered?.delete(request));
  });

  async function cutOff(closed: Promise<void>): Promise<void> {
    await sleep(arrivalMs, undefined, { ref: false });
    do {
      for (const [socket, unanswered] of connections) {
        if (![...unanswered].some(({ complete }) => complete)) socket.destroy();
      }
    } while (!(await endsWithin(100, closed)));
  }

  return async () => {
    // That it has never listened is all the same.
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    if (await endsWithin(answerMs, Promise.race([closed, cutOff(closed)]))) return;
    server.closeAllConnections();
    await closed;
  };
}
