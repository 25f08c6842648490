import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** The status of a request whose client was gone before it was answered, as nginx has it: nobody is told of one. */
const clientClosed = 499;

type Tell = (request: FastifyRequest, reply: FastifyReply) => void;

/**
 * Tells of each request when it is over, with its status: when it was answered, or its client was gone before. To be called
 * before any route is registered.
 */
export function onEnd(
  app: FastifyInstance,
  tell: (request: FastifyRequest, reply: FastifyReply, status: number) => void,
): void {
  onAbort(app, (request, reply) => tell(request, reply, clientClosed));
  app.addHook('onResponse', (request, reply, done) => {
    tell(request, reply, reply.statusCode);
    done();
  });
}

/** Who is told, of each app. */
const listeners = new WeakMap<FastifyInstance, Tell[]>();

/**
 * Tells of requests whose clients are gone before they were answered: `onResponse` is never called for them. What was begun is
 * done all the same, and nobody learns what came of it. To be called before any route is registered.
 */
export function onAbort(app: FastifyInstance, tell: Tell): void {
  const known = listeners.get(app);
  if (known !== undefined) return void known.push(tell);
  const all = [tell];
  listeners.set(app, all);
  watch(app, (request, reply) => {
    for (const each of all) each(request, reply);
  });
}

function watch(app: FastifyInstance, tell: Tell): void {
  /** The requests of each connection that are not answered: those behind others don't notice themselves that it closes. */
  const openOn = new WeakMap<Socket, Map<FastifyRequest, FastifyReply>>();

  function openOf(socket: Socket): Map<FastifyRequest, FastifyReply> {
    const known = openOn.get(socket);
    if (known !== undefined) return known;
    const open = new Map<FastifyRequest, FastifyReply>();
    openOn.set(socket, open);
    socket.once('close', () => {
      // What was written to its end counts as answered.
      for (const [request, reply] of open) if (!reply.raw.writableFinished) tell(request, reply);
      open.clear();
    });
    return open;
  }

  app.addHook('onRequest', (request, reply, done) => {
    openOf(request.raw.socket).set(request, reply);
    done();
  });
  app.addHook('onResponse', (request, _, done) => {
    openOn.get(request.raw.socket)?.delete(request);
    done();
  });
}
