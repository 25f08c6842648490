import type { Socket } from 'node:net';

/** Maximum bytes that a receiver may send per attempt, including status line, headers, chunk framing and trailers. */
const maxResponseBytes = 64 * 1024;

/** The error of an attempt whose response has too many bytes or too many informational responses. */
export class ResponseTooLong extends Error {
  override name = 'ResponseTooLong';
}

/**
 * Destroys a connection when the receiver has sent more than 64 KiB since the last request began, or since the
 * connection opened. The HTTP parser has no limit for some bytes, such as chunk extensions.
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
    // A connection transfers one request at a time, so newly written bytes mean that a new attempt has started.
    if (socket.bytesWritten !== bytesWritten) [bytesWritten, bytesBefore] = [socket.bytesWritten, bytesSeen];
    bytesSeen = socket.bytesRead;
    isOver = bytesSeen - bytesBefore > maxResponseBytes;
    // Destroys the connection only after the parser has read this chunk, because the chunk may contain the status and
    // the beginning of the body.
    if (isOver) setImmediate(destroy);
  });
}
