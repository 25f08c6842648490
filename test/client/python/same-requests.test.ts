import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ClientOptions, ItsmClient, isItsmError } from '@itsm-api/client';
import type { Endpoint } from '@itsm-api/contract';
import { contract } from '@itsm-api/contract/ts-rest';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { exampleCall, pythonExampleCall, snakeCase } from '../../../contract/src/openapi/calls.ts';
import { pythonLiteral } from '../../../contract/src/openapi/literal.ts';
import { type Outcome, type PythonDriver, skipUnlessPython, startPythonDriver } from '../../support/python.ts';
import { ticket } from '../../support/workspace.ts';

/** Runs the same calls with the clients for TypeScript and Python, and compares their requests and their outcomes. */
type Answer = (response: ServerResponse, request: IncomingMessage) => void;

interface Sent {
  method: string;
  url: string;
  headers: Record<string, unknown>;
  body: string;
  at: number;
}

/** A server that records requests. */
interface Recorder {
  url: string;
  requests: Sent[];
  close(): Promise<void>;
}

const apiKey = 'itsm_0123456789abcdefghijABCDEFGHIJ01234567';
/** The responses of the servers, in the order of the requests. A server repeats the last response. */
let answers: Answer[];
/** The servers of the clients in TypeScript and in Python. */
let ofTypeScript: Recorder;
let ofPython: Recorder;
let driver: PythonDriver;

async function toArray(rows: AsyncIterable<unknown>): Promise<unknown[]> {
  const array: unknown[] = [];
  for await (const row of rows) array.push(row);
  return array;
}

