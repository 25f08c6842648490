import { connect } from 'node:net';

export interface BareAnswer {
  status: number;
  /** The status line and the headers, in lower case. */
  headers: string;
  body: string;
}

/**
 * Sends text over a TCP connection and returns the response. Rejects if the server closes the connection before the end
 * of the body.
 */
export function sendBare(port: number, text: string): Promise<BareAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let received = '';
    socket.setTimeout(5000, () => socket.destroy(new Error(`No response to ${JSON.stringify(text.slice(0, 80))}`)));
    socket.on('data', (chunk) => {
      received += chunk;
      const [head = '', body] = received.split('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
      if (body === undefined || Buffer.byteLength(body) < length) return;
      resolve({ status: Number(head.split(' ')[1]), headers: head.toLowerCase(), body });
      socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`Closed after ${JSON.stringify(received)}`)));
  });
}
