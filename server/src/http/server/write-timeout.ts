import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** The time in milliseconds after which a download ends, even if the client reads it. */
const maxDownloadMs = 15 * 60_000;

/** A download, with the times in milliseconds at which the server closes its connection. */
interface Download {
  response: ServerResponse;
  timeoutMs: number;
  endsAt: number;
}

/** The downloads of each connection. If requests are pipelined, only the oldest one has a socket. */
const downloads = new WeakMap<Socket, Download[]>();

/**
 * Closes a connection if its client reads no bytes of a response for `timeoutMs` milliseconds. For downloads, another
 * timeout applies (`allowSlowDownload`). The Node.js socket timeout isn't suitable, because it restarts whenever the
 * client sends a byte.
 */
export function addWriteTimeout(server: Server, timeoutMs = 30_000): void {
  /** The number of bytes that each connection has accepted, and the time when this number last changed. */
  const progress = new Map<Socket, { bytes: number; since: number }>();

  function checkSocket(socket: Socket, now: number): void {
    const { accepted, queued } = getWrittenBytes(socket);
    const previous = progress.get(socket);
    const download = downloads.get(socket)?.find(({ response }) => response.socket === socket);
    if (queued === 0 || previous?.bytes !== accepted) progress.set(socket, { bytes: accepted, since: now });
    else if (now - previous.since >= (download?.timeoutMs ?? timeoutMs)) socket.destroy();
    if (download !== undefined && now >= download.endsAt) socket.destroy();
  }

  server.on('connection', (socket: Socket) => {
    progress.set(socket, { bytes: 0, since: 0 });
    socket.once('close', () => progress.delete(socket));
  });
  server.on('listening', () => {
    const timer = setInterval(() => {
      const now = performance.now();
      for (const socket of progress.keys()) checkSocket(socket, now);
    }, timeoutMs / 10);
    server.once('close', () => clearInterval(timer));
  });
}

/** Applies `allowSlowDownload` to the endpoints whose response is a file. */
export function allowSlowDownloads(app: FastifyInstance, timeoutMs: number): void {
  app.addHook('preHandler', (request, reply, done) => {
    if (request.routeOptions.config.tsRestRoute?.metadata.binary === 'response')
      allowSlowDownload(reply.raw, timeoutMs);
    done();
  });
}

/**
 * Makes the server close the connection of a response only if its client reads no bytes for `timeoutMs` milliseconds, or
 * after 15 minutes. A buffer of the operating system can contain several MiB. It accepts more bytes only after the
 * client has read a large part of it, which takes a slow client longer than 30 seconds.
 */
export function allowSlowDownload(response: ServerResponse, timeoutMs: number): void {
  const { socket } = response.req;
  const unfinished = downloads.get(socket)?.filter((download) => !download.response.writableFinished) ?? [];
  downloads.set(socket, [...unfinished, { response, timeoutMs, endsAt: performance.now() + maxDownloadMs }]);
}

interface StreamHandle {
  bytesWritten: number;
  writeQueueSize: number;
}

/**
 * Returns the number of bytes that the operating system has accepted, and of bytes that it has not accepted yet. The
 * properties of the handle aren't public, but the timeouts in Node.js also read them.
 */
function getWrittenBytes(socket: Socket & { _handle?: StreamHandle | null }): { accepted: number; queued: number } {
  const { bytesWritten = 0, writeQueueSize: queued = 0 } = socket._handle ?? {};
  return { accepted: bytesWritten - queued, queued };
}
