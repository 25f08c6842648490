import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { TenantId } from '../../shared/tenant-id.ts';

/**
 * Counts the response bytes that each tenant's clients have not read yet. Unread bytes stay in memory until the client
 * reads them or the connection closes. Returns a function that returns the count for a tenant.
 * @param tenantOf returns the tenant of a request, or undefined if the request is not authenticated
 */
export function countUnreadBytes(
  app: FastifyInstance,
  tenantOf: (request: FastifyRequest) => TenantId | undefined,
): (tenantId: TenantId) => number {
  const unread = new Map<TenantId, number>();

  function add(tenantId: TenantId, bytes: number): void {
    const sum = (unread.get(tenantId) ?? 0) + bytes;
    if (sum === 0) unread.delete(tenantId);
    else unread.set(tenantId, sum);
  }

  /**
   * The callbacks to run when a connection closes. They are needed because a pipelined response emits no `close` event
   * if the server hasn't sent it yet.
   */
  const handlersBySocket = new WeakMap<Socket, Set<() => void>>();

  function track(socket: Socket): Set<() => void> {
    const existing = handlersBySocket.get(socket);
    if (existing !== undefined) return existing;
    const handlers = new Set<() => void>();
    handlersBySocket.set(socket, handlers);
    socket.once('close', () => {
      for (const end of handlers) end();
    });
    return handlers;
  }

  /** Runs a callback once, when the client has read the response or the connection closes. */
  function onceRead({ request, raw }: FastifyReply, callback: () => void): void {
    const handlers = track(request.raw.socket);
    const end = () => {
      if (handlers.delete(end)) callback();
    };
    handlers.add(end);
    raw.once('close', end);
  }

  /**
   * Counts the bytes of a streamed file chunk by chunk. Produces a chunk only after the client has read the previous
   * one. Ends together with the last chunk, without another read of the file. A client can close the connection after
   * the last byte, and must not count as disconnected.
   */
  function countChunks(reply: FastifyReply, tenantId: TenantId, file: Readable): Readable {
    const closed = Promise.withResolvers<void>();
    // NaN if the length is unknown, as for CSV files.
    let remaining = Number(reply.getHeader('content-length'));
    async function* chunks(): AsyncGenerator<string | Buffer> {
      for await (const chunk of file) {
        const bytes = Buffer.byteLength(chunk);
        remaining -= bytes;
        add(tenantId, bytes);
        try {
          yield chunk;
          if (reply.raw.writableNeedDrain) await Promise.race([once(reply.raw, 'drain'), closed.promise]);
          if (counted.destroyed || remaining === 0) return;
        } finally {
          add(tenantId, -bytes);
        }
      }
    }
    const counted = Readable.from(chunks());
    onceRead(reply, () => {
      closed.resolve();
      counted.destroy();
    });
    return counted;
  }

  app.addHook('onSend', (request, reply, payload, done) => {
    const tenantId = tenantOf(request);
    if (tenantId === undefined || request.raw.socket.destroyed) return done(null, payload);
    if (payload instanceof Readable) return done(null, countChunks(reply, tenantId, payload));
    if (typeof payload === 'string' || Buffer.isBuffer(payload)) {
      const bytes = Buffer.byteLength(payload);
      add(tenantId, bytes);
      onceRead(reply, () => add(tenantId, -bytes));
    }
    done(null, payload);
  });

  return (tenantId) => unread.get(tenantId) ?? 0;
}
