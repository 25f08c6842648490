import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer } from 'node:tls';
import { openRedisStore, readRedisFacts } from '@itsm-api/server/http/rate-limit-redis.ts';
import { createMemoryStore, type RateLimitStore, type Taken } from '@itsm-api/server/http/rate-limit-store.ts';
import * as fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { steadyPort } from '../faults/postgres.ts';
import { documentedRights, hasRedis, openRedis, type TestRedis } from '../support/redis.ts';

/*
 * What Redis keeps of the windows of keys; shared-limits.test.ts has them in running services.
 */
describe.skipIf(!hasRedis())('windows in Redis', { timeout: 60_000 }, () => {
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

  const limits = { global: 5, group: 3, windowSeconds: 60 };

  async function openStore(overrides: Partial<Parameters<typeof openRedisStore>[0]> = {}): Promise<RateLimitStore> {
    const memory = createMemoryStore(overrides.limits ?? limits, () => performance.now());
    const options = { url: redis.url, limits, memory, onAway: () => undefined, onBack: () => undefined };
    const store = await openRedisStore({ ...options, ...overrides });
    closing.push(() => store.close());
    return store;
  }

  /** How many connections of stores Redis has. */
  async function connections(): Promise<number> {
    return (await redis.send('CLIENT', 'LIST')).split('\n').filter((line) => line.includes(' name=itsm-api ')).length;
  }

  describe('are those that one process keeps', () => {
    type Step = { take: string } | { giveBack: number } | { wait: number };

    /** What a store tells of each step; moments are by its own clock, and left out. */
    async function walk(store: RateLimitStore, steps: Step[]): Promise<object[]> {
      const owner = randomUUID();
      const taken: [key: string, Taken][] = [];
      const told: object[] = [];
      for (const step of steps) {
        if ('wait' in step) {
          await sleep(step.wait);
          continue;
        }
        if ('take' in step) {
          const key = `${owner}:${step.take}`;
          taken.push([key, await store.take(key)]);
        } else {
          const given = taken[step.giveBack % taken.length];
          if (given?.[1].isTaken) given[1] = await store.giveBack(...given);
          else continue;
        }
        const last = 'take' in step ? taken.at(-1) : taken[step.giveBack % taken.length];
        told.push(JSON.parse(JSON.stringify(last?.[1], (name, value) => (name === 'openedAt' ? 'then' : value))));
      }
      return told;
    }

    const times = (count: number, step: Step) => Array.from({ length: count }, () => step);

    it.each<[name: string, steps: Step[]]>([
      ['the window of a group is used up', times(5, { take: '1:tickets' })],
      ['the window over all is used up', [...times(3, { take: '1:tickets' }), ...times(4, { take: '1:users' })]],
      ['two keys take', [...times(3, { take: '1:tickets' }), ...times(2, { take: '2:tickets' })]],
      [
        'a request is given back',
        [...times(3, { take: '1:tickets' }), { giveBack: 1 }, ...times(2, { take: '1:tickets' })],
      ],
      [
        'all are given back',
        [...times(2, { take: '1:tickets' }), { giveBack: 0 }, { giveBack: 1 }, { take: '1:users' }],
      ],
      ['time goes by', [{ take: '1:tickets' }, { wait: 1500 }, { take: '1:tickets' }, { take: '1:users' }]],
      ['the windows open again', [...times(4, { take: '1:tickets' }), { wait: 2500 }, { take: '1:tickets' }]],
      [
        'the windows open at different times',
        [{ take: '1:tickets' }, { wait: 1300 }, { take: '1:users' }, { wait: 1200 }, { take: '1:users' }],
      ],
      [
        'a request is given back to windows that have opened anew',
        [{ take: '1:tickets' }, { wait: 2500 }, { take: '1:tickets' }, { giveBack: 0 }, { take: '1:tickets' }],
      ],
    ])('when %s', async (_, steps) => {
      const short = { ...limits, windowSeconds: 2 };
      const memory = createMemoryStore(short, () => performance.now());
      const [shared, alone] = await Promise.all([walk(await openStore({ limits: short }), steps), walk(memory, steps)]);
      expect(shared).toEqual(JSON.parse(JSON.stringify(alone), toTheSecond));
    });

    /** Each is asked at a moment of its own, between which a second may have begun. */
    const toTheSecond = (name: string, value: unknown) =>
      name === 'resetSeconds' ? expect.toBeOneOf([-1, 0, 1].map((each) => Number(value) + each)) : value;

    it('whatever is taken and given back', async () => {
      const store = await openStore();
      const memory = createMemoryStore(limits, () => 0);
      const step = fc.oneof(
        { weight: 3, arbitrary: fc.record({ take: fc.constantFrom('1:tickets', '1:users', '2:users') }) },
        fc.record({ giveBack: fc.nat(20) }),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20 }), async (steps) => {
          const from = [{ take: '1:tickets' }, ...steps];
          const withoutTime = (told: object[]) => JSON.stringify(told).replace(/"resetSeconds":\d+/g, '');
          expect(withoutTime(await walk(store, from))).toBe(withoutTime(await walk(memory, from)));
        }),
        { numRuns: 100 },
      );
    });
  });

  it('are kept by tenant, key and group, in one slot of a cluster, and for as long as the window', async () => {
    const store = await openStore();
    await redis.send('FLUSHALL');
    await store.take('7:12:tickets');
    const names = (await redis.send('KEYS', '*')).split('\n').sort();
    expect(names).toEqual(['itsm:limits:{7:12}', 'itsm:limits:{7:12}:tickets']);
    for (const name of names) {
      expect(Number(await redis.send('PTTL', name))).toBeGreaterThan(55_000);
      expect(Number(await redis.send('PTTL', name))).toBeLessThanOrEqual(60_000);
    }
  });

  it('are given back through another process than took them', async () => {
    const [first, second] = [await openStore(), await openStore()];
    const key = `${randomUUID()}:1:tickets`;
    const taken = await first.take(key);
    await second.take(key);
    expect(await second.giveBack(key, taken)).toMatchObject({ global: { remaining: 4 }, group: { remaining: 2 } });
    expect(await first.take(key)).toMatchObject({ global: { remaining: 3 }, group: { remaining: 1 } });
  });

  it('never tell of less than nothing where a process lets fewer through', async () => {
    const key = `${randomUUID()}:1:tickets`;
    const generous = await openStore();
    for (let i = 0; i < 3; i++) await generous.take(key);
    const strict = await openStore({ limits: { ...limits, global: 2, group: 1 } });
    expect(await strict.take(key)).toMatchObject({
      ...{ isTaken: false, global: { remaining: 0 }, group: { remaining: 0 } },
    });
  });

  it('are looked at without taking, whichever process took', async () => {
    const [first, second] = [await openStore(), await openStore()];
    const key = `${randomUUID()}:1`;
    for (const group of ['tickets', 'tickets', 'users']) await first.take(`${key}:${group}`);
    const resetSeconds = expect.toBeOneOf([58, 59, 60]);
    const used = { openedAt: expect.any(Number), resetSeconds };
    const windows = [
      { name: 'global', limit: 5, remaining: 2, ...used },
      { name: 'tickets', limit: 3, remaining: 1, ...used },
      { name: 'assets', limit: 3, remaining: 3, openedAt: undefined, resetSeconds },
      { name: 'users', limit: 3, remaining: 2, ...used },
    ];
    for (let i = 0; i < 2; i++) expect(await second.look(key, ['tickets', 'assets', 'users'])).toStrictEqual(windows);
    await redis.kill();
    expect(await second.look(key, ['users'])).toMatchObject([{ remaining: 5 }, { name: 'users', remaining: 3 }]);
  });

  it('are counted over one connection for as long as they are counted', async () => {
    await expect.poll(connections).toBe(0);
    const heard: string[] = [];
    const store = await openStore({ onBack: () => void heard.push('back') });
    // It is looked whether Redis is there, and again.
    await sleep(1200);
    expect([await connections(), heard]).toEqual([1, []]);
    await redis.send('CLIENT', 'KILL', 'TYPE', 'normal');
    await expect.poll(() => heard).toEqual(['back']);
    await expect.poll(connections).toBe(1);
    redis.silence();
    await store.take('1:1:users');
    redis.wake();
    await expect.poll(() => store.state, { timeout: 5000 }).toBe('redis');
    await expect.poll(connections).toBe(1);
    await store.close();
    await expect.poll(connections).toBe(0);
  });

  it('tell once why they are not counted there', async () => {
    const heard: string[] = [];
    const onAway = (reason: string) => void heard.push(reason);
    const store = await openStore({ onAway });
    await redis.send('CLIENT', 'KILL', 'TYPE', 'normal');
    await expect.poll(() => heard).toEqual(['Redis has closed the connection.']);
    await store.close();
    redis.silence();
    const other = await openStore({ onAway });
    expect(other.state).toBe('redis away');
    await sleep(1200);
    expect(heard.slice(1)).toEqual(['Redis did not answer within 1000 ms.']);
  });

  it('hold up a request for a quarter of a second at most when Redis falls silent', async () => {
    const store = await openStore();
    redis.silence();
    const began = performance.now();
    const taken = await Promise.all(Array.from({ length: 10 }, () => store.take(`${randomUUID()}:1:users`)));
    expect(performance.now() - began).toBeLessThan(1000);
    expect(taken.every(({ isTaken }) => isTaken)).toBe(true);
    expect(store.state).toBe('redis away');
  });

  it('take back where it was taken, whether Redis goes or comes in between', async () => {
    const store = await openStore();
    const key = `${randomUUID()}:1:tickets`;
    const before = await store.take(key);
    await redis.kill();
    // Redis has it and is gone: it stays taken, and what was told stands.
    expect(await store.giveBack(key, before)).toEqual({ ...before, isTaken: false });
    const meanwhile = await store.take(key);
    expect(meanwhile).toMatchObject({ isTaken: true, group: { remaining: 2 } });
    await redis.start();
    await expect.poll(() => store.state, { timeout: 5000 }).toBe('redis');
    await store.take(key);
    expect(await store.giveBack(key, meanwhile)).toMatchObject({ isTaken: false, group: { remaining: 3 } });
    expect(await store.take(key)).toMatchObject({ isTaken: true, group: { remaining: 1 } });
  });

  it('are not asked of a Redis that can count nothing, until it can', async () => {
    const heard: string[] = [];
    const onAway = (reason: string) => void heard.push(reason);
    const store = await openStore({ onAway, onBack: () => void heard.push('back') });
    const key = `${randomUUID()}:1:tickets`;
    await redis.send('CONFIG', 'SET', 'maxmemory', '1');
    expect((await store.take(key)).isTaken).toBe(true);
    await sleep(1500);
    expect(store.state).toBe('redis away');
    await redis.send('CONFIG', 'SET', 'maxmemory', '0');
    await expect.poll(() => store.state, { timeout: 5000 }).toBe('redis');
    expect(heard).toEqual([expect.stringMatching(/^OOM /), 'back']);
  });

  it('are kept where REDIS_URL says: in its database, and as its user', async () => {
    await redis.send('ACL', 'SETUSER', 'it@sm', 'on', '>p@ss:word', ...(await documentedRights()));
    const store = await openStore({ url: `${redis.url.replace('//', '//it%40sm:p%40ss%3Aword@')}/3` });
    expect(store.state).toBe('redis');
    await store.take('7:13:tickets');
    expect(await redis.send('-n', '3', 'EXISTS', 'itsm:limits:{7:13}:tickets')).toBe('1');
    expect(await redis.send('CLIENT', 'LIST')).toMatch(/ name=itsm-api .* db=3 .* user=it@sm/);
  });

  it('are asked for by TLS, with the name of the host, and by IPv6', async () => {
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
    const onAway = (reason: string) => void reasons.push(reason);
    for (const host of ['localhost', '127.0.0.1']) {
      expect((await openStore({ url: `rediss://${host}:${port}`, onAway })).state).toBe('redis away');
    }
    expect(new Set(names)).toEqual(new Set(['localhost']));
    await openStore({ url: `redis://[::1]:${await steadyPort()}`, onAway });
    expect(reasons).toHaveLength(3);
    expect(reasons[2]).toContain(' ::1:');
  });

  it('tell who counts, and why nobody does', async () => {
    const facts = { server: expect.toBeOneOf(['redis', 'valkey']), version: expect.stringMatching(/^\d+\.\d+\.\d+$/) };
    expect(await readRedisFacts(redis.url)).toEqual(facts);
    await expect.poll(() => redis.send('CLIENT', 'LIST')).not.toContain('name=itsm-api');
    await expect(readRedisFacts(`redis://127.0.0.1:${await steadyPort()}`)).rejects.toThrow(/^connect ECONNREFUSED /);
    redis.silence();
    await expect(readRedisFacts(redis.url)).rejects.toThrow('Redis did not answer within 1000 ms.');
  });
});
