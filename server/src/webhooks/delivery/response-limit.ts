import type { Socket } from 'node:net';

/**
 * The maximum number of bytes that a receiver may send per attempt, including status line, headers, chunk framing and
 * trailers.
 */
const maxResponseBytes = 64 * 1024;

/** The error if a response has too many bytes or too many informational (1xx) responses. */
export class ResponseTooLong extends Error {
  override name = 'ResponseTooLong';
}

/**
 * Destroys the connection if the receiver sends more than 64 KiB for one request. Bytes before the first request also
 * count. This limit is necessary because the HTTP parser has no limit for some parts of a response, such as chunk
 * extensions.
 */
export function limitResponse(socket: Socket): void {
  let bytesWritten = 0;
  let bytesSeen = 0;
  let bytesBefore = 0;
  let isOver = false;
  const destroy = () =>
    socket.destroy(new ResponseTooLong(`the response is longer than ${maxResponseBytes / 1024} KiB`));
  // This listener runs before the listener of the HTTP parser, which is added later.
  socket.on('readable', () => {
    if (isOver) return destroy();
    // A connection transfers one request at a time. Therefore, if more bytes were written, a new attempt has started.
    if (socket.bytesWritten !== bytesWritten) [bytesWritten, bytesBefore] = [socket.bytesWritten, bytesSeen];
    bytesSeen = socket.bytesRead;
    isOver = bytesSeen - bytesBefore > maxResponseBytes;
    // Destroys the connection after the parser has read the current chunk, because the chunk may contain the status and
    // the beginning of the body.
    if (isOver) setImmediate(destroy);
  });
}
