import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Closes a connection if its client reads no bytes of a response for `timeoutMs` milliseconds. Clients that read slowly
 * stay connected. The Node.js socket timeout isn't suitable, because it restarts whenever the client sends a byte.
 */
export function addWriteTimeout(server: Server, timeoutMs = 30_000): void {
  /** The number of queued bytes for each connection, and the time when this number last changed. */
  const stalled = new Map<Socket, { bytes: number; since: number }>();

  function checkSocket(socket: Socket, now: number): void {
    const bytes = getQueuedBytes(socket);
    const previous = stalled.get(socket);
    if (bytes === 0 || previous?.bytes !== bytes) stalled.set(socket, { bytes, since: now });
    else if (now - previous.since >= timeoutMs) socket.destroy();
  }

  server.on('connection', (socket: Socket) => {
    stalled.set(socket, { bytes: 0, since: 0 });
    socket.once('close', () => stalled.delete(socket));
  });
  server.on('listening', () => {
    const timer = setInterval(() => {
      const now = performance.now();
      for (const socket of stalled.keys()) checkSocket(socket, now);
    }, timeoutMs / 10);
    server.once('close', () => clearInterval(timer));
  });
}

/**
 * Returns the number of bytes that the operating system has not accepted yet. This number changes whenever the client
 * reads. The property `writeQueueSize` isn't public, but the timeouts in Node.js also read it.
 */
function getQueuedBytes(socket: Socket & { _handle?: { writeQueueSize?: number } | null }): number {
  return socket._handle?.writeQueueSize ?? 0;
}
