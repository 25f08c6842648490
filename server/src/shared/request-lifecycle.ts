import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** The status of a request whose client disconnected before the response, as in nginx. It is never sent. */
const clientClosed = 499;

type Listener = (request: FastifyRequest, reply: FastifyReply) => void;

/**
 * Calls the listener when a request ends, with its status: after the response, or when the client disconnects. Call it
 * before you register routes.
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

/** The listeners of each app. */
const listeners = new WeakMap<FastifyInstance, Listener[]>();

/**
 * Calls the listener for each request whose client disconnects before the response. Fastify doesn't call `onResponse` for
 * these requests, and their handlers still run to the end. Call it before you register routes.
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
  /** The pending requests of each connection. Pipelined requests behind others get no `close` event of their own. */
  const pendingBySocket = new WeakMap<Socket, Map<FastifyRequest, FastifyReply>>();

  function getPending(socket: Socket): Map<FastifyRequest, FastifyReply> {
    const known = pendingBySocket.get(socket);
    if (known !== undefined) return known;
    const pending = new Map<FastifyRequest, FastifyReply>();
    pendingBySocket.set(socket, pending);
    socket.once('close', () => {
      // A response that was written completely counts as sent.
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
