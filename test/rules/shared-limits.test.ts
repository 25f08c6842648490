import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathPrefix } from '@itsm-api/contract';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Api, startApi } from '../support/api.ts';
import { captureWarnings } from '../support/captured-log.ts';
import { cloneDatabase } from '../support/database.ts';
import { steadyPort } from '../support/postgres-server.ts';
import { documentedRights, openRedis, skipUnlessRedis, type TestRedis } from '../support/redis.ts';
import { spawnServer } from '../support/server-process.ts';
import { createWorkspace } from '../support/workspace.ts';

const away = 'Redis is unreachable. Rate limits are counted in this process.';

describe('Redis that is unavailable at startup', () => {
  it('starts without Redis and logs only once that Redis is unavailable', async () => {
    const { logger, lines } = captureWarnings();
    const REDIS_URL = `redis://:hidden@127.0.0.1:${await steadyPort()}`;
    const api = await startApi({ env: { RATE_LIMIT_STORE: 'redis', REDIS_URL, RATE_LIMIT_GROUP: '2' }, logger });
    const workspace = await createWorkspace(api);
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++) statuses.push((await workspace.call('GET', '/users')).status);
    expect(statuses).toEqual([200, 200, 429]);
    expect(api.app.rateLimitStore.state).toBe('redis unreachable');
    // The server tries to reconnect but doesn't log further failures.
    await sleep(1200);
    expect(lines).toEqual([expect.objectContaining({ msg: away, reason: expect.stringContaining('ECONNREFUSED') })]);
    expect(JSON.stringify(lines)).not.toContain('hidden');
    await api.close();
  });

  it('starts after one second if Redis accepts connections but does not respond', async () => {
    const { logger, lines } = captureWarnings();
    const silent = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as { port: number };
    const env = { RATE_LIMIT_STORE: 'redis', REDIS_URL: `redis://127.0.0.1:${port}` };
    const api = await startApi({ env, logger });
    const workspace = await createWorkspace(api);
    expect((await workspace.call('GET', '/users')).status).toBe(200);
    await api.close();
    expect(lines).toEqual([expect.objectContaining({ msg: away, reason: 'Redis did not respond within 1000 ms.' })]);
    silent.close();
  });
});

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

  async function startShared(env: Record<string, string> = {}): Promise<Api & ReturnType<typeof captureWarnings>> {
    const log = captureWarnings();
    const { logger } = log;
    const api = await startApi({ env: { RATE_LIMIT_STORE: 'redis', REDIS_URL: redis.url, ...env }, logger });
    closing.push(() => api.close());
    return Object.assign(api, log);
  }

  it('allows exactly 30 of 40 concurrent requests to two servers in each of two endpoint groups', async () => {
    const database = await cloneDatabase();
    closing.push(() => database.drop());
    const api = await startApi({ databaseUrl: database.url });
    const { key } = await createWorkspace(api);
    await api.close();
    const servers = await Promise.all(
      [1, 2].map(async () => {
        const PORT = String(await steadyPort());
        const server = spawnServer({
          ...{ PORT, DATABASE_URL: database.url, WEBHOOK_SECRET_KEY: Buffer.alloc(32, 1).toString('base64') },
          ...{ ROLES: 'api', RATE_LIMIT_STORE: 'redis', REDIS_URL: redis.url },
        });
        closing.push(async () => {
          server.child.kill('SIGTERM');
          await server.exited;
          expect(server.child.exitCode).toBe(0);
        });
        await server.ready;
        return `http://127.0.0.1:${PORT}${pathPrefix}`;
      }),
    );

    const requests = Array.from({ length: 80 }, async (_, i) => {
      const group = i % 2 === 0 ? 'tickets' : 'users';
      const server = servers[Math.floor(i / 2) % 2];
      const { status, headers } = await fetch(`${server}/${group}`, { headers: { 'x-api-key': key } });
      return { group, status, left: Number(/r=(\d+);t=\d+$/.exec(headers.get('ratelimit') ?? '')?.[1]) };
    });
    const answers = await Promise.all(requests);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]));
    for (const group of ['tickets', 'users']) {
      const through = answers.filter((answer) => answer.group === group && answer.status === 200);
      expect(through.map(({ left }) => left).sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, i) => i));
    }
  });

  it('does not log the Redis password if Redis rejects the password', async () => {
    const console = vi.spyOn(globalThis.console, 'warn');
    await redis.send('ACL', 'SETUSER', 'itsm', 'on', '>right', ...(await documentedRights()));
    const api = await startShared({ REDIS_URL: redis.url.replace('//', '//itsm:wrong-password@') });
    expect(api.lines).toEqual([expect.objectContaining({ msg: away, reason: expect.stringMatching(/^WRONGPASS /) })]);
    expect(JSON.stringify(api.lines)).not.toContain('wrong-password');
    await redis.send('ACL', 'SETUSER', 'itsm', '>wrong-password');
    await expect.poll(() => api.app.rateLimitStore.state).toBe('redis');
    expect(console).not.toHaveBeenCalled();
  });
});
