import { open, readdir, rename, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { openEmbedded } from '../../../server/src/embedded-postgres/embedded.ts';
import { startApi } from '../../support/api.ts';
import { processCommandLine } from '../../support/command-process.ts';
import { cloneDatabase, query } from '../../support/database.ts';
import { dataDir, migratedDataDir, postgresPid, start, stopStarted } from '../../support/start-process.ts';
import { createWorkspace } from '../../support/workspace.ts';

/* Tests servers with an embedded PostgreSQL: the first start, stops, crashes, and the processes that remain. */
const WEBHOOK_SECRET_KEY = Buffer.alloc(32, 1).toString('base64');

afterEach(stopStarted);

async function totals(address: string, key: string): Promise<Record<string, number>> {
  const entries = ['users', 'tickets', 'assets', 'projects'].map(async (resource) => {
    const answer = await fetch(`${address}/api/public/v1/${resource}`, { headers: { 'x-api-key': key } });
    const { meta } = (await answer.json()) as { meta: { totalCount: number } };
    return [resource, meta.totalCount];
  });
  return Object.fromEntries(await Promise.all(entries));
}

describe('start', () => {
  it('creates a demo workspace only on the first start, and stops PostgreSQL even after a crash', async () => {
    const DATA_DIR = await dataDir();
    const first = start({ DATA_DIR });
    const address = await first.ready;
    const key = /itsm_\w{38}/.exec(first.output())?.[0] ?? '';
    expect(first.output()).toContain(
      `curl -H 'Authorization: Bearer ${key}' '${address}/api/public/v1/tickets?perPage=3'`,
    );
    expect(first.output()).toContain(`"docs":"${address}/"`);
    expect(first.output()).not.toContain('The embedded PostgreSQL is for trials and tests');
    // Without a terminal, the server prints JSON log lines.
    const lines = first
      .output()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: 30,
        msg: 'The ITSM API is running.',
        demo: expect.objectContaining({ tenant: 'Acme Corporation', key }),
      }),
    );
    const made = { users: 4, tickets: 40, assets: 12, projects: 3 };
    expect(await totals(address, key)).toEqual(made);

    const second = start({ DATA_DIR, PORT: '0' });
    expect(await second.exited).toBe(1);
    expect(second.output().trim()).toMatch(
      new RegExp(`^DATA_DIR ${DATA_DIR} is in use by process ${first.child.pid} .*$`),
    );

    first.child.kill('SIGINT');
    expect(await first.exited).toBe(0);
    expect(await postgresPid(DATA_DIR)).toBeUndefined();

    // The size of a database includes every file in its folder. The file of the test is sparse, so it uses no disk
    // space.
    const databases = join(DATA_DIR, 'postgres/base');
    const newest = Math.max(...(await readdir(databases)).map(Number).filter(Number.isInteger));
    const file = join(databases, `${newest}/999999`);
    await writeFile(file, '');
    await truncate(file, 1.1e9);

    // After a server crash, PostgreSQL continues to run, and the next server uses it.
    const crashed = start({ DATA_DIR });
    await crashed.ready;
    expect(crashed.output()).not.toContain('itsm_');
    expect(crashed.output()).toContain('The embedded PostgreSQL is for trials and tests');
    crashed.child.kill('SIGKILL');
    await crashed.exited;
    expect(await postgresPid(DATA_DIR)).toBeGreaterThan(0);
    const recovered = start({ DATA_DIR });
    expect(await totals(await recovered.ready, key)).toEqual(made);
    recovered.child.kill('SIGINT');
    recovered.child.kill('SIGTERM');
    expect(await recovered.exited, recovered.output()).toBe(0);
    expect(recovered.output().match(/Stopping/g)).toHaveLength(1);
    expect(await postgresPid(DATA_DIR)).toBeUndefined();
  });

  it('prints a warning instead of the API key if other hosts can reach the server', async () => {
    const server = start({
      DATA_DIR: await migratedDataDir(),
      HOST: '0.0.0.0',
      PUBLIC_URL: 'https://itsm.example.com',
    });
    await server.ready;
    expect(server.output()).toContain('The embedded PostgreSQL is for trials and tests');
    expect(server.output()).not.toMatch(/itsm_/);
    expect(server.output()).toContain("itsm keys create --tenant 'Acme Corporation' --user ");
  });

  it('restarts a stopped embedded PostgreSQL, and exits with an error if the restart fails', async () => {
    const DATA_DIR = await migratedDataDir();
    const server = start({ DATA_DIR, OPERATIONS_PORT: '0' });
    const address = await server.ready;
    const key = /itsm_\w{38}/.exec(server.output())?.[0] ?? '';
    const operations = /"operations":"(http[^"]+)"/.exec(server.output())?.[1] ?? '';
    const statusOf = async () => (await fetch(`${address}/api/public/v1/me`, { headers: { 'x-api-key': key } })).status;
    const pid = (await postgresPid(DATA_DIR)) ?? 0;

    // Stops PostgreSQL with SIGINT, as an administrator would. PostgreSQL then removes the file that contains its port.
    process.kill(pid, 'SIGINT');
    await expect.poll(() => server.output()).toContain('ended and was started again');
    await expect.poll(statusOf).toBe(200);

    await rename(join(DATA_DIR, 'postgres/postgresql.conf'), join(DATA_DIR, 'postgresql.conf'));
    process.kill((await postgresPid(DATA_DIR)) ?? 0, 'SIGKILL');
    const health = async () => (await fetch(`${operations}/readyz`)).json();
    await expect.poll(health).toMatchObject({
      status: 'degraded',
      checks: { database: { ok: false, error: expect.stringContaining('ECONNREFUSED') } },
    });
    expect(await server.exited).toBe(1);
    expect(server.output()).toContain(`PostgreSQL in ${DATA_DIR} did not start: `);
  });

  it('reports damaged PostgreSQL files, but still serves data from intact files', async () => {
    const DATA_DIR = await migratedDataDir();
    const before = start({ DATA_DIR });
    await before.ready;
    const key = /itsm_\w{38}/.exec(before.output())?.[0] ?? '';
    const database = await openEmbedded({ dataDir: DATA_DIR, holder: { type: 'command' } });
    const [{ path } = {}] = await query(database.url, "SELECT pg_relation_filepath('assets') AS path");
    await database.stop();
    before.child.kill('SIGINT');
    await before.exited;
    const file = await open(join(DATA_DIR, 'postgres', String(path)), 'r+');
    await file.write('damaged', 8000);
    await file.close();

    const server = start({ DATA_DIR, OPERATIONS_PORT: '0' });
    const address = await server.ready;
    const statusOf = async (resource: string) =>
      (await fetch(`${address}/api/public/v1/${resource}`, { headers: { 'x-api-key': key } })).status;
    expect(await Promise.all(['assets', 'tickets', 'projects'].map(statusOf))).toEqual([500, 200, 200]);

    const operations = /"operations":"(http[^"]+)"/.exec(server.output())?.[1] ?? '';
    const health = async () => (await fetch(`${operations}/readyz`)).json();
    const message = expect.stringMatching(/^Data files are damaged: \d+ page reads failed, the last at 20\S+Z\.$/);
    await expect.poll(health).toMatchObject({
      status: 'degraded',
      checks: { database: { ok: false, error: message } },
    });
    const { stdout } = await processCommandLine('', { DATA_DIR })('doctor --json');
    expect(JSON.parse(stdout).findings).toContainEqual(
      expect.objectContaining({ check: 'data files', level: 'wrong', message }),
    );
  });

  it('shuts down cleanly on SIGINT during the start, and can start again', async () => {
    const DATA_DIR = await dataDir();
    const interrupted = start({ DATA_DIR });
    await expect.poll(() => postgresPid(DATA_DIR), { interval: 5 }).toBeGreaterThan(0);
    interrupted.child.kill('SIGINT');
    expect(await interrupted.exited, interrupted.output()).toBe(0);
    expect(await postgresPid(DATA_DIR)).toBeUndefined();
    await start({ DATA_DIR }).ready;
  });

  it('exits immediately on a second signal while a request runs', async () => {
    const database = await cloneDatabase();
    const api = await startApi({ databaseUrl: database.url });
    const { key } = await createWorkspace(api);
    await api.close();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();

    const env = { LOCK_TIMEOUT_MS: '20000', STATEMENT_TIMEOUT_MS: '20000' };
    const server = start({ ...env, DATABASE_URL: database.url, WEBHOOK_SECRET_KEY });
    const address = await server.ready;
    await client.query('BEGIN; LOCK TABLE assets IN ACCESS EXCLUSIVE MODE');
    const request = fetch(`${address}/api/public/v1/assets`, { headers: { 'x-api-key': key } }).catch(() => undefined);
    const waiting = `SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database
      WHERE NOT granted AND datname = current_database()`;
    await expect.poll(async () => (await client.query(waiting)).rowCount).toBe(1);
    server.child.kill('SIGTERM');
    await expect.poll(() => server.output()).toContain('Stopping');
    await sleep(1500);
    expect(server.child.exitCode).toBeNull();
    server.child.kill('SIGTERM');
    expect(await server.exited).toBe(130);
    await request;
    await client.end();
    await database.drop();
  });
});