async function startRecorder(): Promise<Recorder> {
  const requests: Sent[] = [];
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
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('Python client', skipUnlessPython(), () => {
  beforeAll(() => {
    driver = startPythonDriver();
  });
  afterAll(() => driver.stop());
  beforeEach(async () => {
    [ofTypeScript, ofPython] = await Promise.all([startRecorder(), startRecorder()]);
    // Reduces each retry delay to 5% of its length to keep the tests fast. The Python driver does the same.
    vi.spyOn(Math, 'random').mockReturnValue(1.9);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await Promise.all([ofTypeScript.close(), ofPython.close()]);
  });

  const json =
    (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
    (response) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  const text =
    (status: number, body: string, headers: Record<string, string> = {}): Answer =>
    (response) =>
      response.writeHead(status, headers).end(body);
  const failure = (status: number, code: string, headers: Record<string, string> = {}) =>
    json(status, { success: false, error: { code, message: `It is ${code}.`, requestId: 'req1' } }, headers);
  const ok = json(200, { success: true, data: { id: 1 } });
  const hangUp: Answer = (response) => response.destroy();
  const reset: Answer = (response) => response.socket?.resetAndDestroy();
  const silence: Answer = () => undefined;
  /** Sends a byte every 20 ms, so that no read takes long. */
  const drip =
    (head: string): Answer =>
    (response) => {
      const { socket } = response;
      socket?.write(head);
      const timer = setInterval(() => socket?.write('x'), 20);
      socket?.on('close', () => clearInterval(timer));
    };
  const cutOff: Answer = (response) => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('{"success":');
    setTimeout(() => response.destroy(), 20);
  };
  /** Responds with the requested page of a list. The list has `totalCount` rows, and each page has 2 rows. */
  const pageOf =
    (totalCount: number): Answer =>
    (response, request) => {
      const page = Number(new URL(request.url ?? '', 'http://localhost').searchParams.get('page'));
      const data = [1, 2].map((row) => ({ id: (page - 1) * 2 + row })).filter(({ id }) => id <= totalCount);
      json(200, { success: true, data, meta: { page, perPage: 2, totalCount } })(response, request);
    };

  type Options = { timeoutMs?: number; maxRetries?: number; maxWaitMs?: number; headers?: Record<string, string> };
  type Keyed = Options & { idempotencyKey?: string; ifMatch?: string };

  /** A call of both clients: the resource, the method, and the arguments before the options. */
  interface Call {
    method: [resource: string, name: string, ...args: unknown[]];
    options?: Keyed;
    client?: Options & { userAgent?: string };
    apiKey?: string;
    /** The number of concurrent calls. */
    times?: number;
    /** The difference between the clocks of the client and the server in seconds. Only for Python. */
    skew?: number;
  }

  async function runTypeScript({ method, options, client = {}, apiKey: key = apiKey, times = 1 }: Call) {
    const instance = new ItsmClient({
      baseUrl: ofTypeScript.url,
      apiKey: key === '' ? undefined : key,
      ...client,
    } as ClientOptions);
    const [resource, name, ...args] = method;
    const call = async (): Promise<Outcome> => {
      try {
        const methods = instance[resource as 'tickets'] as unknown as Record<string, (...args: unknown[]) => unknown>;
        const result = methods[name]?.(...args, options);
        const isWalked = name === 'list' || name === 'changes';
        return { value: isWalked ? await toArray(result as AsyncIterable<unknown>) : await result };
      } catch (error) {
        const { name, message, ...rest } = error as Error;
        return { error: isItsmError(error) ? { name, message, ...rest } : { name, message } };
      }
    };
    return Promise.all(Array.from({ length: times }, call));
  }

  async function runPython({ method, options = {}, client = {}, apiKey: key = apiKey, times = 1, ...task }: Call) {
    const [resource, name, ...args] = method;
    const { idempotencyKey, ifMatch, ...callOptions } = options;
    const printed = args.flatMap((arg, index) => {
      const isQuery = (name === 'list' || name === 'changes') && index === args.length - 1 && typeof arg === 'object';
      if (!isQuery) return pythonLiteral(arg);
      return Object.entries(arg ?? {}).map(([key, value]) => `${snakeCase(key)}=${pythonLiteral(value)}`);
    });
    if (idempotencyKey !== undefined) printed.push(`idempotency_key=${pythonLiteral(idempotencyKey)}`);
    if (ifMatch !== undefined) printed.push(`if_match=${pythonLiteral(ifMatch)}`);
    const source = `client.${snakeCase(resource)}.${snakeCase(name)}(${printed.join(', ')})`;
    const settings = {
      baseUrl: ofPython.url,
      ...(key !== '' && { apiKey: key }),
      client: inPython(client),
      options: inPython(callOptions),
    };
    return driver.run({ ...task, ...settings, sources: Array(times).fill(source) });
  }

  /** Converts options to the names and units of Python. */
  function inPython(options: object) {
    const entries = Object.entries(options).map(([name, value]) =>
      name.endsWith('Ms') ? [snakeCase(name.slice(0, -2)), value / 1000] : [snakeCase(name), value],
    );
    return Object.fromEntries(entries);
  }

  /** Returns what must be equal in both languages. */
  function summarize(sent: Sent[]) {
    const keys = [...new Set(sent.map(({ headers }) => headers['idempotency-key']))];
    return sent.map(({ method, url, body, headers }) => {
      return { method, url, body, key: keys.indexOf(headers['idempotency-key']) };
    });
  }

  function describeOutcome({ value, error }: Outcome) {
    if (error === undefined) return { value };
    const { code, method, path, status, page, cursor } = error;
    return { code, method, path, status: status ?? null, page: page ?? null, cursor: cursor ?? null };
  }

  /** Runs a call in both languages with the same responses. Expects the same requests and outcomes, and returns them. */
  async function compare(call: Call, responses: Answer[], options = { isTimed: false }) {
    answers = responses;
    for (const { requests } of [ofTypeScript, ofPython]) requests.length = 0;
    const [expected, outcomes] = await Promise.all([runTypeScript(call), runPython(call)]);
    const { requests } = ofPython;
    // The last pause ends at `maxWaitMs`, so a busy machine can send one request less.
    const count = options.isTimed ? Math.min(requests.length, ofTypeScript.requests.length) : undefined;
    expect(Math.abs(requests.length - ofTypeScript.requests.length)).toBeLessThanOrEqual(options.isTimed ? 1 : 0);
    expect(summarize(requests).slice(0, count)).toEqual(summarize(ofTypeScript.requests).slice(0, count));
    // At `maxWaitMs`, a call fails with the last response or before the next request.
    const compared = options.isTimed ? ({ error }: Outcome) => error?.code : describeOutcome;
    expect(outcomes.map(compared)).toEqual(expected.map(compared));
    const [outcome = {}] = outcomes;
    return { count: requests.length, outcome, times: requests.map(({ at }) => at), requests: [...requests] };
  }

  const read: Call = { method: ['tickets', 'get', 1] };
  const create: Call = { method: ['tickets', 'create', ticket] };
  const update: Call = { method: ['tickets', 'update', 1, { title: 'Changed' }] };
  const remove: Call = { method: ['webhooks', 'delete', 1] };

  it.each([408, 429, 500, 502, 503, 504])('retries a read after the status %s', async (status) => {
    expect(await compare(read, [failure(status, 'SOMETHING'), ok])).toMatchObject({
      count: 2,
      outcome: { value: { id: 1 } },
    });
  });

  it.each([
    ['closed connections', hangUp],
    ['reset connections', reset],
    ['a response that ends too early', cutOff],
  ])('retries a read at most twice after %s', async (_, fault) => {
    expect(await compare(read, [fault, fault, ok])).toMatchObject({ count: 3, outcome: { value: { id: 1 } } });
    const { count, outcome } = await compare(read, [fault]);
    expect([count, outcome.error?.name]).toEqual([3, 'ApiConnectionError']);
  });

  it.each([400, 401, 403, 404])('does not retry a read after the status %s', async (status) => {
    expect((await compare(read, [failure(status, 'NOT_FOUND')])).count).toBe(1);
  });

  it('retries a write with the same body after a 429', async () => {
    const limited = failure(429, 'RATE_LIMIT_EXCEEDED', { 'retry-after': '0' });
    for (const call of [create, update, remove]) expect((await compare(call, [limited, ok])).count).toBe(2);
  });

  it('retries every write while the server is starting, even if max_retries is 0', async () => {
    const starting = failure(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '0' });
    for (const call of [create, update, remove]) {
      expect((await compare({ ...call, options: { maxRetries: 0 } }, [starting, starting, starting, ok])).count).toBe(
        4,
      );
    }
    const late = failure(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '5' });
    expect((await compare({ ...update, options: { maxWaitMs: 1000 } }, [late])).count).toBe(1);
  });

  const faults: [string, Answer][] = [
    ...[408, 500, 503].map((status): [string, Answer] => [`status ${status}`, failure(status, 'X')]),
    ['a closed connection', hangUp],
    ['a reset connection', reset],
  ];
  it.each(faults)('does not retry an update or delete after a %s', async (_, fault) => {
    for (const call of [update, remove]) expect((await compare(call, [fault])).count).toBe(1);
  });

  it.each(faults)('retries a create request with the same idempotency key after a %s', async (_, fault) => {
    const inProgress = failure(409, 'IDEMPOTENCY_IN_PROGRESS', { 'retry-after': '0' });
    const call = { ...create, options: { idempotencyKey: 'order-4711' } };
    const { requests } = await compare(call, [fault, inProgress, ok]);
    expect(requests.map(({ headers }) => headers['idempotency-key'])).toEqual(Array(3).fill('order-4711'));
  });

  it('generates one idempotency key for a create call and its retries', async () => {
    const { requests } = await compare({ ...create, options: { timeoutMs: 500 } }, [hangUp, silence, ok]);
    const keys = new Set(requests.map(({ headers }) => String(headers['idempotency-key'])));
    expect([...keys]).toEqual([expect.stringMatching(/^\d+(-\d+){3}$/)]);
  });

  it('waits up to max_wait for an earlier request with the same idempotency key', async () => {
    const open = failure(409, 'IDEMPOTENCY_IN_PROGRESS', { 'retry-after': '1' });
    expect((await compare(create, [hangUp, open, ok])).count).toBe(3);
    expect((await compare({ ...create, options: { maxWaitMs: 900 } }, [open])).outcome.error?.status).toBe(409);
  });

  it('uses max_retries of a call instead of max_retries of the client', async () => {
    const call = { ...read, client: { maxRetries: 0 } };
    expect((await compare(call, [failure(500, 'INTERNAL_ERROR')])).count).toBe(1);
    const { count, outcome } = await compare({ ...call, options: { maxRetries: 1 } }, [failure(500, 'INTERNAL_ERROR')]);
    expect([count, outcome.error?.name]).toEqual([2, 'InternalError']);
  });

  it('waits for the number of seconds or until the date in Retry-After', async () => {
    const inTwo: Answer = (response, request) =>
      failure(429, 'X', { 'retry-after': new Date(Date.now() + 2000).toUTCString() })(response, request);
    const { times } = await compare(read, [failure(503, 'X', { 'retry-after': '1' }), inTwo, ok]);
    const [first = 0, second = 0, third = 0] = times;
    expect([second - first >= 990, third - second >= 990]).toEqual([true, true]);
  });

  it.each([
    [409, 'IDEMPOTENCY_IN_PROGRESS'],
    [429, 'RATE_LIMIT_EXCEEDED'],
    [503, 'SERVICE_UNAVAILABLE'],
  ])('doubles the pauses after a %s %s without Retry-After, until max_wait', async (status, code) => {
    const call = { ...create, options: { maxWaitMs: 500 } };
    const { times } = await compare(call, [failure(status, code)], { isTimed: true });
    const pauses = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    expect(pauses.length).toBeLessThanOrEqual(5);
    for (const [index, pause] of pauses.slice(0, -1).entries())
      expect(pause).toBeGreaterThanOrEqual(25 * 2 ** index - 2);
  });

  it('does not retry a request if Retry-After is longer than ten minutes', async () => {
    const call: Call = { method: ['tickets', 'list', {}] };
    const { count, outcome } = await compare(call, [failure(429, 'RATE_LIMIT_EXCEEDED', { 'retry-after': '3600' })]);
    expect([count, outcome.error?.retry_after_seconds, outcome.error?.page]).toEqual([1, 3600, 1]);
  });

  it('sets the page or the cursor of an error if an iteration fails', async () => {
    const call: Call = { method: ['tickets', 'list', { perPage: 2 }] };
    const broken = failure(400, 'X');
    expect((await compare(call, [pageOf(7), pageOf(7), broken])).outcome.error?.page).toBe(3);
    const changes: Call = { method: ['tickets', 'changes', { since: '2026-11-20T10:00:00Z' }] };
    const page = json(200, { success: true, data: [{ id: 1 }], meta: { nextCursor: 'c1', hasMore: true } });
    expect((await compare(changes, [page, broken])).outcome.error?.cursor).toBe('c1');
    await compare({ method: ['tickets', 'list', { page: 3, perPage: 2 }] }, [pageOf(7)]);
  });

  it.each([
    ['no response', silence],
    ['a body that never ends', (response: ServerResponse) => response.writeHead(200).write('{')],
    ['slow headers', drip('HTTP/1.1 200 OK\r\nx: ')],
    ['a slow body', drip('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n')],
  ])('ends an attempt at its timeout after %s', async (_, fault) => {
    const began = Date.now();
    const { count, outcome } = await compare({ ...update, options: { timeoutMs: 400 } }, [fault]);
    expect(count).toBe(1);
    expect(outcome.error).toMatchObject({
      name: 'ApiTimeoutError',
      message: `${ofPython.url} did not respond to PATCH /tickets/1 within 0.4 s.`,
    });
    expect(Date.now() - began).toBeLessThan(3000);
  });

  it('retries a read after a timeout', async () => {
    expect((await compare({ ...read, options: { timeoutMs: 500 } }, [silence, ok])).count).toBe(2);
  });

  it.each(['', 'null', '[]', '"x"', '{', '{"success":false}', '{"success":false,"error":"x"}'])(
    'raises UnexpectedAnswerError for the response body %j',
    async (body) => {
      const { outcome } = await compare(read, [text(200, body, { 'content-type': 'text/html' })]);
      expect(outcome.error).toMatchObject({
        name: 'UnexpectedAnswerError',
        message: `GET ${ofPython.url}/api/public/v1/tickets/1 returned 200 and text/html, not a response of this API.`,
        remedy: 'Pass the URL of the workspace as base_url.',
      });
    },
  );

  it('does not follow redirects to another host', async () => {
    const { count, outcome } = await compare(create, [text(302, '', { location: 'https://elsewhere.example/' })]);
    expect([count, outcome.error?.message]).toEqual([
      1,
      expect.stringContaining('a redirect to https://elsewhere.example/'),
    ]);
  });

  it('raises ItsmError for an unknown error code', async () => {
    expect((await compare(read, [failure(400, 'TEAPOT')])).outcome.error).toMatchObject({
      ...{ name: 'ItsmError', code: 'TEAPOT', message: 'It is TEAPOT.', request_id: 'req1' },
    });
    await compare(read, [json(400, { success: false, error: { code: 'TEAPOT' } })]);
  });

  it('describes an error as the TypeScript client does', async () => {
    const error = { code: 'INSUFFICIENT_SCOPE', message: 'No.', docs: '/docs/errors#X', requestId: 'r1' };
    const { outcome } = await compare(update, [json(403, { success: false, error })]);
    expect(outcome.error).toMatchObject({
      name: 'InsufficientScopeError',
      required_scope: 'tickets:write',
      docs: `${ofPython.url}/docs/errors#X`,
      request_url: `${ofPython.url}/developer/requests?requestId=r1`,
      remedy: 'Pass a key that has required_scope.',
      details: [],
    });
    const withoutKey = await compare({ ...read, apiKey: '' }, [failure(401, 'INVALID_API_KEY')]);
    expect(withoutKey.outcome.error?.message).toBe('GET /tickets/1 requires an API key.');
  });

  it('keeps to the rate limits if the clock of the client is wrong', async () => {
    let window = { ends: 0, left: 0, rejected: 0 };
    const limited: Answer = (response, request) => {
      const now = performance.now();
      if (now >= window.ends) window = { ...window, ends: now + 1000, left: 4 };
      const headers = (r: number) => ({
        'ratelimit-policy': '"global";q=60;w=1, "tickets";q=4;w=1',
        ratelimit: `"global";r=60;t=1, "tickets";r=${r};t=${Math.ceil((window.ends - now) / 1000)}`,
      });
      if (window.left === 0) {
        window.rejected += 1;
        failure(429, 'RATE_LIMIT_EXCEEDED', { 'retry-after': '1', ...headers(0) })(response, request);
      } else {
        window.left -= 1;
        json(200, { success: true, data: { id: 1 } }, headers(window.left))(response, request);
      }
    };
    answers = [limited];
    const began = performance.now();
    const outcomes = await runPython({ ...create, times: 10, skew: 86_400 });
    expect(outcomes.map(({ value }) => value)).toEqual(Array(10).fill({ id: 1 }));
    expect(window.rejected).toBeLessThanOrEqual(1);
    expect(performance.now() - began).toBeLessThan(6000);
  });

  /** The standard for `fetch` adds these headers, the last two to a request with a condition. */
  const ofFetch = ['accept-language', 'sec-fetch-mode', 'cache-control', 'pragma'];
  const describeRequest = ({ method, url, headers, body }: Sent) => {
    const { 'user-agent': _, host: __, 'idempotency-key': key, ...rest } = headers;
    for (const name of ofFetch) delete rest[name];
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    // The order of the parameters is the order of the arguments.
    searchParams.sort();
    const random = key && String(key).replace(/^\d+(-\d+){3}/, 'random');
    return { method, pathname, query: String(searchParams), body, headers: rest, key: random };
  };

  /** Expects that both servers received the same requests, apart from `User-Agent` and the headers of `fetch`. */
  function expectSameRequests(source: string) {
    expect(ofPython.requests.length, source).toBeGreaterThan(0);
    expect(ofPython.requests.map(describeRequest), source).toEqual(ofTypeScript.requests.map(describeRequest));
    for (const { requests } of [ofTypeScript, ofPython]) requests.length = 0;
  }

  it('sends the same requests as the TypeScript client for each operation', async () => {
    const meta = { page: 1, perPage: 20, totalCount: 0, nextCursor: 'c', hasMore: false };
    answers = [json(200, { success: true, data: [], meta })];
    const methods = Object.entries(contract).flatMap(([resource, routes]) =>
      Object.entries(routes).map(([name, route]) => ({ resource, name, route: route as Endpoint })),
    );
    expect(methods.length).toBeGreaterThanOrEqual(40);
    const client = new ItsmClient({ baseUrl: ofTypeScript.url, apiKey });
    for (const method of methods) {
      const { source, isWalked } = exampleCall(method);
      const python = pythonExampleCall(method);
      // The samples of the reference.
      const call = new Function('client', 'toArray', isWalked ? `return toArray(${source})` : `return ${source}`);
      // A bulk call fails, because the server returns no results.
      const result = await call(client, toArray).then(
        (value: unknown) => value,
        () => undefined,
      );
      await result?.body?.cancel();
      await driver.run({ baseUrl: ofPython.url, apiKey, sources: [python.source] });
      expectSameRequests(python.source);
    }
  });

  it.each<Call>([
    {
      method: ['tickets', 'list', { status: ['OPEN', 'PENDING'], assigneeId: ['me', 7], q: 'a,b ~*é', overdue: true }],
    },
    { method: ['tickets', 'list', { customFields: { site: ['Berlin', 'Bonn'], floor: '3' }, perPage: 5 }] },
    { method: ['tickets', 'get', 'INC-17'], options: { headers: { 'X-Request-Id': 'mine-1' } } },
    { ...update, options: { ifMatch: '"3-abc"' } },
    { ...create, options: { idempotencyKey: 'once' }, client: { userAgent: 'my-sync/2.1' } },
    { method: ['tickets', 'createMany', [ticket, { ...ticket, title: 'Zürich — "quoted" \u2028' }]] },
    { method: ['ping', 'get'], apiKey: '' },
  ])('sends the same request as the TypeScript client for $method', async (call) => {
    answers = [json(200, { success: true, data: [], meta: { page: 1, perPage: 20, totalCount: 0 } })];
    await Promise.all([runTypeScript(call), runPython(call)]);
    expect(ofPython.requests[0]?.headers['user-agent']).toMatch(
      /^(my-sync\/2\.1 )?itsm-api-python\/\d+\.\d+\.\d+ python\/3\.\d+$/,
    );
    expectSameRequests(String(call.method));
  });
});
