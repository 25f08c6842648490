import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer } from 'node:tls';
import {
  type Count,
  createMemoryCounter,
  RateLimitStore,
} from '@itsm-api/server/http/rate-limit/rate-limit-windows.ts';
import { openRedisCounter } from '@itsm-api/server/http/rate-limit/redis-windows.ts';
import * as fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { steadyPort } from '../support/postgres-server.ts';
import { documentedRights, openRedis, skipUnlessRedis, type TestRedis } from '../support/redis.ts';

/** Tests rate limit windows in Redis. rules/shared-limits.test.ts tests shared rate limits of running servers. */
describe('windows in Redis', skipUnlessRedis(), () => {
  let redis: TestRedis;
  const closing: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    redis = await openRedis();
  });
  beforeEach(() => redis.start());
  afterEach(async () => {
    redis.wake();
    for (const close of closing.splice(0).reverse()) await close();
  });
  afterAll(() => redis.kill());

  const windowMs = 60_000;
  const max = 3;

  async function openStore(overrides: Partial<Parameters<typeof openRedisCounter>[0]> = {}) {
    const options = { url: redis.url, onUnavailable: () => undefined, onAvailable: () => undefined };
    const counter = await openRedisCounter({ ...options, ...overrides });
    const store = new RateLimitStore(
      createMemoryCounter(() => performance.now()),
      counter,
    );
    closing.push(async () => store.close());
    const count = (key: string, step: 1 | 0 | -1 = 1) => store.count(key, windowMs, max, step);
    return { store, counter, count };
  }

  /** Returns the number of Redis connections of all rate limit stores. */
  async function connections(): Promise<number> {
    return (await redis.send('CLIENT', 'LIST')).split('\n').filter((line) => line.includes(' name=itsm-api ')).length;
  }

  it('counts requests in Redis with the same results as in memory', async () => {
    const { store } = await openStore();
    type Step = { key: string; step: 1 | 0 | -1 };
    const steps = fc.array(
      fc.record<Step>({ key: fc.constantFrom('a', 'b'), step: fc.constantFrom<1 | 0 | -1>(1, 1, 1, 0, -1) }),
      { minLength: 1, maxLength: 20 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (walk) => {
        const memory: Count = createMemoryCounter(() => 0);
        const owner = randomUUID();
        for (const { key, step } of walk) {
          const { current, ttl } = await store.count(`${owner}:${key}`, windowMs, max, step);
          expect(current).toBe(memory(key, windowMs, max, step).current);
          expect(ttl).toBeGreaterThan(windowMs - 10_000);
          expect(ttl).toBeLessThanOrEqual(windowMs);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('starts a new rate limit window in Redis when the previous window ends', async () => {
    const { store } = await openStore();
    const key = randomUUID();
    for (const current of [1, 2, 2]) expect((await store.count(key, 500, 1, 1)).current).toBe(current);
    await expect.poll(async () => (await store.count(key, 500, 1, 0)).current).toBe(0);
    expect((await store.count(key, 500, 1, 1)).current).toBe(1);
  });

  it('starts a new window if the time to live of the current window exceeds the window length', async () => {
    const { count } = await openStore();
    const key = randomUUID();
    await redis.send('SET', `itsm:limits:${key}`, '3', 'PX', '3600000');
    expect(await count(key)).toEqual({ current: 1, ttl: expect.any(Number) });
    expect(Number(await redis.send('PTTL', `itsm:limits:${key}`))).toBeLessThanOrEqual(windowMs);
  });

  it('names a window in Redis after the tenant, API key and endpoint group', async () => {
    const { count } = await openStore();
    await redis.send('FLUSHALL');
    await count('7:12:tickets');
    expect(await redis.send('KEYS', '*')).toBe('itsm:limits:7:12:tickets');
    expect(Number(await redis.send('PTTL', 'itsm:limits:7:12:tickets'))).toBeGreaterThan(55_000);
  });

  it('shares rate limit windows between stores that use the same Redis server', async () => {
    const [first, second] = [await openStore(), await openStore()];
    const key = randomUUID();
    await first.count(key);
    expect((await second.count(key)).current).toBe(2);
    expect((await first.count(key, -1)).current).toBe(1);
    await redis.kill();
    expect((await second.count(key, 0)).current).toBe(0);
  });

  it('uses a single Redis connection and reconnects if the connection is lost', async () => {
    await expect.poll(connections).toBe(0);
    const reported: string[] = [];
    const { store, count } = await openStore({
      onUnavailable: () => void reported.push('away'),
      onAvailable: () => void reported.push('back'),
    });
    await sleep(1200);
    expect([await connections(), reported]).toEqual([1, []]);
    await redis.send('CLIENT', 'KILL', 'TYPE', 'normal');
    await expect.poll(() => reported).toEqual(['away', 'back']);
    await expect.poll(connections).toBe(1);
    redis.silence();
    await count('1:1:users');
    // While the store reconnects, it sends no counts to Redis.
    await sleep(700);
    await count('1:1:tickets');
    redis.wake();
    await expect.poll(() => store.state).toBe('redis');
    await expect.poll(connections).toBe(1);
    // Redis executed the first command at most once, although the store didn't receive the response.
    expect(Number(await redis.send('GET', 'itsm:limits:1:1:users'))).toBeLessThanOrEqual(1);
    expect(await redis.send('GET', 'itsm:limits:1:1:tickets')).toBe('');
    store.close();
    await expect.poll(connections).toBe(0);
    expect(reported).toEqual(['away', 'back', 'away', 'back']);
  });

  it('reports only once why Redis is unavailable', async () => {
    const reported: string[] = [];
    const onUnavailable = (reason: string) => void reported.push(reason);
    const { store } = await openStore({ onUnavailable });
    await redis.send('CLIENT', 'KILL', 'TYPE', 'normal');
    await expect.poll(() => reported).toEqual(['Redis has closed the connection.']);
    store.close();
    redis.silence();
    const { store: other } = await openStore({ onUnavailable });
    expect(other.state).toBe('redis unreachable');
    await sleep(1200);
    expect(reported.slice(1)).toEqual(['Redis did not respond within 1000 ms.']);
  });

  it('delays a request by at most 250 ms when Redis hangs', async () => {
    const { store, count } = await openStore();
    redis.silence();
    const counting = Promise.all(Array.from({ length: 10 }, () => count(`${randomUUID()}:1:users`)));
    // Also on a busy machine, timers end in their order.
    const counted = await Promise.race([counting, sleep(1000)]);
    expect(counted?.map(({ current }) => current)).toEqual(Array(10).fill(1));
    expect(store.state).toBe('redis unreachable');
  });

  it("ignores Redis while Redis can't count requests, and uses Redis again afterwards", async () => {
    const reported: string[] = [];
    const onUnavailable = (reason: string) => void reported.push(reason);
    const { store, count } = await openStore({ onUnavailable, onAvailable: () => void reported.push('back') });
    const key = `${randomUUID()}:1:tickets`;
    await redis.send('CONFIG', 'SET', 'maxmemory', '1');
    expect((await count(key)).current).toBe(1);
    await sleep(1500);
    expect(store.state).toBe('redis unreachable');
    await redis.send('CONFIG', 'SET', 'maxmemory', '0');
    await expect.poll(() => store.state).toBe('redis');
    expect(reported).toEqual([expect.stringMatching(/^OOM /), 'back']);
  });

  it('uses the database number and the user in REDIS_URL', async () => {
    const warn = vi.spyOn(console, 'warn');
    closing.push(async () => warn.mockRestore());
    await redis.send('ACL', 'SETUSER', 'it@sm', 'on', '>p@ss:word', ...(await documentedRights()));
    const { store, count } = await openStore({ url: `${redis.url.replace('//', '//it%40sm:p%40ss%3Aword@')}/3` });
    expect(store.state).toBe('redis');
    await count('7:13:tickets');
    expect(await redis.send('-n', '3', 'EXISTS', 'itsm:limits:7:13:tickets')).toBe('1');
    expect(await redis.send('CLIENT', 'LIST')).toMatch(/ name=itsm-api .* db=3 .* user=it@sm/);
    // The client library warns if the user lacks a permission.
    expect(warn).not.toHaveBeenCalled();
  });

  it('connects to Redis over TLS and over IPv6', async () => {
    const names: string[] = [];
    const refuse = (name: string, done: (error: Error) => void) => {
      names.push(name);
      done(new Error(`There is no certificate for ${name}.`));
    };
    const server = createServer({ SNICallback: refuse }).listen(0);
    closing.push(async () => server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const reasons: string[] = [];
    const onUnavailable = (reason: string) => void reasons.push(reason);
    for (const host of ['localhost', '127.0.0.1']) {
      expect((await openStore({ url: `rediss://${host}:${port}`, onUnavailable })).store.state).toBe(
        'redis unreachable',
      );
    }
    expect(new Set(names)).toEqual(new Set(['localhost']));
    await openStore({ url: `redis://[::1]:${await steadyPort()}`, onUnavailable });
    expect(reasons).toHaveLength(3);
    expect(reasons[2]).toContain(' ::1:');
  });

  it('returns the name and version of the connected Redis server', async () => {
    expect((await openStore()).counter.server).toMatch(/^(redis|valkey) \d+\.\d+\.\d+$/);
  });
});
