import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { applyMigrations, diffMigrations } from '../../server/src/database/migrate.ts';
import { cloneDatabase, execute } from '../support/database.ts';

const INIT = '20261120000000_init';
const LATER = '20991231000000_later';
const migrate = fileURLToPath(new URL('../../server/src/database/migrate.ts', import.meta.url));
const source = fileURLToPath(new URL('../../prisma/migrations', import.meta.url));

let database: Awaited<ReturnType<typeof cloneDatabase>>;
let url: string;

beforeEach(async () => {
  database = await cloneDatabase();
  url = database.url;
});

afterEach(() => database.drop());

describe('applyMigrations', () => {
  it('applies all of them to an empty database, and nothing the second time', async () => {
    await empty();
    expect(await applyMigrations(url)).toContain(INIT);
    expect(await applyMigrations(url)).toEqual([]);
  });

  it('applies each once when several processes start at once', async () => {
    await empty();
    const module = JSON.stringify(new URL('../../server/src/database/migrate.ts', import.meta.url).href);
    const script = `
      import { applyMigrations } from ${module};
      console.log(JSON.stringify(await applyMigrations(process.argv[1])));`;
    const args = ['--input-type=module', '--eval', script, url];
    const runs = await Promise.all([1, 2, 3].map(() => promisify(execFile)(process.execPath, args)));
    expect(runs.flatMap(({ stdout }) => JSON.parse(stdout)).filter((name) => name === INIT)).toHaveLength(1);
  });

  it('applies what a newer folder has, and lets an older program run on the newer database', async () => {
    await withLaterMigration('CREATE TABLE later (); SELECT 1;', async (folder) => {
      expect(await applyMigrations(url, folder)).toEqual([LATER]);
      expect(await applyMigrations(url, folder)).toEqual([]);
      expect(await applyMigrations(url)).toEqual([]);
    });
  });

  it('reports a migration that was edited after it was applied', async () => {
    await withLaterMigration('CREATE TABLE later ();', async (folder) => {
      await applyMigrations(url, folder);
      await writeFile(join(folder, LATER, 'migration.sql'), 'CREATE TABLE later (id int);');
      await expect(applyMigrations(url, folder)).rejects.toThrow(
        `Migration ${LATER} was changed after it was applied to this database. Put its migration.sql back`,
      );
    });
  });

  it('reports a migration that fails, undoes it, and reports it again', async () => {
    await withLaterMigration('CREATE TABLE later (); SELECT nonsense();', async (folder) => {
      const failing = applyMigrations(url, folder);
      await expect(failing).rejects.toThrow(`Migration ${LATER} failed: function nonsense() does not exist`);
      await expect(execute(url, 'SELECT FROM later')).rejects.toThrow('does not exist');
      await expect(applyMigrations(url, folder)).rejects.toThrow(
        `put right what it left behind, and run: prisma migrate resolve --rolled-back ${LATER}`,
      );
    });
  });

  it.each([
    ['before its end', 'CREATE TABLE later (); SELECT pg_sleep(1.5);', 300],
    ['after its end', 'CREATE TABLE later ();', 0],
  ])('goes on after its process was killed while a migration was applied, %s', async (_, sql, killAfterMs) => {
    await withLaterMigration(sql, async (folder) => {
      const program = `import { applyMigrations } from ${JSON.stringify(migrate)};
        const applying = applyMigrations(${JSON.stringify(url)}, ${JSON.stringify(folder)});
        console.log('begun');
        await applying;`;
      const child = spawn(process.execPath, ['--input-type=module', '-e', program]);
      await once(child.stdout, 'data');
      const begun = `DO $$ BEGIN ASSERT (SELECT count(*) FROM _prisma_migrations WHERE migration_name = '${LATER}') = 1; END $$`;
      await vi.waitFor(() => execute(url, begun), { interval: 5, timeout: 10_000 });
      await sleep(killAfterMs);
      child.kill('SIGKILL');
      await applyMigrations(url, folder);
      await expect(execute(url, 'SELECT FROM later')).resolves.toBeUndefined();
      expect(await applyMigrations(url, folder)).toEqual([]);
    });
  });

  it('reports a database that has other tables', async () => {
    await empty();
    await execute(url, 'CREATE TABLE of_another_program ()');
    await expect(applyMigrations(url)).rejects.toThrow('Set DATABASE_URL to an empty database.');
  });
});

describe('prisma/migrations', () => {
  it('lead to prisma/schema.prisma', async () => {
    expect(await diffMigrations(url)).toBe('');
  });

  it('notify of whatever stops or changes a key, and not of its use', async () => {
    await execute(url, "INSERT INTO tenants (name, name_key, updated_at) VALUES ('A', 'a', now())");
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    let notified = 0;
    client.on('notification', () => {
      notified++;
    });
    await client.query('LISTEN api_keys');
    const count = async (sql: string) => {
      notified = 0;
      await client.query(sql);
      // What a statement notifies arrives with its answer or right after it.
      await sleep(20);
      return notified;
    };
    try {
      expect(await count("UPDATE api_keys SET last_used_at = now(), name = 'x'")).toBe(0);
      expect(await count("UPDATE users SET name = 'x'")).toBe(0);
      expect(await count("UPDATE tenants SET name = 'B'")).toBe(0);
      expect(await count('UPDATE api_keys SET revoked_at = now()')).toBe(1);
      expect(await count('UPDATE api_keys SET expires_at = now()')).toBe(1);
      expect(await count("UPDATE api_keys SET scopes = '{}'")).toBe(1);
      expect(await count('UPDATE users SET active = false')).toBe(1);
      expect(await count('UPDATE tenants SET active = false')).toBe(1);
      for (const table of ['api_keys', 'users', 'tenants']) expect(await count(`DELETE FROM ${table}`)).toBe(1);
    } finally {
      await client.end();
    }
  });
});

async function empty(): Promise<void> {
  await execute(url, 'DROP SCHEMA public CASCADE');
  await execute(url, 'CREATE SCHEMA public');
}

/** A copy of the folder of migrations with one more. */
async function withLaterMigration(sql: string, work: (folder: string) => Promise<void>): Promise<void> {
  const folder = join(tmpdir(), `itsm-migrations-${randomUUID()}`);
  try {
    await cp(source, folder, { recursive: true });
    await mkdir(join(folder, LATER));
    await writeFile(join(folder, LATER, 'migration.sql'), sql);
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
