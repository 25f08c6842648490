import { type ClientOptions, ItsmClient, isItsmError, type PacedLimit, type RateLimitWait } from '@itsm-api/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createConcurrently } from '../../evaluation/bench/pacing.ts';
import { startApi } from '../support/api.ts';
import { createWorkspace, ticket } from '../support/workspace.ts';

describe('concurrent client calls', () => {
  // The tests wait for real rate limit windows, so they run concurrently.
  it.concurrent.each([
    { clients: 1, creates: 100, limit: 30 },
    { clients: 2, creates: 60, limit: 30 },
  ])(
    'creates $creates tickets with each of $clients clients at $limit requests per window',
    async (options) => {
      const limited = await startApi({
        env: { RATE_LIMIT_GROUP: String(options.limit), RATE_LIMIT_WINDOW_SECONDS: '1' },
      });
      try {
        const workspace = await createWorkspace(limited);
        const baseUrl = await limited.app.listen({ port: 0, host: '127.0.0.1' });
        const result = await createConcurrently(baseUrl, workspace.key, { ...options, windowSeconds: 1 });
        expect(result).toMatchObject({ created: options.clients * options.creates, rejected: {} });
        expect(result.rejectedRequests).toBeLessThanOrEqual(options.clients === 1 ? 5 : 40);
        // Each client logs at most one line in 30 seconds.
        expect(result.lines.length).toBeLessThanOrEqual(options.clients * Math.ceil((result.seconds + 1) / 30));
      } finally {
        await limited.close();
      }
    },
    120_000,
  );
});

/**
 * Simulates a server with rate limits, and works with fake timers. The default limits are those of the specification.
 */
function limitedService({ group = 30, global = 60, windowSeconds = 60, latencyMs = 20 } = {}) {
  const windows = new Map<string, { ends: number; left: number }>();
  const seen = { requests: [] as { path: string; title?: string; at: number }[], rejected: 0 };
  const windowOf = (name: string, limit: number) => {
    const known = windows.get(name);
    const window = known && known.ends > Date.now() ? known : { ends: Date.now() + windowSeconds * 1000, left: limit };
    windows.set(name, window);
    return window;
  };
  const fetch: ClientOptions['fetch'] = async (url, { body, signal }) => {
    await new Promise((resolve, reject) => {
      signal?.addEventListener('abort', reject);
      setTimeout(resolve, latencyMs);
    });
    const { pathname } = new URL(url);
    const name = pathname.split('/')[4] ?? '';
    const limits = [
      { name: 'global', limit: global, window: windowOf('global', global) },
      { name, limit: group, window: windowOf(name, group) },
    ];
    const isRejected = limits.some(({ window }) => window.left === 0);
    if (isRejected) seen.rejected += 1;
    else for (const { window } of limits) window.left -= 1;
    seen.requests.push({ path: pathname, title: body ? JSON.parse(String(body)).title : undefined, at: Date.now() });
    const seconds = (ends: number) => Math.ceil((ends - Date.now()) / 1000);
    const headers = {
      'ratelimit-policy': limits.map(({ name, limit }) => `"${name}";q=${limit};w=${windowSeconds}`).join(', '),
      ratelimit: limits.map(({ name, window }) => `"${name}";r=${window.left};t=${seconds(window.ends)}`).join(', '),
    };
    await new Promise((resolve) => setTimeout(resolve, latencyMs));
    if (!isRejected) return Response.json({ success: true, data: { id: 1 } }, { headers });
    const retryAfterSeconds = Math.max(
      ...limits.flatMap(({ window }) => (window.left === 0 ? seconds(window.ends) : [])),
    );
    const error = { code: 'RATE_LIMIT_EXCEEDED', message: 'Wait.', retryAfterSeconds, requestId: 'r' };
    return Response.json(
      { success: false, error },
      { status: 429, headers: { ...headers, 'retry-after': String(retryAfterSeconds) } },
    );
  };
  return { fetch, seen };
}

