import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/**
 * The status in logs and metrics if the client disconnected before the response. nginx uses the same status. The server
 * never sends it to a client.
 */
export const clientClosed = 499;

type Listener = (request: FastifyRequest, reply: FastifyReply) => void;

/**
 * Calls the listener with the response status when a request ends. A request ends after the response or when the client
 * disconnects. Call this function before you register routes.
 */
export function onEnd(
  app: FastifyInstance,
  listener: (request: FastifyRequest, reply: FastifyReply, status: number) => void,
): void {
  onAbort(app, (request, reply) => listener(request, reply, clientClosed));
  app.addHook('onResponse', (request, reply, done) => {
    listener(request, reply, reply.statusCode);
    done();
  });
}

/** The `onAbort` listeners for each Fastify instance. */
const listeners = new WeakMap<FastifyInstance, Listener[]>();

/**
 * Calls the listener if a client disconnects before it gets the response to a request. In this case, Fastify doesn't
 * call `onResponse`, but the handler still runs to the end. Call this function before you register routes.
 */
export function onAbort(app: FastifyInstance, listener: Listener): void {
  const known = listeners.get(app);
  if (known !== undefined) return void known.push(listener);
  const all = [listener];
  listeners.set(app, all);
  watch(app, (request, reply) => {
    for (const each of all) each(request, reply);
  });
}

function watch(app: FastifyInstance, listener: Listener): void {
  /**
   * The pending requests on each connection. If a pipelined request waits for an earlier response, its socket emits
   * `close`, but its response doesn't.
   */
  const pendingBySocket = new WeakMap<Socket, Map<FastifyRequest, FastifyReply>>();

  function getPending(socket: Socket): Map<FastifyRequest, FastifyReply> {
    const known = pendingBySocket.get(socket);
    if (known !== undefined) return known;
    const pending = new Map<FastifyRequest, FastifyReply>();
    pendingBySocket.set(socket, pending);
    socket.once('close', () => {
      // A request with a completely written response wasn't aborted.
      for (const [request, reply] of pending) if (!reply.raw.writableFinished) listener(request, reply);
      pending.clear();
    });
    return pending;
  }

  app.addHook('onRequest', (request, reply, done) => {
    getPending(request.raw.socket).set(request, reply);
    done();
  });
  app.addHook('onResponse', (request, _, done) => {
    pendingBySocket.get(request.raw.socket)?.delete(request);
    done();
  });
}
