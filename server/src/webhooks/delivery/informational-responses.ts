import type { Socket } from 'node:net';
import { ResponseTooLong } from './response-limit.ts';

/** The maximum number of informational (1xx) responses before the final response. */
const maxInformational = 5;

/** A status line with an informational status, up to the first byte after the status. */
const informationalStatus = /^HTTP\/1\.[01] 1\d\d[ \r\n]/;

/** An example that `informationalStatus` matches. It completes the beginning of a status line. */
const exampleStatus = 'HTTP/1.1 100 ';

const noBytes = Buffer.alloc(0);

/**
 * Removes the informational responses before each final response from the bytes that the HTTP parser reads from the
 * socket. A receiver may send them at any time (RFC 9110, section 15.2). However, undici closes the connection after a
 * 100, and after an informational response of HTTP/1.0 or with `Connection: close`. Destroys the connection after a 101,
 * because the receiver then no longer uses HTTP.
 */
export function removeInformational(socket: Socket): void {
  const read = socket.read.bind(socket);
  let { bytesWritten } = socket;
  let isFinal = true;
  let isInHeaders = false;
  let count = 0;
  /** The last bytes, if their meaning depends on the following bytes. */
  let unread = '';

  /** Returns the bytes of the chunk that belong to the final response. */
  const findFinal = (chunk: Buffer): Buffer => {
    let text = unread + chunk.toString('latin1');
    while (!socket.destroyed) {
      if (isInHeaders) {
        const end = /\n\r?\n/.exec(text);
        unread = text.slice(-2);
        if (end === null) return noBytes;
        text = text.slice(end.index + end[0].length);
        isInHeaders = false;
      }
      // The HTTP parser also ignores empty lines before a status line.
      text = text.replace(/^[\r\n]+/, '');
      unread = text.slice(0, exampleStatus.length);
      isFinal = !informationalStatus.test(unread + exampleStatus.slice(unread.length));
      if (isFinal) return Buffer.from(text, 'latin1');
      if (unread.length < exampleStatus.length) return noBytes;
      isInHeaders = true;
      if (unread.startsWith('101', 9)) socket.destroy(new Error('the receiver requested an upgrade (101)'));
      if (++count > maxInformational) {
        socket.destroy(new ResponseTooLong(`more than ${maxInformational} informational responses`));
      }
    }
    return noBytes;
  };

  socket.read = (size) => {
    const chunk: Buffer | null = read(size);
    if (chunk === null) return null;
    // A connection transfers one request at a time. Therefore, if more bytes were written, a new attempt has started.
    if (socket.bytesWritten !== bytesWritten) {
      ({ bytesWritten } = socket);
      [isFinal, isInHeaders, count, unread] = [false, false, 0, ''];
    }
    return isFinal ? chunk : findFinal(chunk);
  };
}
