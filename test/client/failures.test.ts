import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { runInNewContext } from 'node:vm';
import {
  AbortError,
  type ClientOptions,
  ConnectionError,
  ItsmClient,
  ItsmError,
  isItsmError,
  ServiceUnavailableError,
  TimeoutError,
  UnexpectedAnswerError,
} from '@itsm-api/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ticket } from '../support/workspace.ts';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

const apiKey = 'itsm_0123456789abcdefghijABCDEFGHIJ01234567';
let requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string; at: number }[];
/** The responses of the test server, in the order of the requests. The server repeats the last response. */
let answers: Answer[];
let close: () => Promise<void>;
let baseUrl: string;
let client: ItsmClient;

beforeEach(async () => {
  requests = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      requests.push({ method, url, headers, body: Buffer.concat(chunks).toString(), at: Date.now() });
      (answers[requests.length - 1] ?? answers.at(-1))?.(response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  client = new ItsmClient({ baseUrl, apiKey });
  // Reduces each retry delay to 5% of its length to keep the tests fast.
  vi.spyOn(Math, 'random').mockReturnValue(1.9);
  close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
});
afterEach(async () => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  await close();
});

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const failure = (status: number, code: string, headers: Record<string, string> = {}) =>
  json(status, { success: false, error: { code, message: `It is ${code}.`, requestId: 'req1' } }, headers);
const ok = json(200, { success: true, data: { id: 1 } });
const hangUp: Answer = (response) => response.destroy();
const silence: Answer = () => undefined;
/** Responds with the requested page of a list. The list has `totalCount` rows, and each page has 2 rows. */
const pageOf =
  (totalCount: number): Answer =>
  (response, request) => {
    const page = Number(new URL(request.url ?? '', baseUrl).searchParams.get('page'));
    const data = [1, 2].map((row) => ({ id: (page - 1) * 2 + row })).filter(({ id }) => id <= totalCount);
    json(200, { success: true, data, meta: { page, perPage: 2, totalCount } })(response, request);
  };

