import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { commandLine } from '../cli/itsm.ts';
import { startApi } from '../support/api.ts';
import { cloneDatabase, execute, withDatabase } from '../support/database.ts';
import { dataDir, postgresPid, start, stopStarted } from '../support/start-process.ts';
import { createWorkspace } from '../support/workspace.ts';

/* Tests the output of a server process, and the processes and files that remain after its exit. */
const WEBHOOK_SECRET_KEY = Buffer.alloc(32, 1).toString('base64');

afterEach(stopStarted);

describe('start', () => {
  it('prefers environment variables to the .env file in the working directory', async () => {
    const folder = await dataDir();
    await writeFile(join(folder, '.env'), 'PORT=http\nLOG_LEVEL=loud\n');
    const server = start({ LOG_LEVEL: 'info' }, folder);
    expect(await server.exited).toBe(1);
    expect(server.output()).toBe('PORT: must be a whole number from 0 to 65535\n');
  });

  it('reports in one line that .env is a folder', async () => {
    const folder = await dataDir();
    await mkdir(join(folder, '.env'));
    const server = start({}, folder);
    expect(await server.exited).toBe(1);
    expect(server.output()).toBe(
      ".env: can't be read: it is a folder. Replace it with a file that this user can read\n",
    );
  });

  it('opens at most as many database connections as it prints at startup', async () => {
    const database = await cloneDatabase();
    const api = await startApi({ databaseUrl: database.url });
    const { key } = await createWorkspace(api);
    await api.close();
    const server = start({
      DATABASE_URL: database.url,
      WEBHOOK_SECRET_KEY,
      DATABASE_POOL_SIZE: '4',
      TENANT_CONCURRENCY_SHARE: '1',
    });
    const address = await server.ready;
    expect(server.output()).toContain(
      '"uses":"at most 19 connections to PostgreSQL: 4 for requests (DATABASE_POOL_SIZE), 2 for key lookup (ROLES), ' +
        '2 for signing in (ROLES), 8 for deliveries and jobs (ROLES), 2 for listening (ROLES), 1 for the nightly check (ROLES)"',
    );

    const client = new pg.Client({ connectionString: database.url, application_name: 'test' });
    await client.connect();
    const maxCounts: Record<string, number> = {};
    const request = () => fetch(`${address}/api/public/v1/tickets`, { headers: { 'x-api-key': key } });
    for (let round = 0; round < 20; round++) {
      const requests = Array.from({ length: 50 }, request);
      const { rows } = await client.query<{ name: string; count: number }>(
        `SELECT application_name AS name, count(*)::int FROM pg_stat_activity
         WHERE datname = current_database() AND backend_type = 'client backend' AND application_name <> 'test'
         GROUP BY 1`,
      );
      for (const { name, count } of rows) maxCounts[name] = Math.max(maxCounts[name] ?? 0, count);
      await Promise.all(requests);
    }
    await client.end();
    const { 'itsm-api requests': requests, 'itsm-api keys': keys, 'itsm-api system': system, ...listening } = maxCounts;
    expect(requests).toBe(4);
    expect(keys).toBeLessThanOrEqual(2);
    expect(system).toBeLessThanOrEqual(8);
    expect(listening).toEqual({ 'itsm-api api_keys': 1, 'itsm-api webhook_dispatch': 1 });
    server.child.kill('SIGINT');
    await server.exited;
    await database.drop();
  });

  it('creates no demo workspace in the database of DATABASE_URL', async () => {
    const database = await cloneDatabase();
    const server = start({ DATABASE_URL: database.url, WEBHOOK_SECRET_KEY, DATA_DIR: '/nowhere' });
    const answer = await fetch(`${await server.ready}/api/public/v1/ping`);
    expect(answer.status).toBe(200);
    expect(server.output()).not.toContain('itsm_');
    server.child.kill('SIGINT');
    await server.exited;
    await database.drop();
  });

  it('warns if search is case-sensitive for non-ASCII letters', async () => {
    const { adminUrl } = inject('postgres');
    const name = `lc_ctype_c_${process.pid}`;
    await execute(
      adminUrl,
      `CREATE DATABASE ${name} TEMPLATE template0 LOCALE_PROVIDER libc LOCALE 'C' ENCODING 'UTF8'`,
    );
    try {
      const DATABASE_URL = withDatabase(adminUrl, name);
      const server = start({ DATABASE_URL, WEBHOOK_SECRET_KEY });
      await server.ready;
      expect(server.output()).toContain(
        'Search distinguishes upper and lower case of letters outside ASCII, such as é and É. The database has the LC_CTYPE C.',
      );
      const { stdout } = await commandLine(DATABASE_URL, { WEBHOOK_SECRET_KEY })('doctor --json');
      expect(JSON.parse(stdout).findings).toContainEqual(
        expect.objectContaining({
          check: 'PostgreSQL',
          level: 'note',
          message: 'Search distinguishes upper and lower case of letters outside ASCII, such as é and É.',
        }),
      );
      server.child.kill('SIGTERM');
      await server.exited;
    } finally {
      await execute(adminUrl, `DROP DATABASE ${name} WITH (FORCE)`);
    }
  });

  it.each([
    [{ PORT: 'http' }, 'PORT: must be a whole number from 0 to 65535'],
    [{ DATABASE_URL: 'postgresql://127.0.0.1:1/x' }, 'WEBHOOK_SECRET_KEY: is required with DATABASE_URL'],
    [{ DATABASE_URL: 'postgresql://127.0.0.1:1/x', WEBHOOK_SECRET_KEY }, 'DATABASE_URL: '],
  ])("reports in one line why the server can't start with %o", async (env, message) => {
    const server = start(env);
    expect(await server.exited).toBe(1);
    const lines = server.output().trim().split('\n');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(message);
  });

  it.each(['PORT', 'OPERATIONS_PORT'])('stops PostgreSQL and exits if the port in %s is in use', async (setting) => {
    const DATA_DIR = await dataDir();
    const { createServer } = await import('node:net');
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const server = start({ DATA_DIR, [setting]: String(port), LOG_LEVEL: 'error' });
    expect(await server.exited).toBe(1);
    expect(server.output()).toBe(`${setting}: ${port} is already in use on 127.0.0.1. Set another port.\n`);
    expect(await postgresPid(DATA_DIR)).toBeUndefined();
    other.close();
  });
});
