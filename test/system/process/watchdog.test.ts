import { setTimeout as sleep } from 'node:timers/promises';
import { checkConnection } from '@itsm-api/server/database/check-connection.ts';
import { ConnectionWatchdog } from '@itsm-api/server/database/client/connection-watchdog.ts';
import { listen } from '@itsm-api/server/database/listener.ts';
import { expect, it } from 'vitest';
import { startApi } from '../../support/api.ts';
import { cloneDatabase, execute, query, workerDatabaseUrl } from '../../support/database.ts';
import { startProxy } from '../../support/proxy.ts';
import { createWorkspace } from '../../support/workspace.ts';

/**
 * A proxy, firewall or pooler between the server and PostgreSQL can drop connections or notifications without an error.
 */
const timeouts = { statementMs: 1000, lockMs: 1000 };

it('responds within the statement timeout plus 3 s while all database connections hang', async () => {
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
  // Without a watchdog, the requests would take minutes.
  expect(Math.max(...waits)).toBeLessThan(timeouts.statementMs + 3000);
  await expect
    .poll(async () => (await Promise.all(requests())).map(({ status }) => status))
    .toEqual([200, 200, 200, 200]);
  expect(performance.now() - silentSince).toBeLessThan(30_000);

  // The server receives notifications about revoked API keys again. It can shut down even if the proxy drops all data.
  await api.prisma.apiKey.updateMany({ where: { tenantId: workspace.tenantId }, data: { revokedAt: new Date() } });
  await expect.poll(async () => (await workspace.call('GET', '/tickets')).status).toBe(401);
  proxy.silence();
  await api.close();
  await proxy.close();
  await database.drop();
});

it('fails the startup check if a connection pooler drops notifications', async () => {
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

it('reports an error if the database connection is lost during the startup check', async () => {
  const url = await workerDatabaseUrl();
  // The proxy drops notifications, and the check waits two seconds for a notification. The test closes the connection
  // during the wait.
  const proxy = await startProxy(url, { swallowsNotifications: true });
  const checked = checkConnection(proxy.url, timeouts).catch((error: Error) => error.message);
  const notifying =
    "SELECT FROM pg_stat_activity WHERE application_name = 'itsm-api start' AND query LIKE '%pg_notify%'";
  await expect.poll(() => query(url, notifying), { interval: 20 }).toHaveLength(1);
  await proxy.close();
  expect(await checked).toMatch(/^DATABASE_URL: can't connect to PostgreSQL/);
});

it("never reports a working listener if PostgreSQL notifications don't arrive", async () => {
  const url = await workerDatabaseUrl();
  const watchdog = new ConnectionWatchdog();
  const proxy = await startProxy(url, { swallowsNotifications: true });
  const listeningStates: boolean[] = [];
  const deaf = listen({
    url: proxy.url,
    channel: 'test',
    timeouts,
    watchdog,
    onNotify: () => listeningStates.push(deaf.listening),
  });
  const hearing = listen({ url, channel: 'test', timeouts, watchdog, onNotify: () => undefined });
  await expect.poll(() => hearing.listening).toBe(true);
  await expect.poll(() => listeningStates.length).toBeGreaterThan(1);
  expect(listeningStates).not.toContain(true);
  await Promise.all([deaf.close(), hearing.close()]);
  await proxy.close();
  watchdog.close();
});

it('reports only one loss and one recovery of PostgreSQL notifications', async () => {
  let swallows = false;
  const proxy = await startProxy(await workerDatabaseUrl(), { swallowsNotifications: () => swallows });
  const watchdog = new ConnectionWatchdog();
  const reported: string[] = [];
  const listener = listen({
    ...{ url: proxy.url, channel: 'test', timeouts, watchdog, onNotify: () => undefined },
    onUnavailable: (reason) => reported.push((reason as Error).name),
    onAvailable: () => reported.push('back'),
  });
  await expect.poll(() => listener.listening).toBe(true);
  swallows = true;
  await expect.poll(() => reported).toEqual(['TimeoutError']);
  await sleep(3000);
  swallows = false;
  await expect.poll(() => listener.listening).toBe(true);
  expect(reported).toEqual(['TimeoutError', 'back']);
  await listener.close();
  await proxy.close();
  watchdog.close();
});

it('calls onNotify for a PostgreSQL notification', async () => {
  const url = await workerDatabaseUrl();
  const watchdog = new ConnectionWatchdog();
  let notifications = 0;
  const listener = listen({ url, channel: 'test', timeouts, watchdog, onNotify: () => notifications++ });
  await expect.poll(() => listener.listening).toBe(true);
  const before = notifications;
  await execute(url, 'NOTIFY test');
  await expect.poll(() => notifications).toBeGreaterThan(before);
  await listener.close();
  watchdog.close();
});
