import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { TenantId } from '../../shared/tenant-id.ts';

/**
 * Counts the bytes of each tenant's answers that its clients have asked for and not read: they are kept in memory until
 * they are read or their connections are gone. Answers how many there are.
 * @param tenantOf who asked; undefined for nobody who is known
 */
export function countUnsentBytes(
  app: FastifyInstance,
  tenantOf: (request: FastifyRequest) => TenantId | undefined,
): (tenantId: TenantId) => number {
  const unread = new Map<TenantId, number>();

  function add(tenantId: TenantId, bytes: number): void {
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

  /** Has something done when the answer was read, or its connection is gone. */
  function whenRead({ request, raw }: FastifyReply, act: () => void): void {
    const answers = track(request.raw.socket);
    const end = () => {
      if (answers.delete(end)) act();
    };
    answers.add(end);
    raw.once('close', end);
  }

  /** A file that is made while it is read: each part counts until it was read, and the next one is made then. */
  function countParts(reply: FastifyReply, tenantId: TenantId, file: Readable): Readable {
    const over = Promise.withResolvers<void>();
    async function* parts(): AsyncGenerator<string | Buffer> {
      for await (const part of file) {
        const bytes = Buffer.byteLength(part);
        add(tenantId, bytes);
        try {
          yield part;
          if (reply.raw.writableNeedDrain) await Promise.race([once(reply.raw, 'drain'), over.promise]);
          if (counted.destroyed) return;
        } finally {
          add(tenantId, -bytes);
        }
      }
    }
    const counted = Readable.from(parts());
    whenRead(reply, () => {
      over.resolve();
      counted.destroy();
    });
    return counted;
  }

  app.addHook('onSend', (request, reply, payload, done) => {
    const tenantId = tenantOf(request);
    if (tenantId === undefined || request.raw.socket.destroyed) return done(null, payload);
    if (payload instanceof Readable) return done(null, countParts(reply, tenantId, payload));
    if (typeof payload === 'string' || Buffer.isBuffer(payload)) {
      const bytes = Buffer.byteLength(payload);
      add(tenantId, bytes);
      whenRead(reply, () => add(tenantId, -bytes));
    }
    done(null, payload);
  });

  return (tenantId) => unread.get(tenantId) ?? 0;
}
