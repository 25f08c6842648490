import { execFileSync } from 'node:child_process';
import { lookup as systemLookup } from 'node:dns';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type LookupFunction, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAgent } from '@itsm-api/server/webhooks/delivery/http-agent.ts';
import { createTargetPolicy } from '@itsm-api/server/webhooks/delivery/target.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Receiver, type Respond, startReceiver } from '../support/receiver.ts';
import { eventually, type Sender, startSender } from '../support/sender.ts';
import { createWorkspace } from '../support/workspace.ts';

const second = 1000;
const day = 24 * 60 * 60 * second;

let sender: Sender;
let folder: string;
/** The target of all redirects. This receiver must never get a request. */
let canary: Receiver;
/** A server that accepts connections and never sends a byte. */
let silent: Server;
const receivers: Receiver[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'itsm-certificates-'));
  makeCertificates();
  canary = await startReceiver();
  silent = createServer((socket) => socket.on('error', () => undefined).resume()).listen(0, '127.0.0.1');
  sender = await startSender({ connection: { lookup, ca: pem('ca.crt') } });
  await sender.startWorker();
});
afterAll(async () => {
  // Closes the receivers first to end the worker's open connections.
  await Promise.all([canary, ...receivers].map((receiver) => receiver.close()));
  await new Promise((resolve) => silent.close(resolve));
  await sender.close();
  rmSync(folder, { recursive: true });
});

/** Resolves the host names of the test. Uses the system resolver for all other names. */
const lookup: LookupFunction = (hostname, options, callback) => {
  if (hostname === 'unanswered.example.com') return;
  if (hostname.endsWith('.example.com')) return callback(null, [{ address: '127.0.0.1', family: 4 }]);
  systemLookup(hostname, options, callback);
};

const pem = (file: string) => readFileSync(join(folder, file), 'utf8');

/**
 * Creates a CA and four certificates: a valid certificate for hooks.example.com, a certificate for another host, an
 * expired certificate and a self-signed certificate.
 */
