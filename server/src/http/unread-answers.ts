import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/**
 * Counts the bytes of each tenant's answers that its clients have asked for and not read: they are kept in memory until
 * they are read or their connections are gone. Answers how many there are.
 * @param tenantOf who asked; undefined for nobody who is known
 */
export function countUnreadAnswers(
  app: FastifyInstance,
  tenantOf: (request: FastifyRequest) => bigint | undefined,
): (tenantId: bigint) => number {
  const unread = new Map<bigint, number>();

  function add(tenantId: bigint, bytes: number): void {
    const sum = (unread.get(tenantId) ?? 0) + bytes;
    if (sum === 0) unread.delete(tenantId);
    else unread.set(tenantId, sum);
  }

  /** What is to be done for the answers of a connection when it closes; those behind others don't notice it themselves. */
  const answersOf = new WeakMap<Socket, Set<() => void>>();

  function track(socket: Socket): Set<() => void> {
    const known = answersOf.get(socket);
    if (known !== undefined) return known;
    const answers = new Set<() => void>();
    answersOf.set(socket, answers);
    socket.once('close', () => {
      for (const end of answers) end();
    });
    return answers;
  }

  app.addHook('onSend', (request, reply, payload, done) => {
    const tenantId = tenantOf(request);
    const { socket } = request.raw;
    const isCounted = typeof payload === 'string' || Buffer.isBuffer(payload);
    if (tenantId !== undefined && isCounted && !socket.destroyed) {
      const bytes = Buffer.byteLength(payload);
      const answers = track(socket);
      const end = () => {
        if (answers.delete(end)) add(tenantId, -bytes);
      };
      add(tenantId, bytes);
      answers.add(end);
      reply.raw.once('close', end);
    }
    done(null, payload);
  });

  return (tenantId) => unread.get(tenantId) ?? 0;
}
