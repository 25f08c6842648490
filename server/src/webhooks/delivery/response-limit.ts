import type { Socket } from 'node:net';

/** Bytes that a receiver may send per attempt: status line, headers, chunk framing and trailers included. */
const maxResponseBytes = 64 * 1024;

/** A receiver sent more than an attempt accepts. */
export class ResponseTooLong extends Error {
  override name = 'ResponseTooLong';
}

/**
 * Destroys a connection when the receiver has sent more than 64 KiB since the last request began, or since the
 * connection opened. The parser limits headers and bodies, but not what lies between them, such as chunk extensions.
 */
export function limitResponse(socket: Socket): void {
  let bytesWritten = 0;
  let bytesSeen = 0;
  let bytesBefore = 0;
  let isOver = false;
  const destroy = () =>
    socket.destroy(new ResponseTooLong(`the response is longer than ${maxResponseBytes / 1024} KiB`));
  // Runs before the parser reads, because it was added first.
  socket.on('readable', () => {
    if (isOver) return destroy();
    // A connection carries one request at a time: a write starts an attempt.
    if (socket.bytesWritten !== bytesWritten) [bytesWritten, bytesBefore] = [socket.bytesWritten, bytesSeen];
    bytesSeen = socket.bytesRead;
    isOver = bytesSeen - bytesBefore > maxResponseBytes;
    // The parser still reads this chunk, which may hold the status and the beginning of the body.
    if (isOver) setImmediate(destroy);
  });
}