function makeCertificates() {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const subjectOptions = (name: string) => ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`];
  openssl('req', '-x509', ...newKey, '-keyout', 'ca.key', '-out', 'ca.crt', '-subj', '/CN=Test CA', '-days', '2');
  for (const [file, name, days] of [
    ['good', 'hooks.example.com', '1'],
    ['wrong-host', 'other.example.com', '1'],
    ['expired', 'hooks.example.com', '-1'],
  ] as const) {
    openssl('req', ...newKey, '-keyout', `${file}.key`, '-out', `${file}.csr`, ...subjectOptions(name));
    const signer = [
      '-CA',
      'ca.crt',
      '-CAkey',
      'ca.key',
      '-set_serial',
      String(days.length),
      '-copy_extensions',
      'copy',
    ];
    openssl('x509', '-req', '-in', `${file}.csr`, ...signer, '-days', days, '-out', `${file}.crt`);
  }
  const self = ['-keyout', 'self-signed.key', '-out', 'self-signed.crt', '-days', '1'];
  openssl('req', '-x509', ...newKey, ...self, ...subjectOptions('hooks.example.com'));
}

/** The expected result of an attempt. Omitted fields default to the values of a failed attempt without a response. */
interface Expected {
  delivered?: boolean;
  status?: number | null;
  error?: RegExp | null;
  answer?: unknown;
  /** The minimum and maximum time until the next attempt, in milliseconds. */
  wait?: [number, number];
  pausedReason?: string | null;
  /** The minimum and maximum duration of the attempt, in milliseconds. */
  duration?: [number, number];
}

const firstWait: [number, number] = [4 * second, 6 * second];

/** Sends one event to a URL and checks all values that the server stores about the attempt. */
async function expectAttempt(url: string, expected: Expected): Promise<void> {
  const { delivered = false, status = null, error = null, answer = null, pausedReason = null } = expected;
  const { wait = firstWait, duration = [0, 14 * second] } = expected;
  const { api } = sender;
  const owner = await createWorkspace(api);
  const { id } = await owner.createWebhook({ url });
  await owner.createTicket();
  const delivery = await eventually(
    async () => {
      const [first, ...others] = await sender.settled(id);
      expect(others).toEqual([]);
      expect(first?.history).toHaveLength(1);
      return first as NonNullable<typeof first>;
    },
    duration[1] + 60 * second,
  );

  // Each row that the server updates with an attempt's result contains the time when the server recorded it.
  const row = await api.prisma.webhookSubscription.findFirstOrThrow({ where: { id } });
  const at = (delivered ? row.lastSuccessAt : row.lastFailureAt) as Date;
  const [attempt] = delivery.history;
  expect(attempt).toMatchObject({ number: 1, status, answer });
  expect(attempt?.startedAt.getTime()).toBeGreaterThanOrEqual(delivery.createdAt.getTime());
  expect(attempt?.startedAt.getTime()).toBeLessThanOrEqual(at.getTime() - duration[0]);
  if (error === null) expect(attempt?.error).toBeNull();
  else expect(attempt?.error).toMatch(error);
  expect(attempt?.durationMs).toBeGreaterThanOrEqual(duration[0]);
  expect(attempt?.durationMs).toBeLessThanOrEqual(duration[1]);

  expect(delivery).toMatchObject({ state: delivered ? 'DELIVERED' : 'PENDING', attempts: 1 });
  expect(delivery.settledAt).toEqual(delivered ? at : null);
  if (!delivered) {
    const waited = delivery.nextAttemptAt.getTime() - at.getTime();
    expect(waited).toBeGreaterThanOrEqual(wait[0]);
    expect(waited).toBeLessThanOrEqual(wait[1]);
  }

  expect(await sender.health(id, owner)).toMatchObject({
    active: true,
    lastSuccessAt: delivered ? at.toISOString() : null,
    lastFailureAt: delivered ? null : at.toISOString(),
    pausedAt: pausedReason && at.toISOString(),
    pausedReason,
  });
}

/** Starts a receiver that responds with `respond`. Checks a delivery attempt to the receiver. */
async function expectOf(respond: Respond, expected: Expected): Promise<Receiver> {
  const receiver = await startReceiver(respond);
  receivers.push(receiver);
  await expectAttempt(receiver.url, expected);
  expect(receiver.received).toHaveLength(1);
  return receiver;
}

const answer = (
  status: number,
  headers: Record<string, string | string[]> = {},
  body: string | Buffer = '',
): Respond => {
  return (_, response) => response.writeHead(status, headers).end(body);
};

/** Responds with raw bytes that an HTTP server wouldn't send. Then closes the connection. */
const raw = (text: string): Respond => {
  return (_, response) => response.socket?.end(text);
};

/** Writes one byte per second until the connection closes. */
const drip = (response: { write(piece: string): unknown; once(event: 'close', stop: () => void): unknown }) => {
  const timer = setInterval(() => response.write('.'), second);
  response.once('close', () => clearInterval(timer));
};

/** Returns the current time plus a delay as an HTTP date. */
const httpDate = (milliseconds: number) => new Date(Date.now() + milliseconds).toUTCString();

// The timeout tests come first, because they take as long as all other tests in the file together.
describe.concurrent('delivery timeouts', () => {
  const whole: [number, number] = [14.5 * second, 60 * second];
  const connecting: [number, number] = [4.5 * second, 14 * second];

  it('fails a delivery attempt after 15 s without a response or 5 s without a connection', async () => {
    const { port } = silent.address() as { port: number };
    const stalls: Respond[] = [
      // The receiver never responds.
      () => undefined,
      // One receiver sends one body byte per second. Another receiver sends one header byte per second.
      (_, response) => drip(response.writeHead(200)),
      (_, { socket }) => {
        socket?.write('HTTP/1.1 200 OK\r\nX-Drip: ');
        if (socket) drip(socket);
      },
      // The receiver sends only a part of the body.
      (_, response) => response.writeHead(200).write('x'.repeat(10_000)),
      // The receiver sends informational responses, but no final response.
      (_, response) => {
        const timer = setInterval(() => response.writeProcessing(), 4 * second);
        response.once('close', () => clearInterval(timer));
      },
    ];
    await Promise.all([
      ...stalls.map((respond) => expectOf(respond, { error: /^no response within 15 seconds$/, duration: whole })),
      expectAttempt(`https://127.0.0.1:${port}/no-handshake`, { error: /timeout/i, duration: connecting }),
      expectAttempt(`http://unanswered.example.com:${port}/`, { error: /timeout/i, duration: connecting }),
    ]);
  });
});

