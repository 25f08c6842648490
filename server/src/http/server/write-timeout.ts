import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Cuts off connections whose client doesn't read: nothing of an answer went out for so long. Answers that are read
 * slowly go on. Node's own time-out of a socket begins again with every byte that such a client sends.
 */
export function addWriteTimeout(server: Server, timeoutMs = 30_000): void {
  /** What each connection had waiting, and since when it has been as much. */
  const stalled = new Map<Socket, { bytes: number; since: number }>();

  function look(socket: Socket, now: number): void {
    const bytes = waitingBytes(socket);
    const before = stalled.get(socket);
    if (bytes === 0 || before?.bytes !== bytes) stalled.set(socket, { bytes, since: now });
    else if (now - before.since >= timeoutMs) socket.destroy();
  }

  server.on('connection', (socket: Socket) => {
    stalled.set(socket, { bytes: 0, since: 0 });
    socket.once('close', () => stalled.delete(socket));
  });
  server.on('listening', () => {
    const timer = setInterval(() => {
      const now = performance.now();
      for (const socket of stalled.keys()) look(socket, now);
    }, timeoutMs / 10);
    server.once('close', () => clearInterval(timer));
  });
}

/**
 * What the operating system has not taken yet of what is being written: the next piece is handed over when it has taken
 * all, so that any progress changes it. Node's time-outs look at the same, which has no public name.
 */
function waitingBytes(socket: Socket & { _handle?: { writeQueueSize?: number } | null }): number {
  return socket._handle?.writeQueueSize ?? 0;
}
