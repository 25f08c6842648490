import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { FairUseRefused, type Refusal } from '../fair-use.ts';

interface UnreadAnswersOptions {
  /** How much of a tenant's answers may wait to be read by its clients. Bytes. */
  limit: number;
  onRefused(refusal: Refusal): void;
}

/**
 * Answers that a client asks for and doesn't read are kept in memory until it does. When those of a tenant are too many,
 * its next requests are refused until some have been read or their connections are gone (docs/decisions/fair-use.md).
 */
export function boundUnreadAnswers(app: FastifyInstance, { limit, onRefused }: UnreadAnswersOptions): void {
  const unread = new Map<bigint, number>();

  function add(tenantId: bigint, bytes: number): void {
    const sum = (unread.get(tenantId) ?? 0) + bytes;
    if (sum === 0) unread.delete(tenantId);
    else unread.set(tenantId, sum);
  }

  app.addHook('preHandler', (request, _reply, done) => {
    const { tenantId } = request.identity ?? {};
    if (tenantId === undefined || (unread.get(tenantId) ?? 0) <= limit) return done();
    const reason = `${unread.get(tenantId)} bytes of its answers wait to be read`;
    onRefused({ tenantId, cause: 'unread', reason });
    done(new FairUseRefused(reason));
  });

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
    const { tenantId } = request.identity ?? {};
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
}