describe.concurrent('response status of a receiver', () => {
  it.each([200, 201, 204, 226, 299])('treats the response status %i of a receiver as a success', async (status) => {
    await expectOf(answer(status), { delivered: true, status });
  });

  it('treats 200 after an early hint as a success and ignores Retry-After', async () => {
    await expectOf(
      (_, response) => {
        response.writeEarlyHints({ link: '</style.css>; rel=preload' });
        response.writeHead(200, { 'retry-after': '60' }).end('ok');
      },
      { delivered: true, status: 200, answer: 'ok' },
    );
  });

  it.each([300, 301, 302, 303, 307, 308])(
    'treats the response status %i as a failure and does not follow the redirect',
    async (status) => {
      await expectOf(answer(status, { location: canary.url }, 'moved'), { status, answer: 'moved' });
      expect(canary.connections).toBe(0);
    },
  );

  it.each([304, 400, 401, 403, 404, 409, 422, 429, 500, 502, 503, 504, 599])(
    'treats the response status %i of a receiver as a failure',
    async (status) => {
      await expectOf(answer(status), { status });
    },
  );

  it('treats the response status 410 as a failure and pauses the subscription', async () => {
    await expectOf(answer(410, {}, 'gone'), {
      status: 410,
      answer: 'gone',
      pausedReason: 'The endpoint returned 410 Gone.',
    });
  });

  const exactly = (wait: number): [number, number] => [wait, wait];
  it.each<[string, () => string | string[], [number, number]]>([
    ['seconds', () => '120', exactly(120 * second)],
    ['fewer seconds than the schedule', () => '3', firstWait],
    ['zero', () => '0', firstWait],
    ['more than a day', () => '99999999999', exactly(day)],
    ['a date', () => httpDate(90 * second), [60 * second, 90 * second]],
    ['a date that has passed', () => httpDate(-90 * second), firstWait],
    ['a date years ahead', () => httpDate(900 * day), exactly(day)],
    ['garbage', () => 'in a while', firstWait],
    ['a negative number', () => '-120', firstWait],
    ['an empty string', () => '', firstWait],
    ['two headers', () => ['60', '120'], exactly(60 * second)],
  ])('schedules the next attempt after 429, 503 or 500 with a Retry-After of %s', async (_, retryAfter, wait) => {
    const statuses = [429, 503, 500];
    await Promise.all(
      statuses.map((status) => expectOf(answer(status, { 'retry-after': retryAfter() }), { status, wait })),
    );
  });
});