describe('client pacing', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  const options = { baseUrl: 'http://127.0.0.1:9', apiKey: 'itsm_key' };
  const isOver = (moment: number) => vi.advanceTimersByTimeAsync(moment);

  it('sends the waiting calls in order when the next rate limit window starts', async () => {
    const { fetch, seen } = limitedService();
    const client = new ItsmClient({ ...options, fetch });
    const titles = Array.from({ length: 200 }, (_, index) => `Ticket ${index}`);
    const all = Promise.all(titles.map((title) => client.tickets.create({ ...ticket, title })));
    await isOver(30_000);
    expect(seen.requests).toHaveLength(30);
    expect(client.rateLimits).toEqual<PacedLimit[]>([
      { name: 'global', limit: 60, remaining: 30, resetSeconds: 31, windowSeconds: 60, waiting: 170 },
      { name: 'tickets', limit: 30, remaining: 0, resetSeconds: 31, windowSeconds: 60, waiting: 170 },
    ]);
    // Waiting ticket requests do not delay a request to another endpoint group.
    await Promise.all([client.assets.get(1), isOver(100)]);
    await Promise.all([all, isOver(7 * 60_000)]);
    expect(seen.requests.flatMap(({ title }) => title ?? [])).toEqual(titles);
    expect(seen.rejected).toBe(0);
    const [first, last] = [seen.requests[0]?.at ?? 0, seen.requests.at(-1)?.at ?? 0];
    expect(last - first).toBeLessThan(6 * 63_000);
  });

  it('reports waiting calls with the remaining time at most every 30 seconds to the logger and to onWait', async () => {
    const { fetch, seen } = limitedService();
    const warnings: string[] = [];
    const waits: (RateLimitWait & { at: number })[] = [];
    const logger = { debug: () => undefined, warn: (line: string) => warnings.push(line) };
    const onWait = (wait: RateLimitWait) => waits.push({ ...wait, at: Date.now() });
    const client = new ItsmClient({ ...options, fetch, logger, onWait });
    const all = Promise.all(Array.from({ length: 200 }, () => client.tickets.create(ticket)));
    await Promise.all([all, isOver(7 * 60_000)]);

    const rateLimits = [{ name: 'tickets', limit: 30, windowSeconds: 60 }];
    expect(waits[0]).toMatchObject({ rateLimits, waiting: 170, nextSeconds: expect.toBeOneOf([60, 61, 62]) });
    expect(warnings[0]).toMatch(
      /^waiting for the rate limit "tickets" of 30 in 60 s \(calls: 170, next one in 6[012] s, about [67] min left\)$/,
    );
    expect(warnings.at(-1)).toMatch(/\(calls: 20, next one in \d+ s, about \d+ s left\)$/);
    // Each wait of a minute between two windows leads to two reports.
    expect(waits.length).toBeGreaterThanOrEqual(10);
    expect(waits.length).toBeLessThanOrEqual(13);
    expect(warnings).toHaveLength(waits.length);
    const end = seen.requests.at(-1)?.at ?? 0;
    for (const [index, { at, remainingSeconds = 0 }] of waits.entries()) {
      expect(at - (waits[index - 1]?.at ?? 0)).toBeGreaterThanOrEqual(30_000);
      const actual = (end - at) / 1000;
      expect(remainingSeconds).toBeGreaterThan(0.9 * actual - 2);
      expect(remainingSeconds).toBeLessThan(actual + 5);
    }
  });

  it('completes all calls if several clients share an API key', async () => {
    const { fetch, seen } = limitedService();
    const clients = Array.from({ length: 4 }, () => new ItsmClient({ ...options, fetch }));
    const ends = clients.map((client) => {
      return Promise.all(Array.from({ length: 40 }, () => client.tickets.create(ticket))).then(() => Date.now());
    });
    const began = Date.now();
    const [last] = await Promise.all([Promise.all(ends), isOver(12 * 60_000)]);
    expect(Math.max(...last) - began).toBeLessThan(8 * 60_000);
    // Each client causes at most a few rejected requests per window.
    expect(seen.rejected).toBeLessThan(4 * 8 * 4);
  });

  it('throws RateLimitError if a call would wait longer than maxWaitMs', async () => {
    const { fetch, seen } = limitedService({ group: 2 });
    const client = new ItsmClient({ ...options, fetch });
    await Promise.all([client.tickets.get(1), client.tickets.get(2), isOver(100)]);
    const outcome = async (maxWaitMs: number) => client.tickets.get(3, { maxWaitMs }).catch((error: unknown) => error);

    // The client throws immediately if it already knows that the wait exceeds maxWaitMs.
    const [atOnce] = await Promise.all([outcome(5000), isOver(0)]);
    expect(atOnce).toMatchObject({
      name: 'RateLimitError',
      message: 'GET /tickets/3 was not sent: the rate limit "tickets" of 2 in 60 s allows it only after maxWaitMs.',
      retryAfterSeconds: expect.toBeOneOf([60, 61, 62]),
      remedy: expect.stringContaining('createMany'),
    });
    expect(seen.requests).toHaveLength(2);
    const [sent] = await Promise.all([outcome(0), isOver(100)]);
    expect(sent).toMatchObject({ name: 'RateLimitError', status: 429 });
    expect(seen.requests).toHaveLength(3);

    const many = Promise.allSettled(Array.from({ length: 6 }, () => client.tickets.get(4, { maxWaitMs: 70_000 })));
    const [settled] = await Promise.all([many, isOver(75_000)]);
    expect(settled.map(({ status }) => status)).toEqual([...Array(2).fill('fulfilled'), ...Array(4).fill('rejected')]);
  });

  it('aborts only the waiting call with the aborted signal', async () => {
    const { fetch } = limitedService({ group: 2 });
    const client = new ItsmClient({ ...options, fetch });
    const abort = new AbortController();
    const all = Promise.allSettled(
      [1, 2, 3, 4].map((id) => client.tickets.get(id, { signal: id === 3 ? abort.signal : undefined })),
    );
    await isOver(1000);
    abort.abort(new Error('enough'));
    const [settled] = await Promise.all([all, isOver(120_000)]);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    const reason = settled[2]?.status === 'rejected' ? settled[2].reason : undefined;
    expect(isItsmError(reason, 'ABORTED') && reason).toMatchObject({ method: 'GET', path: '/tickets/3' });
  });

  it('completes 100 concurrent create calls if responses have no rate limit headers', async () => {
    const { fetch, seen } = limitedService();
    const silent: ClientOptions['fetch'] = async (url, init) => {
      const response = await fetch(url, init);
      for (const name of ['ratelimit', 'ratelimit-policy']) response.headers.delete(name);
      return response;
    };
    const client = new ItsmClient({ ...options, fetch: silent });
    const all = Promise.all(Array.from({ length: 100 }, () => client.tickets.create(ticket)));
    await Promise.all([all, isOver(5 * 60_000)]);
    expect(seen.requests.length - seen.rejected).toBe(100);
  });
});
