import { setTimeout as sleep } from 'node:timers/promises';
import { pathPrefix } from '@itsm-api/contract';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Api, startApi } from '../../support/api.ts';
import { captureWarnings } from '../../support/captured-log.ts';
import { openRedis, skipUnlessRedis, type TestRedis } from '../../support/redis.ts';
import { createWorkspace } from '../../support/workspace.ts';

const away = 'Redis is unreachable. Rate limits are counted in this process.';
const back = 'Redis is reachable again. Rate limits are shared between processes.';

describe('shared limits', skipUnlessRedis(), () => {
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

  async function startShared(): Promise<Api & ReturnType<typeof captureWarnings>> {
    const log = captureWarnings();
    const env = { RATE_LIMIT_STORE: 'redis', REDIS_URL: redis.url };
    const api = await startApi({ env, logger: log.logger });
    closing.push(() => api.close());
    return Object.assign(api, log);
  }

  /** Sends requests to all servers until the test calls `stop`. Counts the responses by status. */
  function load(apis: Api[], key: string) {
    let stopped = false;
    const statuses = new Map<number, number>();
    const clients = Array.from({ length: 8 }, async (_, i) => {
      while (!stopped) {
        const api = apis[i % apis.length] as Api;
        const { status } = await api.call({ method: 'GET', path: `${pathPrefix}/users`, key });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    });
    return {
      statuses,
      async stop() {
        stopped = true;
        await Promise.all(clients);
      },
    };
  }

  it.each([
    ['is killed and restarted', () => redis.kill(), () => redis.start()],
    ['hangs and resumes', async () => redis.silence(), async () => redis.wake()],
  ])('serves requests while Redis %s, and then shares the rate limits again', async (_, stopRedis, restoreRedis) => {
    const apis = [await startShared(), await startShared()] as const;
    const [first, second] = apis;
    const workspace = await createWorkspace(first);
    const states = () => apis.map(({ app }) => app.rateLimitStore.state);
    expect(states()).toEqual(['redis', 'redis']);

    const running = load([...apis], workspace.key);
    closing.push(running.stop);
    const readUsers = async () => {
      const began = performance.now();
      for (let i = 0; i < 20; i++) await workspace.call('GET', '/users');
      return performance.now() - began;
    };
    const reachableMs = await readUsers();
    await stopRedis();
    await expect.poll(states).toEqual(['redis unreachable', 'redis unreachable']);
    // Requests don't wait for Redis while the servers treat it as unavailable.
    expect(await readUsers()).toBeLessThan(3 * reachableMs + 20 * 200);
    await sleep(1000);
    await restoreRedis();
    await expect.poll(states, { interval: 20 }).toEqual(['redis', 'redis']);
    await running.stop();

    expect([...running.statuses.keys()]).toEqual([200]);
    expect(running.statuses.get(200)).toBeGreaterThan(100);
    for (const { lines } of apis) expect(lines.map(({ msg }) => msg)).toEqual([away, back]);

    const key = await workspace.createKey();
    const left = async (api: Api) => {
      const { headers } = await api.call({ method: 'GET', path: `${pathPrefix}/users`, key });
      return Number(headers['x-ratelimit-remaining']);
    };
    expect([await left(first), await left(second), await left(first)]).toEqual([999_999, 999_998, 999_997]);
  });
});
