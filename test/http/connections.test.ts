import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHttpServer } from '@itsm-api/server/http/server/http-server.ts';
import { addWriteTimeout } from '@itsm-api/server/http/server/write-timeout.ts';
import { afterEach, describe, expect, it } from 'vitest';

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Starts the server and connects a client. Returns the client socket and the server socket. */
async function openConnection(server: Server): Promise<{ client: Socket; served: Socket }> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined);
  closers.push(
    () => server.close(),
    () => client.destroy(),
  );
  const [served] = (await once(server, 'connection')) as [Socket];
  return { client, served };
}

const get = (path: number | string) => `GET /${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const post = (path: number, body: string) =>
  `POST /${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

describe('pipelined requests', () => {
  it('runs at most 64 pipelined requests concurrently, but responds in request order', async () => {
    let working = 0;
    let maxWorking = 0;
    const server = createHttpServer(async (request, response) => {
      maxWorking = Math.max(maxWorking, ++working);
      let body = '';
      for await (const chunk of request) body += chunk;
      await sleep(1);
      working--;
      response.end(`<${request.url} ${body}>`);
    });
    const { client } = await openConnection(server);
    const count = 1000;
    let received = '';
    const all = new Promise<void>((resolve) => {
      client.on('data', (chunk) => {
        received += chunk;
        if (received.includes(`</${count - 1} `)) resolve();
      });
    });
    const requests = Array.from({ length: count }, (_, i) => (i % 2 === 0 ? get(i) : post(i, `body ${i}`)));
    client.write(requests.join(''));
    await all;
    expect([...received.matchAll(/<\/(\d+) (.*?)>/g)].map(([, path, body]) => [Number(path), body])).toEqual(
      Array.from({ length: count }, (_, i) => [i, i % 2 === 0 ? '' : `body ${i}`]),
    );
    expect(maxWorking).toBe(64);
  });

  it('stops reading from a connection while 64 pipelined requests wait for a response', async () => {
    const unanswered: ServerResponse[] = [];
    const { client, served } = await openConnection(
      createHttpServer((_request, response) => unanswered.push(response)),
    );
    // The requests are larger than the socket buffers of the client and the server.
    const flood = get('x'.repeat(1000)).repeat(20_000);
    client.write(flood);
    await expect.poll(() => unanswered.length).toBe(64);
    let read = -1;
    while (read !== served.bytesRead) {
      read = served.bytesRead;
      await sleep(100);
    }
    expect(read).toBeLessThan(500_000);
    expect(unanswered).toHaveLength(64);

    for (const response of unanswered.splice(0, 10)) response.end('now');
    await expect.poll(() => unanswered.length).toBe(64);
  });
});

describe('a response that the client does not read', () => {
  const large = Buffer.alloc(64 * 2 ** 20);

  /** Starts a server with a write timeout of one second. Requests a response that is larger than the socket buffers. */
  async function requestLarge() {
    const server = createServer((_request, response) => response.end(large));
    addWriteTimeout(server, 1000);
    const { client, served } = await openConnection(server);
    client.pause();
    client.write(get('large'));
    return { client, served };
  }

  it('closes a connection if the client sends data but reads no response', async () => {
    const { client, served } = await requestLarge();
    // The HTTP parser skips empty lines before a request, so an empty line doesn't start the request timeout.
    const sending = setInterval(() => client.write('\r\n'), 100);
    closers.push(() => clearInterval(sending));
    await once(served, 'close');
    expect(served.destroyed).toBe(true);
  });

  it('keeps a connection open while the client reads the response slowly', async () => {
    const { client, served } = await requestLarge();
    let received = 0;
    const started = performance.now();
    while (performance.now() - started < 3000) {
      received += client.read()?.length ?? 0;
      await sleep(20);
      if (received > large.length - 8 * 2 ** 20) break;
    }
    expect(served.destroyed).toBe(false);
    client.on('data', (chunk) => {
      received += chunk.length;
    });
    client.resume();
    await expect.poll(() => received, { timeout: 10_000 }).toBeGreaterThan(large.length);
  });
});
