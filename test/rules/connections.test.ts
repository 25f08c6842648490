import { ConnectionWatchdog } from '@itsm-api/server/database/client/connection-watchdog.ts';
import { Pool } from '@itsm-api/server/database/client/pool.ts';
import { expect, it } from 'vitest';
import { addressOf, samples } from '../developer/samples.ts';
import { errorOf, startApi } from '../support/api.ts';
import { workerDatabaseUrl } from '../support/database.ts';
import { callOf, keyedEndpoints } from '../support/samples.ts';
import { signIn } from '../support/visitor.ts';
import { createWorkspace } from '../support/workspace.ts';

// Each test waits for longer than the watchdog, so the tests run concurrently.
it.concurrent.each([
  ['succeeds', 'SELECT pg_backend_pid() AS pid, pg_sleep(0.01)'],
  ['fails', 'SELECT pg_backend_pid() AS pid, pg_sleep(0.01), 1 / (extract(ms FROM clock_timestamp())::int % 2)'],
])('keeps the database connection open when a query %s', async (_, text) => {
  const watchdog = new ConnectionWatchdog();
  const timeouts = { statementMs: 300, lockMs: 300 };
  const pool = new Pool({
    connectionString: await workerDatabaseUrl(),
    application_name: 'itsm-api wanted',
    max: 1,
    timeouts,
    watchdog,
    onConnectionError: () => undefined,
  });
  const sessions = new Set<number>();
  const until = performance.now() + 4000;
  const queries = Array.from({ length: 4 }, async () => {
    while (performance.now() < until) {
      const answered = await pool.query(text).catch((error: Error) => {
        if (error.message !== 'division by zero') throw error;
      });
      if (answered !== undefined) sessions.add(answered.rows[0].pid);
    }
  });
  await Promise.all(queries);
  expect(sessions.size).toBe(1);
  await pool.end();
  watchdog.close();
});

it('keeps a database connection open after a failed statement', async () => {
  const api = await startApi({ ownDatabase: true });
  const { pool } = api.databases.system;
  const getSession = async () => (await pool.query('SELECT pg_backend_pid() AS pid')).rows[0].pid;
  const session = await getSession();
  for (let times = 0; times < 3; times++) await expect(pool.query('SELECT 1 / 0')).rejects.toThrow('division by zero');
  expect(await getSession()).toBe(session);
  // The pool replaces a connection that is still in a transaction or that PostgreSQL has terminated.
  await expect(pool.query('BEGIN; SELECT 1 / 0; COMMIT')).rejects.toThrow('division by zero');
  expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  const broken = expect(pool.query('SELECT pg_sleep(60)')).rejects.toThrow('terminating connection');
  const slept = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60)'";
  await expect.poll(async () => (await api.owner.pool.query(slept)).rowCount).toBe(1);
  await broken;
  expect(await getSession()).not.toBe(session);
  await api.close();
});

it('uses at most one database connection at a time per request and page', async () => {
  const api = await startApi();
  const workspace = await createWorkspace(api);
  const visitor = await signIn(api, workspace);
  let [lent, maxLent] = [0, 0];
  api.databases.requests.pool.on('acquire', () => (maxLent = Math.max(maxLent, ++lent))).on('release', () => lent--);
  const taken: Record<string, number> = {};
  for (const endpoint of keyedEndpoints) {
    const call = { ...callOf(endpoint, await endpoint.sample(workspace)), key: workspace.key };
    maxLent = 0;
    expect((await api.call(call)).status).toBe(endpoint.success);
    taken[endpoint.title] = maxLent;
  }
  for (const path of Object.keys(samples)) {
    const address = await addressOf(path, workspace);
    maxLent = 0;
    await visitor.get(address);
    taken[path] = maxLent;
  }
  expect(Object.entries(taken).filter(([, count]) => count > 1)).toEqual([]);
  expect(taken).toMatchObject({ 'GET /tickets': 1, '/developer/keys': 1 });
  await api.close();
});

it('returns 500 with Retry-After if a change waits too long for a lock', async () => {
  const api = await startApi({ env: { LOCK_TIMEOUT_MS: '200' } });
  const workspace = await createWorkspace(api);
  const { id } = await workspace.createAsset();
  const other = await api.owner.pool.connect();
  await other.query('BEGIN');
  await other.query(`SELECT FROM assets WHERE id = ${id} FOR UPDATE`);
  const answer = await workspace.call('PATCH', `/assets/${id}`, { name: 'Laptop of Bo' });
  await other.query('ROLLBACK');
  other.release();
  expect([answer.status, answer.headers['retry-after']], answer.text).toEqual([500, '5']);
  expect(errorOf(answer)).toMatchObject({
    code: 'INTERNAL_ERROR',
    message:
      'Another operation, such as a large import, blocked this request for too long. No changes were made. ' +
      'Retry in 5 seconds.',
  });
  expect((await workspace.call('PATCH', `/assets/${id}`, { name: 'Laptop of Bo' })).status).toBe(200);
  await api.close();
});
