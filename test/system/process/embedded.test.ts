import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Embedded, type Holder, openEmbedded } from '../../../server/src/embedded-postgres/embedded.ts';
import { temporaryDataDir } from '../../../server/src/embedded-postgres/temporary.ts';
import { query } from '../../support/database.ts';
import { skipUnless } from '../../support/skip-unless.ts';

const server: Holder = { type: 'server', address: 'http://127.0.0.1:3000' };
const command: Holder = { type: 'command' };

/** All tests share one data folder, because creating a database cluster takes longer than the tests. */
const dataDir = temporaryDataDir();

let opened: Embedded[] = [];
let children: ChildProcess[] = [];

beforeAll(async () => {
  await (await open(command)).stop();
});

afterEach(async () => {
  for (const child of children) await kill(child);
  for (const { stop } of opened) await stop();
  opened = [];
  children = [];
});

afterAll(() => rm(dataDir, { recursive: true, force: true }));

describe('openEmbedded', () => {
  it('keeps the data of the embedded PostgreSQL between starts', async () => {
    const first = await open(server);
    await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    await first.stop();
    expect(await isUp(first.url)).toBe(false);
    const second = await open(server);
    expect(await query(second.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
  });

  it('lowercases Unicode text and compares text by code point in the embedded PostgreSQL', async () => {
    const { url } = await open(command);
    expect(
      await query(url, "SELECT lower('ÄÉÐ') AS lower, 'a' < 'B' AS linguistic, current_setting('server_encoding')"),
    ).toEqual([{ lower: 'äéð', linguistic: false, current_setting: 'UTF8' }]);
  });

  it('rejects a second server for a data folder, and names the running server', async () => {
    const { url } = await open(server);
    await expect(open({ type: 'server', address: 'http://127.0.0.1:3001' })).rejects.toThrow(
      `DATA_DIR ${dataDir} is in use by process ${process.pid} (http://127.0.0.1:3000). Stop it, or set DATA_DIR to another folder.`,
    );
    expect(await isUp(url)).toBe(true);
  });

  it('stops the embedded PostgreSQL when the last command or server closes it', async () => {
    const first = await open(command);
    const second = await open(server);
    const third = await open(command);
    expect(new Set([first.url, second.url, third.url]).size).toBe(1);
    // Commands receive the address of the running server.
    expect([first.origin, third.origin]).toEqual([undefined, 'http://127.0.0.1:3000']);
    await first.stop();
    await second.stop();
    expect(await isUp(third.url)).toBe(true);
    await third.stop();
    expect(await isUp(third.url)).toBe(false);
  });

  it('creates one database cluster when several processes open one data folder concurrently', async () => {
    await rm(dataDir, { recursive: true });
    const all = await Promise.all([openInChild(command), openInChild(command), open(command)]);
    expect(new Set(all.map(({ url }) => url)).size).toBe(1);
    await query(all[0].url, 'SELECT 1');
  });

  it('restarts the embedded PostgreSQL if one caller opens it while another caller stops it', async () => {
    let current = await open(command);
    for (let round = 0; round < 5; round++) {
      const [next] = await Promise.all([sleep(round * 5).then(() => open(command)), current.stop()]);
      expect(await query(next.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
      current = next;
    }
    await current.stop();
    expect(await isUp(current.url)).toBe(false);
  });

  it('reuses the embedded PostgreSQL if it is still running after the server was killed', async () => {
    const killed = await openInChild(server);
    await query(killed.url, 'CREATE TABLE kept_by_postgres ()');
    await kill(killed.child);
    expect(await isUp(killed.url)).toBe(true);
    const { url, stop } = await open(server);
    expect(url).toBe(killed.url);
    expect(await query(url, 'SELECT FROM kept_by_postgres')).toEqual([]);
    await stop();
    expect(await isUp(url)).toBe(false);
  });

  it('recovers the data after the embedded PostgreSQL and the server were killed', async () => {
    const killed = await openInChild(server);
    await query(killed.url, 'CREATE TABLE recovered AS SELECT 42 AS answer');
    process.kill(await postmaster(), 'SIGKILL');
    await kill(killed.child);
    const { url } = await open(server);
    expect(await query(url, 'SELECT answer FROM recovered')).toEqual([{ answer: 42 }]);
  });

  it('starts the embedded PostgreSQL even if another process has the process ID in postmaster.pid', async () => {
    const first = await open(command);
    const file = join(dataDir, 'postgres', 'postmaster.pid');
    const lines = (await readFile(file, 'utf8')).split('\n');
    await first.stop();
    await writeFile(file, [process.pid, ...lines.slice(1)].join('\n'));
    const { url } = await open(command);
    expect(await isUp(url)).toBe(true);
  });

  it('locks the data folder again after PostgreSQL terminates the connection that holds the lock', async () => {
    const { url } = await open(server);
    await query(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'itsm %'");
    await expect.poll(() => query(url, "SELECT FROM pg_locks WHERE locktype = 'advisory'")).toHaveLength(2);
    await expect(open(server)).rejects.toThrow('is in use by process');
  });

  it('keeps the embedded PostgreSQL running after Ctrl-C until the server closes it', async () => {
    const { child, url } = await openInChild(server);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    // On Ctrl-C, a terminal sends SIGINT to all processes in the process group.
    process.kill(-(child.pid ?? 0), 'SIGINT');
    await sleep(200);
    expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await client.end();
    child.stdin?.end();
    await once(child, 'exit');
    expect(await isUp(url)).toBe(false);
  });

  it('reports both PostgreSQL versions if a different version created the data folder', async () => {
    const file = join(dataDir, 'postgres', 'PG_VERSION');
    const version = await readFile(file, 'utf8');
    await writeFile(file, '9\n');
    await expect(open(command)).rejects.toThrow(
      `postgres was created by PostgreSQL 9, and PostgreSQL ${version.trim()} can't open it. Use the version`,
    );
    await writeFile(file, version);
  });

  it("reports the file that PostgreSQL can't write", async () => {
    const folder = join(dataDir, 'postgres');
    await chmod(folder, 0o500);
    try {
      await expect(open(command)).rejects.toThrow(/did not start: .*postmaster\.pid.*: Permission denied/);
    } finally {
      await chmod(folder, 0o700);
    }
  });

  it('reports the PostgreSQL error if the data folder is damaged', async () => {
    const wal = join(dataDir, 'postgres/pg_wal');
    const segments = (await readdir(wal)).filter((name) => /^[0-9A-F]{24}$/.test(name));
    const move = (from: string, to: string) =>
      Promise.all(segments.map((name) => rename(join(from, name), join(to, name))));
    await move(wal, dataDir);
    try {
      await expect(open(command)).rejects.toThrow('did not start: could not locate a valid checkpoint record');
    } finally {
      await move(dataDir, wal);
    }
  });

  it('reports a missing, empty or wrong password file for the embedded PostgreSQL', async () => {
    const file = join(dataDir, 'postgres-password');
    const password = await readFile(file, 'utf8');
    await rm(file);
    await expect(open(command)).rejects.toThrow(`${file} is missing. Restore it`);
    await writeFile(file, '\n');
    await expect(open(command)).rejects.toThrow(`${file} is empty. Restore it`);
    await writeFile(file, 'wrong');
    await expect(open(command)).rejects.toThrow(`PostgreSQL rejects the password in ${file}`);
    await writeFile(file, password);
    // The attempt with the wrong password left PostgreSQL running, so the test opens PostgreSQL again and stops it.
    await (await open(command)).stop();
  });

  it(
    "names the folder that the system user postgres can't access",
    skipUnless(process.getuid?.() === 0, 'The tests run as another user than root.'),
    async () => {
      const closed = temporaryDataDir();
      await mkdir(closed, { mode: 0o700 });
      const opening = openEmbedded({ dataDir: join(closed, 'data'), holder: command });
      await expect(opening).rejects.toThrow(`has no access to ${closed}. Move the project and DATA_DIR`);
      await rm(closed, { recursive: true });
    },
  );
});

async function open(holder: Holder): Promise<Embedded> {
  const embedded = await openEmbedded({ dataDir, holder, settings: { fsync: 'off' } });
  opened.push(embedded);
  return embedded;
}

/**
 * Opens the embedded PostgreSQL in another process. The process ignores SIGINT, and exits when its standard input ends.
 */
async function openInChild(holder: Holder): Promise<{ child: ChildProcess; url: string }> {
  const script = `
    import { openEmbedded } from ${JSON.stringify(new URL('../../../server/src/embedded-postgres/embedded.ts', import.meta.url).href)};
    process.on('SIGINT', () => {});
    const options = { dataDir: process.argv[1], holder: JSON.parse(process.argv[2]), settings: { fsync: 'off' } };
    const { url, stop } = await openEmbedded(options);
    console.log(url);
    process.stdin.resume().once('end', stop);`;
  const args = ['--input-type=module', '--eval', script, dataDir, JSON.stringify(holder)];
  const child = spawn(process.execPath, args, { detached: true, stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  const [url] = await once(createInterface(child.stdout), 'line');
  return { child, url };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function postmaster(): Promise<number> {
  return Number.parseInt(await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);
}

async function isUp(url: string): Promise<boolean> {
  return await query(url, 'SELECT').then(
    () => true,
    () => false,
  );
}
