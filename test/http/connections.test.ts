import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { allowLongArrival } from '@itsm-api/server/http/server/arrival-timeout.ts';
import { createHttpServer } from '@itsm-api/server/http/server/http-server.ts';
import { addWriteTimeout, allowSlowDownload } from '@itsm-api/server/http/server/write-timeout.ts';
import { afterEach, describe, expect, it, vi } from 'vitest';

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
    await expect.poll(() => received).toBeGreaterThan(large.length);
  });
});

describe('a download', () => {
  const large = Buffer.alloc(64 * 2 ** 20);

  /** Starts a server with a write timeout of 300 ms, and of the given time for downloads. Requests a path. */
  async function requestFrom(path: string, downloadTimeoutMs: number) {
    const server = createServer((request, response) => {
      if (request.url === '/download') allowSlowDownload(response, downloadTimeoutMs);
      response.end(large);
    });
    addWriteTimeout(server, 300);
    const { client, served } = await openConnection(server);
    client.pause();
    client.write(get(path));
    return { client, served };
  }

  /** Reads 20 KB from a connection every 100 ms, until the connection closes or the time is over. */
  async function readSlowly(client: Socket, durationMs: number): Promise<void> {
    const end = performance.now() + durationMs;
    while (performance.now() < end && !client.closed) {
      client.read(Math.min(20_000, client.readableLength));
      await sleep(100);
    }
  }

  it('stays open while the client reads more slowly than other responses allow', async () => {
    const download = await requestFrom('download', 60_000);
    const other = await requestFrom('list', 60_000);
    await Promise.all([download, other].map(({ client }) => readSlowly(client, 3000)));
    expect([download.served.destroyed, other.served.destroyed]).toEqual([false, true]);
  });

  it('ends if the client reads nothing for the timeout of downloads', async () => {
    const { served } = await requestFrom('download', 1000);
    await sleep(700);
    expect(served.destroyed).toBe(false);
    await expect.poll(() => served.destroyed).toBe(true);
  });

  it('does not extend the timeout of the next response on its connection', async () => {
    const server = createServer((request, response) => {
      if (request.url === '/download') allowSlowDownload(response, 60_000);
      response.end(request.url === '/download' ? 'short' : large);
    });
    addWriteTimeout(server, 300);
    const { client, served } = await openConnection(server);
    client.write(get('download'));
    await once(client, 'data');
    client.pause();
    client.write(get('list'));
    await expect.poll(() => served.destroyed).toBe(true);
  });

  it('ends after 15 minutes, even if the client reads', async () => {
    const { client, served } = await requestFrom('download', 60_000);
    await once(client, 'readable');
    const { now } = performance;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 14.9 * 60_000);
    closers.push(() => clock.mockRestore());
    await readSlowly(client, 500);
    expect(served.destroyed).toBe(false);
    clock.mockImplementation(() => now.call(performance) + 15.1 * 60_000);
    await expect.poll(() => served.destroyed).toBe(true);
  });
});

describe('an upload', () => {
  const size = 100_000;

  /** Starts a server whose uploads must have the minimum rate, measured over 1 second. Begins an upload. */
  async function startUpload(handle: RequestListener) {
    const server = createHttpServer((request, response) => {
      allowLongArrival(request, 1000);
      handle(request, response);
    });
    const rejected: string[] = [];
    server.on('clientError', (error: Error & { code: string }, socket) => {
      rejected.push(error.code);
      socket.destroy();
    });
    const { client } = await openConnection(server);
    client.write(`POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: ${size}\r\n\r\n`);
    return { client, rejected };
  }

  /** Sends bytes every 50 ms until the connection closes or the time is over. */
  async function send(client: Socket, bytes: number, durationMs: number): Promise<void> {
    const end = performance.now() + durationMs;
    while (performance.now() < end && !client.closed) {
      client.write(Buffer.alloc(bytes));
      await sleep(50);
    }
  }

  const discard: RequestListener = (request) => void request.resume();

  it.each([
    ['nothing', 0],
    ['less than 1 KB per second', 10],
  ])('ends if the client sends %s', async (_, bytes) => {
    const { client, rejected } = await startUpload(discard);
    await send(client, 10_000, 100);
    await send(client, bytes, 700);
    expect(rejected).toEqual([]);
    await send(client, bytes, 3000);
    expect(rejected).toEqual(['ERR_HTTP_REQUEST_TIMEOUT']);
  });

  it('continues if the client sends 2 KB per second', async () => {
    const { client, rejected } = await startUpload(discard);
    await send(client, 100, 3000);
    expect(rejected).toEqual([]);
  });

  it('continues while the server does not read it', async () => {
    const { client, rejected } = await startUpload(() => undefined);
    client.write(Buffer.alloc(size - 1));
    await sleep(2500);
    expect(rejected).toEqual([]);
  });
});
