import { setTimeout as sleep } from 'node:timers/promises';
import { checkConnection } from '@itsm-api/server/database/check-connection.ts';
import { ConnectionWatchdog } from '@itsm-api/server/database/client/connection-watchdog.ts';
import { listen } from '@itsm-api/server/database/listener.ts';
import { expect, it } from 'vitest';
import { startApi } from '../support/api.ts';
import { cloneDatabase, execute, query, workerDatabaseUrl } from '../support/database.ts';
import { startProxy } from '../support/proxy.ts';
import { createWorkspace } from '../support/workspace.ts';

/*
 * What stands between the server and PostgreSQL, a proxy, a firewall, a pooler, may lose connections or notifications and
 * say nothing.
 */
const timeouts = { statementMs: 1000, lockMs: 1000 };

it('answers within the statement time-out and three seconds when all connections fall silent, and goes on', async () => {
  const database = await cloneDatabase();
  const proxy = await startProxy(database.url);
  const api = await startApi({
    databaseUrl: proxy.url,
    env: { STATEMENT_TIMEOUT_MS: String(timeouts.statementMs), DATABASE_POOL_SIZE: '4' },
  });
  const workspace = await createWorkspace(api);
  const { id } = await workspace.createTicket();
  const requests = () => [
    workspace.call('GET', `/tickets/${id}`),
    workspace.call('GET', '/tickets?status=OPEN'),
    workspace.call('PATCH', `/tickets/${id}`, { title: 'VPN drops again' }),
    workspace.call('GET', '/users'),
  ];
  for (const { status } of await Promise.all(requests())) expect(status).toBe(200);

  expect(proxy.silence()).toBeGreaterThan(0);
  const silentSince = performance.now();
  const waits: number[] = [];
  for (let i = 0; i < 10; i++, await sleep(50)) {
    for (const request of requests()) {
      const began = performance.now();
      waits.push(await request.then(() => performance.now() - began));
    }
  }
  // The machine may be busy; hanging would take minutes.
  expect(Math.max(...waits)).toBeLessThan(timeouts.statementMs + 3000);
  await expect
    .poll(async () => (await Promise.all(requests())).map(({ status }) => status), { timeout: 10_000 })
    .toEqual([200, 200, 200, 200]);
  expect(performance.now() - silentSince).toBeLessThan(30_000);

  // A revocation is heard again, and everything can be closed.
  await api.prisma.apiKey.updateMany({ where: { tenantId: workspace.tenantId }, data: { revokedAt: new Date() } });
  await expect.poll(async () => (await workspace.call('GET', '/tickets')).status, { timeout: 5000 }).toBe(401);
  proxy.silence();
  await api.close();
  await proxy.close();
  await database.drop();
});

it('names a pooler that swallows notifications when it is to start behind one', async () => {
  const proxy = await startProxy(await workerDatabaseUrl(), { swallowsNotifications: true });
  await expect(checkConnection(proxy.url, timeouts)).rejects.toThrow(/^DATABASE_URL: .*PgBouncer: pool_mode/);
  await proxy.close();
  await expect(checkConnection(await workerDatabaseUrl(), timeouts)).resolves.toBeUndefined();
  for (const [url, what] of [
    ['postgresql://itsm:%E4@127.0.0.1/itsm', /^DATABASE_URL: .*URI malformed/],
    ['postgresql://127.0.0.1/itsm?sslrootcert=/nowhere.pem', /^DATABASE_URL: .*nowhere\.pem/],
  ] as const) {
    await expect(checkConnection(url, timeouts)).rejects.toThrow(what);
  }
});

it('ends the look at the database with an error when the connection is lost in it', async () => {
  const url = await workerDatabaseUrl();
  // Without an answer to its notifications it looks for two seconds.
  const proxy = await startProxy(url, { swallowsNotifications: true });
  const checked = checkConnection(proxy.url, timeouts).catch((error: Error) => error.message);
  const asking = "SELECT FROM pg_stat_activity WHERE application_name = 'itsm-api start' AND query LIKE '%pg_notify%'";
  await expect.poll(() => query(url, asking), { interval: 20 }).toHaveLength(1);
  await proxy.close();
  expect(await checked).toMatch(/^DATABASE_URL: PostgreSQL can't be used there/);
});

it('never counts as listening where notifications do not come back', async () => {
  const url = await workerDatabaseUrl();
  const watch = new ConnectionWatchdog();
  const proxy = await startProxy(url, { swallowsNotifications: true });
  const told: boolean[] = [];
  const deaf = listen({ url: proxy.url, channel: 'test', timeouts, watch, onNotify: () => told.push(deaf.listening) });
  const hearing = listen({ url, channel: 'test', timeouts, watch, onNotify: () => undefined });
  await expect.poll(() => hearing.listening, { timeout: 10_000 }).toBe(true);
  await expect.poll(() => told.length, { timeout: 10_000 }).toBeGreaterThan(1);
  expect(told).not.toContain(true);
  await Promise.all([deaf.close(), hearing.close()]);
  await proxy.close();
  watch.close();
});

it('says once that no notification arrives, and when they arrive again', async () => {
  let swallows = false;
  const proxy = await startProxy(await workerDatabaseUrl(), { swallowsNotifications: () => swallows });
  const watch = new ConnectionWatchdog();
  const said: string[] = [];
  const listener = listen({
    ...{ url: proxy.url, channel: 'test', timeouts, watch, onNotify: () => undefined },
    onAway: (reason) => said.push((reason as Error).name),
    onBack: () => said.push('back'),
  });
  await expect.poll(() => listener.listening, { timeout: 10_000 }).toBe(true);
  swallows = true;
  await expect.poll(() => said, { timeout: 30_000 }).toEqual(['TimeoutError']);
  await sleep(3000);
  swallows = false;
  await expect.poll(() => listener.listening, { timeout: 10_000 }).toBe(true);
  expect(said).toEqual(['TimeoutError', 'back']);
  await listener.close();
  await proxy.close();
  watch.close();
}, 60_000);

it('tells of a notification', async () => {
  const url = await workerDatabaseUrl();
  const watch = new ConnectionWatchdog();
  let told = 0;
  const listener = listen({ url, channel: 'test', timeouts, watch, onNotify: () => told++ });
  await expect.poll(() => listener.listening, { timeout: 10_000 }).toBe(true);
  const before = told;
  await execute(url, 'NOTIFY test');
  await expect.poll(() => told, { timeout: 5000 }).toBeGreaterThan(before);
  await listener.close();
  watch.close();
});