describe.concurrent('response body of a receiver', () => {
  it.each<[string, string | Buffer, unknown]>([
    ['text', 'thank you', 'thank you'],
    ["NUL bytes, which PostgreSQL can't store", 'a\0b\0', 'a\ufffdb\ufffd'],
    [
      'invalid UTF-8',
      Buffer.from([0x61, 0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80]),
      expect.stringMatching(/^a\ufffd+\(\ufffd+$/),
    ],
    ['more than 4 KiB', 'x'.repeat(5000), 'x'.repeat(4096)],
    ['a character across the limit of 4 KiB', '€'.repeat(2000), expect.stringMatching(/^€{1365}\ufffd?$/)],
    ['JSON that looks like internal data', '{"state":"\\u0000","claim":null}', '{"state":"\\u0000","claim":null}'],
  ])('stores the response body of a delivery attempt that contains %s', async (_, body, kept) => {
    await expectOf(answer(200, {}, body), { delivered: true, status: 200, answer: kept });
    await expectOf(answer(500, {}, body), { status: 500, answer: kept });
  });

  it('closes the connection early if a receiver sends a one-gigabyte response body', async () => {
    let written = 0;
    let closedAfter = Number.POSITIVE_INFINITY;
    const receiver = await startReceiver((_, response) => {
      const began = Date.now();
      const chunk = Buffer.alloc(64 * 1024, 'x');
      const { socket } = response;
      response.on('close', () => {
        closedAfter = Date.now() - began;
        written = socket?.bytesWritten ?? 0;
      });
      response.writeHead(200, { 'content-length': String(1024 ** 3) });
      const more = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', more);
      more();
    });
    receivers.push(receiver);
    const expected = { delivered: true, status: 200, answer: 'x'.repeat(4096) };
    await expectAttempt(receiver.url, { ...expected, duration: [0, 2 * second] });
    await eventually(() => expect(closedAfter).toBeLessThan(2 * second));
    // The receiver can write more than 16 KiB, because the sockets of the receiver and the worker buffer the other
    // bytes.
    expect(written).toBeLessThan(16 * 1024 ** 2);
  });

  it('ends a delivery attempt after 16 KiB of an endless response body', async () => {
    const endless: Respond = (_, response) => response.writeHead(200).write('x'.repeat(20_000));
    await expectOf(endless, { delivered: true, status: 200, answer: 'x'.repeat(4096), duration: [0, 2 * second] });
  });
});

/** Writes `head` to the socket, and then writes `piece` again and again. Adds the socket to `connections`. */
const flood =
  (head: string, piece: string, connections: Socket[]): Respond =>
  (_, { socket }) => {
    if (socket === null) return;
    connections.push(socket);
    socket.write(head);
    const chunk = piece.repeat(Math.ceil((64 * 1024) / piece.length));
    const more = () => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on('drain', more);
    more();
  };

describe.concurrent('endless response', () => {
  const ok = 'HTTP/1.1 200 OK\r\n';
  const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`;
  const delivered = { delivered: true, status: 200 };
  const tooLong = { error: /^the response is longer than 64 KiB$/ };

  it.each<[string, string, string, Expected]>([
    ['early hints', '', 'HTTP/1.1 103 E\r\n\r\n', { error: /^more than 5 informational responses$/ }],
    ['headers of an informational response', 'HTTP/1.1 100 Continue\r\n', 'a: b\r\n', tooLong],
    ['chunk extension after 200', `${chunked}5;`, 'x', delivered],
    ['chunk extension after 500', `${chunked.replace('200 OK', '500 Oh')}5;`, 'x', { status: 500 }],
    ['chunks with long extensions', chunked, `1;${'x'.repeat(1000)}\r\n.\r\n`, { ...delivered, answer: /^\.+$/ }],
    ['trailers', `${chunked}2\r\nok\r\n0\r\n`, 'a: b\r\n', { ...delivered, answer: 'ok' }],
    ['trailers without values', `${chunked}2\r\nok\r\n0\r\n`, 'a:\r\n', { ...delivered, answer: 'ok' }],
    ['header lines', ok, 'a: b\r\n', { error: /headers overflow/i }],
    ['header lines without values', ok, 'a:\r\n', { error: /headers overflow/i }],
    ['spaces before a header value', `${ok}a:`, ' ', tooLong],
    ['empty lines before the status', '', '\r\n', tooLong],
    ['reason phrase', 'HTTP/1.1 200 ', 'x', tooLong],
    ['body of HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\n', 'x', { ...delivered, answer: 'x'.repeat(4096) }],
    ['body of HTTP/1.1', `${ok}\r\n`, 'x', { ...delivered, answer: 'x'.repeat(4096) }],
    [
      'bytes after an upgrade',
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      'x',
      { error: /upgrade/ },
    ],
    ['empty lines after a whole response', `${ok}Content-Length: 2\r\n\r\nok`, '\r\n', { ...delivered, answer: 'ok' }],
  ])(
    'closes the connection at the size limit if a receiver sends endless %s',
    async (_, head, piece, { answer: kept, ...expected }) => {
      const connections: Socket[] = [];
      const answer = kept instanceof RegExp ? expect.stringMatching(kept) : kept;
      await expectOf(flood(head, piece, connections), { ...expected, answer });
      await eventually(() => expect(connections.map(({ destroyed }) => destroyed)).toEqual([true]), 2 * second);
      // The receiver can write more than the limit, because the sockets of the receiver and the worker buffer the other
      // bytes.
      expect(connections[0]?.bytesWritten).toBeLessThan(16 * 1024 ** 2);
    },
  );

  it('closes the TLS connection at the size limit if a receiver sends an endless response', async () => {
    const tls = { key: pem('good.key'), cert: pem('good.crt') };
    const connections: Socket[] = [];
    const receiver = await startReceiver(flood('', '\r\n', connections), { tls });
    receivers.push(receiver);
    await expectAttempt(`https://hooks.example.com:${receiver.port}/hook`, tooLong);
    await eventually(() => expect(connections.map(({ destroyed }) => destroyed)).toEqual([true]), 2 * second);
  });

  it.each([
    [5, { delivered: true, status: 200 }],
    [6, { error: /^more than 5 informational responses$/ }],
  ])('accepts at most 5 informational responses before a final response: %i responses', async (count, expected) => {
    for (const head of ['HTTP/1.1 103 Early Hints\r\n\r\n', 'HTTP/1.1 100 Continue\r\n\r\n']) {
      await expectOf(raw(`${head.repeat(count)}HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n`), expected);
    }
  });

  it('counts the response bytes of each attempt separately on a reused connection', async () => {
    const receiver = await startReceiver((_, response) => response.end('x'.repeat(15_000)));
    receivers.push(receiver);
    const owner = await createWorkspace(sender.api);
    const { id } = await owner.createWebhook({ url: receiver.url });
    for (let count = 1; count <= 6; count++) {
      await owner.createTicket();
      await eventually(async () => {
        const states = (await sender.settled(id)).map(({ state }) => state);
        expect(states).toEqual(Array(count).fill('DELIVERED'));
      });
    }
    expect(receiver.connections).toBe(1);
  });
});