describe('client retries', () => {
  const statuses = [408, 429, 500, 502, 503, 504];
  it.each(statuses)('retries a read after the status %s', async (status) => {
    answers = [failure(status, 'SOMETHING'), ok];
    expect(await client.tickets.get(1)).toEqual({ id: 1 });
    expect(requests).toHaveLength(2);
  });

  it('retries a read at most twice after dropped connections', async () => {
    answers = [hangUp, hangUp, ok];
    expect(await client.tickets.get(1)).toEqual({ id: 1 });
    answers = [hangUp];
    await expect(client.tickets.get(1)).rejects.toBeInstanceOf(ConnectionError);
    expect(requests).toHaveLength(6);
  });

  it('retries a read if the connection closes before the end of the response', async () => {
    answers = [
      (response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{"success":');
        setTimeout(() => response.destroy(), 20);
      },
      ok,
    ];
    expect(await client.tickets.get(1)).toEqual({ id: 1 });
  });

  it.each([400, 401, 403, 404])('does not retry a read after the status %s', async (status) => {
    answers = [failure(status, 'NOT_FOUND')];
    await expect(client.tickets.get(1)).rejects.toMatchObject({ status });
    expect(requests).toHaveLength(1);
  });

  it('retries a write with the same body after a 429', async () => {
    answers = [failure(429, 'RATE_LIMIT_EXCEEDED', { 'retry-after': '0' }), ok];
    await client.tickets.create(ticket);
    expect(requests.map(({ method, body }) => [method, JSON.parse(body)])).toEqual([
      ['POST', ticket],
      ['POST', ticket],
    ]);
  });

  it('retries every write while the server is starting, even if maxRetries is 0', async () => {
    const starting = failure(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '0' });
    const writes = [
      () => client.tickets.create(ticket, { maxRetries: 0 }),
      () => client.tickets.update(1, { title: 'Changed' }, { maxRetries: 0 }),
      () => client.webhooks.delete(1, { maxRetries: 0 }),
    ];
    for (const write of writes) {
      requests = [];
      answers = [starting, starting, starting, ok];
      await write();
      expect(requests).toHaveLength(4);
    }
    answers = [failure(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '5' })];
    requests = [];
    const late = client.tickets.update(1, { title: 'Changed' }, { maxWaitMs: 1000 });
    await expect(late).rejects.toBeInstanceOf(ServiceUnavailableError);
    expect(requests).toHaveLength(1);
  });

  const notRepeated: [string, Answer][] = [408, 500, 503].map((status) => [String(status), failure(status, 'X')]);
  it.each([...notRepeated, ['a broken connection', hangUp] as [string, Answer]])(
    'does not retry an update or delete after %s',
    async (_, answer) => {
      answers = [answer];
      for (const write of [() => client.tickets.update(1, { title: 'Changed' }), () => client.webhooks.delete(1)]) {
        requests = [];
        await expect(write()).rejects.toBeInstanceOf(ItsmError);
        expect(requests).toHaveLength(1);
      }
    },
  );

  it.each([...notRepeated, ['a broken connection', hangUp] as [string, Answer]])(
    'retries a create request with the same idempotency key after %s',
    async (_, answer) => {
      answers = [answer, failure(409, 'IDEMPOTENCY_IN_PROGRESS', { 'retry-after': '0' }), ok];
      expect(await client.tickets.create(ticket, { idempotencyKey: 'order-4711' })).toEqual({ id: 1 });
      expect(requests.map(({ headers }) => headers['idempotency-key'])).toEqual(Array(3).fill('order-4711'));
    },
  );

  it('waits up to maxWaitMs for an earlier request with the same idempotency key', async () => {
    const open = failure(409, 'IDEMPOTENCY_IN_PROGRESS', { 'retry-after': '1' });
    answers = [hangUp, open, open, open, ok];
    expect(await client.tickets.create(ticket)).toEqual({ id: 1 });
    expect(new Set(requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    answers = [open];
    await expect(client.tickets.create(ticket, { maxWaitMs: 900 })).rejects.toMatchObject({ status: 409 });
  });

  it('generates one idempotency key for each create call and its retries', async () => {
    answers = [hangUp, silence, ok];
    await client.tickets.create(ticket, { timeoutMs: 500 });
    await client.tickets.create(ticket);
    const keys = requests.map(({ headers }) => String(headers['idempotency-key']));
    expect(keys[0]).toMatch(/^\d+(-\d+){3}$/);
    expect(keys).toEqual([keys[0], keys[0], keys[0], keys[3]]);
    expect(keys[3]).not.toBe(keys[0]);
    await client.tickets.update(1, { title: 'Changed' });
    expect(requests.at(-1)?.headers).not.toHaveProperty('idempotency-key');
  });

  it('uses maxRetries of a call instead of maxRetries of the client', async () => {
    answers = [failure(500, 'INTERNAL_ERROR')];
    const never = new ItsmClient({ baseUrl, apiKey, maxRetries: 0 });
    await expect(never.tickets.get(1)).rejects.toMatchObject({ name: 'InternalError' });
    expect(requests).toHaveLength(1);
    await expect(never.tickets.get(1, { maxRetries: 1 })).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
    expect(requests).toHaveLength(3);
  });

  it('waits for the number of seconds or until the date in Retry-After', async () => {
    const inTwo = () => new Date(Date.now() + 2000).toUTCString();
    answers = [
      failure(503, 'X', { 'retry-after': '1' }),
      (response, request) => failure(429, 'X', { 'retry-after': inTwo() })(response, request),
      ok,
    ];
    await client.tickets.get(1);
    const [first = 0, second = 0, third = 0] = requests.map(({ at }) => at);
    expect(second - first).toBeGreaterThanOrEqual(990);
    expect(third - second).toBeGreaterThanOrEqual(990);
  });

  it('increases the delay before each retry and adds jitter', async () => {
    vi.restoreAllMocks();
    const waits: number[] = [];
    const chatty = new ItsmClient({
      baseUrl,
      logger: {
        debug: () => undefined,
        warn: (message) => waits.push(Number(/retrying in ([\d.]+) s/.exec(message)?.[1])),
      },
    });
    answers = [failure(500, 'X')];
    await expect(chatty.tickets.get(1)).rejects.toThrow('It is X.');
    expect(waits[0]).toBeGreaterThanOrEqual(0.2);
    expect(waits[0]).toBeLessThanOrEqual(0.5);
    expect(waits[1]).toBeGreaterThanOrEqual(0.5);
    expect(waits[1]).toBeLessThanOrEqual(1);
  });

  it.each([
    [409, 'IDEMPOTENCY_IN_PROGRESS'],
    [429, 'RATE_LIMIT_EXCEEDED'],
    [503, 'SERVICE_UNAVAILABLE'],
  ])('doubles the pauses after a %s %s without Retry-After, until maxWaitMs', async (status, code) => {
    answers = [failure(status, code)];
    await expect(client.tickets.create(ticket, { maxWaitMs: 1000 })).rejects.toMatchObject({ code });
    const pauses = requests.slice(1).map(({ at }, index) => at - (requests[index]?.at ?? 0));
    expect(pauses.length).toBeLessThanOrEqual(6);
    // The last pause ends at `maxWaitMs`. Timers can be early by a millisecond.
    for (const [index, pause] of pauses.slice(0, -1).entries())
      expect(pause).toBeGreaterThanOrEqual(25 * 2 ** index - 2);
  });

  it('does not retry a request if Retry-After is longer than ten minutes', async () => {
    answers = [failure(429, 'RATE_LIMIT_EXCEEDED', { 'retry-after': '3600' })];
    await expect(client.tickets.list().toArray()).rejects.toMatchObject({ retryAfterSeconds: 3600, page: 1 });
    expect(requests).toHaveLength(1);
  });
});

describe('failed client iterations', () => {
  it('sets error.page to the failed page if an iteration fails', async () => {
    answers = [pageOf(7), pageOf(7), failure(500, 'INTERNAL_ERROR')];
    const seen: number[] = [];
    const walk = async (page?: number) => {
      for await (const { id } of client.tickets.list({ page, perPage: 2 })) seen.push(id);
    };
    const error = await walk().catch((reason: unknown) => reason);
    if (!isItsmError(error)) throw error;
    expect([error.name, error.page]).toEqual(['InternalError', 3]);
    answers = [pageOf(7)];
    await walk(error.page);
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it('sets error.page to the next page if the signal aborts an iteration', async () => {
    answers = [pageOf(7)];
    const abort = new AbortController();
    const walk = async () => {
      for await (const { id } of client.tickets.list({ perPage: 2 }, { signal: abort.signal })) {
        if (id === 3) abort.abort(new Error('enough'));
      }
    };
    const error = await walk().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(AbortError);
    expect(error).toMatchObject({ page: 3, cause: new Error('enough') });
  });

  it('completes an iteration at a rate limit of 30 requests per minute', async () => {
    vi.useFakeTimers();
    const began = Date.now();
    let window = { ends: began + 60_000, left: 30 };
    const limited: ClientOptions['fetch'] = async (url) => {
      if (Date.now() >= window.ends) window = { ends: Date.now() + 60_000, left: 30 };
      if (window.left === 0) {
        const wait = String(Math.ceil((window.ends - Date.now()) / 1000));
        const error = {
          code: 'RATE_LIMIT_EXCEEDED',
          message: 'Wait.',
          requestId: 'r',
          retryAfterSeconds: Number(wait),
        };
        return Response.json({ success: false, error }, { status: 429, headers: { 'retry-after': wait } });
      }
      window.left -= 1;
      const page = Number(new URL(url).searchParams.get('page'));
      const meta = { page, perPage: 100, totalCount: 12_000 };
      const data = Array.from({ length: 100 }, (_, index) => ({ id: (page - 1) * 100 + index + 1 }));
      return Response.json({ success: true, data, meta });
    };
    const walk = new ItsmClient({ baseUrl, apiKey, fetch: limited }).tickets.list().toArray();
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    expect(await walk).toHaveLength(12_000);
    expect(window.ends - began).toBeLessThan(4 * 61_000);
  });
});

it.each(['timeoutMs', 'maxRetries', 'maxWaitMs'])(
  'throws TypeError if the option %s is NaN instead of a number',
  async (name) => {
    const options = { [name]: Number('') / 0 };
    expect(() => new ItsmClient({ baseUrl, apiKey, ...options })).toThrow(
      new TypeError(`${name} is NaN. Pass a number.`),
    );
    answers = [];
    await expect(client.tickets.get(1, options)).rejects.toBeInstanceOf(TypeError);
  },
);

describe('client timeouts and signals', () => {
  it('throws TimeoutError if the server does not respond within timeoutMs', async () => {
    answers = [silence];
    const error = await client.tickets
      .update(1, { title: 'Changed' }, { timeoutMs: 500 })
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({
      code: 'TIMEOUT',
      message: `${baseUrl} did not respond to PATCH /tickets/1 within 500 ms.`,
    });
    expect(requests).toHaveLength(1);
  });

  it('throws TimeoutError if the response body does not end within timeoutMs', async () => {
    answers = [(response) => response.writeHead(200).write('{')];
    const impatient = new ItsmClient({ baseUrl, timeoutMs: 60, maxRetries: 0 });
    await expect(impatient.tickets.get(1)).rejects.toBeInstanceOf(TimeoutError);
  });

  it('retries a read after a timeout', async () => {
    answers = [silence, ok];
    expect(await client.tickets.get(1, { timeoutMs: 500 })).toEqual({ id: 1 });
  });

  it('rejects a client call with AbortError whenever its signal aborts', async () => {
    answers = [silence];
    await expect(client.tickets.get(1, { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' });
    expect(requests).toHaveLength(0);

    const during = client.tickets.get(1, { signal: AbortSignal.timeout(30) });
    await expect(during).rejects.toMatchObject({ code: 'ABORTED', cause: { name: 'TimeoutError' } });

    answers = [failure(429, 'X', { 'retry-after': '60' })];
    const waiting = client.tickets.get(1, { signal: AbortSignal.timeout(60) });
    await expect(waiting).rejects.toBeInstanceOf(AbortError);
  });

  it('removes its listeners from the abort signal when a client call ends', async () => {
    answers = [failure(503, 'X'), ok];
    const { signal } = new AbortController();
    const add = vi.spyOn(signal, 'addEventListener');
    const remove = vi.spyOn(signal, 'removeEventListener');
    await client.tickets.get(1, { signal });
    const listeners = (calls: unknown[][]) => new Set(calls.map(([, listener]) => listener));
    expect(add.mock.calls.length).toBeGreaterThanOrEqual(3);
    expect(listeners(remove.mock.calls)).toEqual(listeners(add.mock.calls));
  });
});

describe('unexpected responses', () => {
  it('names the status and content type of an unexpected response in the error', async () => {
    answers = [(response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>')];
    const error = await client.tickets.get(1).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UnexpectedAnswerError);
    expect((error as Error).message).toBe(
      `GET ${baseUrl}/api/public/v1/tickets/1 returned 200 and text/html, not a response of this API.`,
    );
    expect((error as UnexpectedAnswerError).remedy).toBe('Pass the URL of the workspace as baseUrl.');
  });

  it.each(['null', '[]', '"x"', '{"success":false}', '{"success":false,"error":"x"}'])(
    'throws UNEXPECTED_ANSWER for the response body %s',
    async (body) => {
      answers = [(response) => response.writeHead(200).end(body)];
      await expect(client.tickets.get(1)).rejects.toMatchObject({ code: 'UNEXPECTED_ANSWER', status: 200 });
    },
  );

  it('does not follow redirects to another host', async () => {
    answers = [(response) => response.writeHead(302, { location: 'https://elsewhere.example/' }).end()];
    await expect(client.tickets.create(ticket)).rejects.toThrow('a redirect to https://elsewhere.example/');
    expect(requests).toHaveLength(1);
  });

  it('throws ItsmError for an unknown error code', async () => {
    answers = [failure(400, 'TEAPOT')];
    const error = await client.tickets.get(1).catch((reason: unknown) => reason);
    expect(Object.getPrototypeOf(error)).toBe(ItsmError.prototype);
    expect(error).toMatchObject({ name: 'ItsmError', code: 'TEAPOT', message: 'It is TEAPOT.', requestId: 'req1' });
    answers = [json(400, { success: false, error: { code: 'TEAPOT' } })];
    await expect(client.tickets.get(1)).rejects.toMatchObject({ code: 'TEAPOT', message: 'TEAPOT' });
    answers = [failure(400, 'toString')];
    await expect(client.tickets.get(1)).rejects.toMatchObject({ name: 'ItsmError', code: 'toString' });
  });
});

describe('serialized client errors', () => {
  it('serializes a client error to JSON without its headers', async () => {
    answers = [
      json(
        403,
        {
          success: false,
          error: { code: 'INSUFFICIENT_SCOPE', message: 'No.', docs: '/docs/errors#X', requestId: 'r1' },
        },
        { 'x-request-id': 'r1', ratelimit: '"global";r=57;t=31', 'ratelimit-policy': '"global";q=60;w=60' },
      ),
      hangUp,
    ];
    const error = await client.tickets.update(1, { title: 'x' }).catch((reason: unknown) => reason);
    expect(JSON.parse(JSON.stringify({ error }))).toEqual({
      error: {
        name: 'InsufficientScopeError',
        message: 'No.',
        code: 'INSUFFICIENT_SCOPE',
        method: 'PATCH',
        path: '/tickets/1',
        status: 403,
        requestId: 'r1',
        requestUrl: `${baseUrl}/developer/requests?requestId=r1`,
        requiredScope: 'tickets:write',
        details: [],
        docs: `${baseUrl}/docs/errors#X`,
        remedy: 'Pass a key that has requiredScope.',
        rateLimits: [{ name: 'global', limit: 60, remaining: 57, resetSeconds: 31, windowSeconds: 60 }],
      },
    });
    const broken = await client.tickets.update(1, { title: 'x' }).catch((reason: unknown) => reason);
    expect(JSON.parse(JSON.stringify(broken))).toMatchObject({
      code: 'CONNECTION_FAILED',
      method: 'PATCH',
      remedy: expect.stringContaining('check before you retry it'),
      cause: { name: 'TypeError', message: 'fetch failed', cause: { code: 'UND_ERR_SOCKET' } },
    });
  });

  const otherRealm = runInNewContext(
    `new TypeError('fetch failed', { cause: Object.assign(new Error('no connection'), { code: 'ECONNREFUSED' }) })`,
  );
  const inner = { name: 'Error', message: 'no connection', code: 'ECONNREFUSED' };
  it.each([
    ['an error of another realm', otherRealm, { name: 'TypeError', message: 'fetch failed', cause: inner }],
    ['an object', { message: 'stop', request: apiKey }, { name: 'Error', message: '[object Object]' }],
    ['a string', 'stop', { name: 'Error', message: 'stop' }],
  ])('contains the description of %s that `fetch` threw', async (_, thrown, cause) => {
    const failing = new ItsmClient({ baseUrl, apiKey, maxRetries: 0, fetch: () => Promise.reject(thrown) });
    const error = await failing.tickets.get(1).catch((reason: unknown) => reason);
    expect(JSON.parse(JSON.stringify(error)).cause).toEqual(cause);
  });

  it.each([
    ['an error of another realm', otherRealm, { name: 'TypeError', message: 'fetch failed', cause: inner }],
    ['an object', { message: 'stop', job: 7 }, { message: 'stop', job: 7 }],
    ['a string', 'stop', 'stop'],
    ['no value', undefined, expect.objectContaining({ name: 'AbortError' })],
  ])('contains %s as the reason of an abort', async (_, reason, cause) => {
    const signal = AbortSignal.abort(reason);
    const error = await client.tickets.get(1, { signal }).catch((error: unknown) => error);
    expect(JSON.parse(JSON.stringify(error)).cause).toEqual(cause);
  });

  it('explains how to pass an API key if a request without a key fails', async () => {
    answers = [failure(401, 'INVALID_API_KEY')];
    const error = await new ItsmClient({ baseUrl }).tickets.get(1).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      name: 'InvalidApiKeyError',
      message: 'GET /tickets/1 requires an API key.',
      remedy: 'Pass apiKey to new ItsmClient({ baseUrl, apiKey }).',
    });
  });
});

describe('client requests', () => {
  it('sends one query parameter for each value of a filter', async () => {
    answers = [json(200, { success: true, data: [], meta: { page: 1, perPage: 20, totalCount: 0 } })];
    await client.tickets.list({ status: ['OPEN', 'PENDING'], assigneeId: ['me', 7], q: 'a,b', priority: undefined });
    expect(requests[0]?.url).toBe(
      '/api/public/v1/tickets?status=OPEN&status=PENDING&assigneeId=me&assigneeId=7&q=a%2Cb',
    );
  });

  it('sends the API key as a bearer token and names the program in User-Agent', async () => {
    answers = [ok];
    await new ItsmClient({ baseUrl, apiKey: ` ${apiKey}\n`, userAgent: 'my-sync/2.1' }).tickets.create(ticket);
    expect(requests[0]).toMatchObject({
      url: '/api/public/v1/tickets',
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        'user-agent': expect.stringMatching(/^my-sync\/2\.1 itsm-api-client\/\d+\.\d+\.\d+$/),
      },
    });
  });

  it('adds the path of baseUrl to the request path', async () => {
    answers = [ok];
    await new ItsmClient({ baseUrl: `${baseUrl}/itsm/` }).ping.get();
    expect(requests[0]?.url).toBe('/itsm/api/public/v1/ping');
    expect(requests[0]?.headers.authorization).toBeUndefined();
  });

  it("throws TypeError without a retry if a request can't be sent", async () => {
    const bad = client.tickets.get(1, { headers: { 'x-request-id': 'two\nlines' } });
    await expect(bad).rejects.toBeInstanceOf(TypeError);
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    await expect(client.tickets.update(1, circular)).rejects.toBeInstanceOf(TypeError);
    expect(requests).toHaveLength(0);
  });

  it('throws an error for an invalid baseUrl or apiKey', () => {
    for (const wrong of ['', 'acme.example.com', 'ftp://acme.example.com', `https://${apiKey}@acme.example.com`]) {
      expect(() => new ItsmClient({ baseUrl: wrong })).toThrow(
        'baseUrl is invalid. Pass the URL of the workspace, such as https://acme.example.com.',
      );
    }
    expect(() => new ItsmClient({ baseUrl: `${baseUrl}/api/public/v1/` })).toThrow('must not contain /api/public/v1');
    expect(() => new ItsmClient({ baseUrl, apiKey: 'two words' })).toThrow('apiKey is invalid');
    expect(() => new ItsmClient({ baseUrl, apiKey: '' })).toThrow('apiKey is invalid');
  });
});

describe('confidential API key', () => {
  it('omits the API key from logs, errors and the printed client object', async () => {
    const log: string[] = [];
    const leaky: ClientOptions['fetch'] = async (_, init) => {
      const headers = JSON.stringify([...new Headers(init.headers)]);
      const inner = Object.assign(new Error(`connect failed for ${headers}`), { config: init, code: 'ECONNREFUSED' });
      throw Object.assign(new TypeError(`fetch failed with ${headers}`, { cause: inner }), { request: init });
    };
    const leaking = new ItsmClient({
      baseUrl,
      apiKey,
      fetch: leaky,
      maxRetries: 1,
      logger: { debug: (message) => log.push(message), warn: (message) => log.push(message) },
    });
    const error = await leaking.tickets.list({ page: 2 }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'CONNECTION_FAILED', cause: { cause: { code: 'ECONNREFUSED' } } });
    expect((error as Error).message).toContain('Bearer [API key]');
    answers = [
      (response) => response.writeHead(500, { 'x-echo': apiKey }).end(apiKey),
      failure(403, apiKey),
      failure(401, 'X'),
    ];
    const failed = await Promise.allSettled([1, 2, 3].map((id) => client.tickets.get(id, { maxRetries: 0 })));
    const printed = [error, leaking, client, failed, JSON.stringify([error, leaking, failed]), ...log];
    expect(log).toHaveLength(3);
    expect(inspect(printed, { depth: 20, showHidden: true })).not.toContain(apiKey);
  });

  it('throws ConnectionError with the method and path if the server is not running', async () => {
    await close();
    close = async () => undefined;
    const error = await client.tickets.get(1, { maxRetries: 0 }).catch((reason: unknown) => reason);
    expect((error as Error).message).toMatch(/^GET \/tickets\/1 did not reach http:\S+: connect ECONNREFUSED/);
  });
});