describe.concurrent('informational responses of a receiver', () => {
  const continued = 'HTTP/1.1 100 Continue\r\n\r\n';

  it.each<[string, string]>([
    ['100', continued],
    ['100 four times', continued.repeat(4)],
    ['100 without a reason phrase', 'HTTP/1.1 100\r\n\r\n'],
    ['100 with headers', 'HTTP/1.1 100 Continue\r\nServer: Microsoft-IIS/10.0\r\nContent-Length: 0\r\n\r\n'],
    ['100 that announces the end of the connection', 'HTTP/1.1 100 Continue\r\nConnection: close\r\n\r\n'],
    ['100 of HTTP/1.0', 'HTTP/1.0 100 Continue\r\n\r\n'],
    ['100 between empty lines', `\r\n${continued}\r\n`],
    ['102', 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['100, 102 and 103', `${continued}HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n`],
    ['an unassigned status', 'HTTP/1.1 199 Other\r\n\r\n'],
  ])('reads the final response after %s', async (_, heads) => {
    const body = `${continued}is the body`;
    const final = (status: string) => `HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    await expectOf(raw(heads + final('200 OK')), { delivered: true, status: 200, answer: body });
    await expectOf(raw(heads + final('422 Invalid')), { status: 422, answer: body });
  });

  it.each([
    ['101', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
    ['100 and 101', `${continued}HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n`],
  ])('fails the delivery attempt after %s', async (_, heads) => {
    const final = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
    await expectOf(raw(heads + final), { error: /^the receiver requested an upgrade \(101\)$/ });
  });

  it.each(['http', 'https'])(
    'keeps each byte of the response bodies on a reused %s connection, wherever the pieces of a response end',
    async (protocol) => {
      const heads = `${continued}HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n`;
      // The body contains each byte value, and status lines at the beginning and in mid-body.
      const text = Buffer.concat([Buffer.from(`${continued}\r\n${heads}`), Buffer.from([...Array(256).keys()])]);
      const body = Buffer.concat(Array<Buffer>(60).fill(text));
      const chunk = Buffer.concat([Buffer.from(`${text.length.toString(16)}\r\n`), text, Buffer.from('\r\n')]);
      const ok = `${heads}HTTP/1.1 200 OK\r\n`;
      const responses = [
        Buffer.concat([Buffer.from(`${ok}Content-Length: ${body.length}\r\n\r\n`), body]),
        Buffer.concat([
          Buffer.from(`${ok}Transfer-Encoding: chunked\r\n\r\n`),
          ...Array<Buffer>(60).fill(chunk),
          Buffer.from('0\r\n\r\n'),
        ]),
      ];
      // Ends the first piece at each byte of the heads and of the beginning of the body, and sends one response in
      // pieces of one byte.
      const ends = Array.from({ length: ok.length + 80 }, (_, index) => [index + 1]);
      const pieces = [...ends, Array.from({ length: ok.length + 80 }, (_, index) => index + 1)];
      const rounds = responses.flatMap((response) => pieces.map((each) => ({ response, ends: each })));
      const respond: Respond = async ({ socket }, _, { length }) => {
        const { response, ends = [] } = rounds[length - 1] ?? {};
        for (const [index, end] of [...ends, undefined].entries()) {
          socket.write(response?.subarray(ends[index - 1] ?? 0, end) ?? '');
          await sleep(1);
        }
      };
      const tls = { key: pem('good.key'), cert: pem('good.crt') };
      const receiver = await startReceiver(respond, protocol === 'https' ? { tls } : {});
      receivers.push(receiver);
      const targets = createTargetPolicy({ allowPrivate: true, blockedNetworks: [] });
      const agent = createAgent({ targets, lookup, ca: pem('ca.crt') });
      const origin = `${protocol}://hooks.example.com:${receiver.port}`;
      for (const round of rounds) {
        const response = await agent.request({ origin, path: '/hook', method: 'POST', body: '{}' });
        const received = Buffer.from(await response.body.arrayBuffer());
        expect([response.statusCode, received.equals(body)], `ends: ${round.ends}`).toEqual([200, true]);
      }
      // The agent may open a second connection, because it releases the first one shortly after a response.
      expect(receiver.connections).toBeLessThanOrEqual(2);
      await agent.close();
    },
    60_000,
  );
});

describe.concurrent('connection to a receiver', () => {
  it.each<[string, Respond, RegExp]>([
    [
      'is reset before the headers',
      (_, response) => response.socket?.resetAndDestroy(),
      /ECONNRESET|other side closed/,
    ],
    ['is closed before the headers', (_, response) => response.socket?.end(), /other side closed/],
    [
      'is reset in mid-body',
      (_, response) => {
        response.writeHead(200, { 'content-length': '100' }).write('the first half');
        setTimeout(() => response.socket?.resetAndDestroy(), 50);
      },
      /ECONNRESET|aborted|terminated|other side closed/,
    ],
    ['is closed in mid-body', raw('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'), /closed|terminated|aborted/],
    ['sends no HTTP', raw('SSH-2.0-OpenSSH_9.9\r\n\r\n'), /HTTP|HPE/],
    ['sends headers longer than the limit', answer(200, { 'x-long': 'x'.repeat(40_000) }), /header/i],
    [
      'is upgraded to another protocol',
      raw('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
      /upgrade/,
    ],
  ])('fails the delivery attempt if the connection %s', async (_, respond, error) => {
    await expectOf(respond, { error });
  });

  it('fails the delivery attempt with ECONNREFUSED if no process listens on the port', async () => {
    const gone = await startReceiver();
    await gone.close();
    await expectAttempt(gone.url, { error: /ECONNREFUSED/ });
  });

  it('fails the delivery attempt if the host name does not resolve', async () => {
    // The error is EAI_AGAIN on machines without a DNS resolver.
    await expectAttempt('https://nowhere.invalid/hook', { error: /ENOTFOUND|EAI_AGAIN/ });
  });
});

describe.concurrent('certificate of a receiver', () => {
  /** Starts an HTTPS receiver with `certificate`. The URL contains the host name of the valid certificate. */
  async function startTls(certificate: string, maxVersion: 'TLSv1.2' | 'TLSv1.3') {
    const tls = { key: pem(`${certificate}.key`), cert: pem(`${certificate}.crt`), maxVersion };
    const receiver = await startReceiver((_, response) => response.end('ok'), { tls });
    receivers.push(receiver);
    return { receiver, url: `https://hooks.example.com:${receiver.port}/hook` };
  }

  it('accepts a receiver with a valid certificate', async () => {
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const { receiver, url } = await startTls('good', version);
      await expectAttempt(url, { delivered: true, status: 200, answer: 'ok' });
      expect(receiver.received).toHaveLength(1);
    }
  });

  it.each([
    ['expired', /expired/],
    ['self-signed', /self-signed/],
    ['wrong-host', /does not match certificate/],
  ])(
    'sends no data to a receiver with an invalid certificate (%s), even on a second connection',
    async (certificate, error) => {
      for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
        const { receiver, url } = await startTls(certificate, version);
        // A resumed TLS session must not skip the certificate check.
        for (let round = 0; round < 2; round++) await expectAttempt(url, { error });
        expect(receiver.received).toEqual([]);
      }
    },
  );

  it('fails the delivery attempt if an HTTPS URL responds with plain HTTP', async () => {
    const receiver = await startReceiver();
    receivers.push(receiver);
    await expectAttempt(receiver.url.replace('http:', 'https:'), { error: /SSL|TLS|EPROTO|packet length/ });
    expect(receiver.received).toEqual([]);
  });
});
