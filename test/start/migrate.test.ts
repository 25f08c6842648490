import { execFile, spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { checkSchema, migrateDatabase } from '../../server/src/process/ensure-schema.ts';
import { cloneDatabase, execute, query, type TestDatabase } from '../support/database.ts';

const BASELINE = '20261125000000_baseline';
const LATER = '20991231000000_later';
const schema = JSON.stringify(new URL('../../server/src/process/ensure-schema.ts', import.meta.url).href);
const row = `SELECT * FROM _prisma_migrations WHERE migration_name = '${LATER}'`;
const source = fileURLToPath(new URL('../../prisma/migrations', import.meta.url));

let database: TestDatabase;
let url: string;

beforeEach(async () => {
  database = await cloneDatabase();
  url = database.url;
});

afterEach(() => database.drop());

describe('migrateDatabase', () => {
  it('applies all migrations to an empty database only once', async () => {
    await empty();
    expect(await migrateDatabase(url)).toContain(BASELINE);
    expect(await migrateDatabase(url)).toEqual([]);
  });

  it('applies each migration once if several processes migrate concurrently', async () => {
    await empty();
    const script = `
      import { migrateDatabase } from ${schema};
      console.log(JSON.stringify(await migrateDatabase(process.argv[1])));`;
    const args = ['--input-type=module', '--eval', script, url];
    const runs = await Promise.all([1, 2, 3].map(() => promisify(execFile)(process.execPath, args)));
    expect(runs.flatMap(({ stdout }) => JSON.parse(stdout)).filter((name) => name === BASELINE)).toHaveLength(1);
  });

  it('accepts a database that a newer version has migrated', async () => {
    await withLaterMigration('CREATE TABLE later (); SELECT 1;', async (folder) => {
      expect(await migrateDatabase(url, { folder })).toEqual([LATER]);
      expect(await migrateDatabase(url, { folder })).toEqual([]);
      expect(await migrateDatabase(url)).toEqual([]);
    });
  });

  it('reports a migration that was edited after it was applied', async () => {
    await withLaterMigration('CREATE TABLE later ();', async (folder) => {
      await migrateDatabase(url, { folder });
      await writeFile(join(folder, LATER, 'migration.sql'), 'CREATE TABLE later (id int);');
      await expect(migrateDatabase(url, { folder })).rejects.toThrow(
        `Migration ${LATER} was changed after it was applied to this database. Restore the original migration.sql`,
      );
    });
  });

  it('records migrations in the same way as `prisma migrate deploy`', async () => {
    const sql = 'CREATE TABLE later ();\n';
    await withLaterMigration(sql, async (folder) => {
      await migrateDatabase(url, { folder });
      expect(await query(url, row)).toEqual([
        {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          checksum: createHash('sha256').update(sql).digest('hex'),
          migration_name: LATER,
          started_at: expect.any(Date),
          finished_at: expect.any(Date),
          rolled_back_at: null,
          logs: null,
          applied_steps_count: 1,
        },
      ]);
    });
  });

  it('rolls back a failed migration and later applies the corrected one', async () => {
    await withLaterMigration('CREATE TABLE later ();\nSELECT nonsense();', async (folder) => {
      const failure = `Migration ${LATER} failed: function nonsense() does not exist (line 2 of its migration.sql)`;
      await expect(migrateDatabase(url, { folder })).rejects.toThrow(failure);
      await expect(query(url, 'SELECT FROM later')).rejects.toThrow('does not exist');
      await expect(migrateDatabase(url, { folder })).rejects.toThrow(failure);
      await writeFile(join(folder, LATER, 'migration.sql'), 'CREATE TABLE later ();');
      expect(await migrateDatabase(url, { folder })).toEqual([LATER]);
    });
  });

  it('rejects a database with a migration that `prisma migrate deploy` did not finish', async () => {
    await withLaterMigration('CREATE TABLE later ();', async (folder) => {
      await query(
        url,
        "INSERT INTO _prisma_migrations (id, checksum, migration_name, logs) VALUES ('x', 'x', $1, 'ERROR: nonsense')",
        [LATER],
      );
      await expect(migrateDatabase(url, { folder })).rejects.toThrow(
        `\`prisma migrate deploy\` did not finish migration ${LATER}. See its row in the table _prisma_migrations, ` +
          `undo the changes of the migration, and run: prisma migrate resolve --rolled-back ${LATER}`,
      );
    });
  });

  it('rejects a database without the baseline migration', async () => {
    await query(url, 'UPDATE _prisma_migrations SET migration_name = $1 WHERE migration_name = $2', [
      '20261120000000_init',
      BASELINE,
    ]);
    const message =
      "The migrations of this database don't match this version: the database has 20261120000000_init and lacks " +
      `${BASELINE}. Its data can't be migrated and must be created again: set DATABASE_URL to an empty database or, for ` +
      'the embedded PostgreSQL, delete the folder DATA_DIR. Then start again.';
    await expect(migrateDatabase(url)).rejects.toThrow(message);
    await expect(checkSchema(url)).rejects.toThrow(message);
  });

  it.each([
    // PostgreSQL must detect that the client process has ended. Otherwise, `pg_sleep` would block all other migrations.
    ['before the end', 'CREATE TABLE later (); SELECT pg_sleep(600);'],
    ['after the end', 'CREATE TABLE later ();'],
  ])('migrates a database after a process was killed %s of a migration', async (_, sql) => {
    await withLaterMigration(sql, async (folder) => {
      const kill = await migrateInProcess(folder);
      const begun = async () =>
        (await runningStatements('CREATE TABLE later%')).length > 0 || (await query(url, row)).length > 0;
      await vi.waitUntil(begun, { interval: 5, timeout: 60_000 });
      kill();
      if (sql.includes('pg_sleep')) await writeFile(join(folder, LATER, 'migration.sql'), 'CREATE TABLE later ();');
      const applied = await migrateDatabase(url, { folder });
      await expect(query(url, 'SELECT FROM later')).resolves.toEqual([]);
      // PostgreSQL has rolled back the migration of the killed process, so the next run applies it.
      if (sql.includes('pg_sleep')) expect(applied).toEqual([LATER]);
      expect(await migrateDatabase(url, { folder })).toEqual([]);
    });
  });

  it('rebuilds an index if CREATE INDEX CONCURRENTLY was interrupted', async () => {
    const sql = `-- outside of a transaction
      CREATE INDEX CONCURRENTLY "later_idx" ON "users" ("tenant_id", "name");
      -- A comment; with a semicolon.
      CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "later_key" ON "users" ("tenant_id", "id", "name");`;
    await withLaterMigration(sql, async (folder) => {
      // CREATE INDEX CONCURRENTLY waits until older transactions end.
      const older = new pg.Client({ connectionString: url });
      await older.connect();
      await older.query('BEGIN; LOCK TABLE users IN ROW EXCLUSIVE MODE');
      const kill = await migrateInProcess(folder);
      const building = async () => (await runningStatements('CREATE INDEX CONCURRENTLY%'))[0]?.pid;
      const pid = await vi.waitUntil(building, { interval: 20, timeout: 60_000 });
      // As soon as the invalid index exists, CREATE INDEX CONCURRENTLY waits for the older transaction.
      await vi.waitUntil(async () => (await invalidIndexes()).length > 0, { interval: 20, timeout: 60_000 });
      kill();
      await query(url, 'SELECT pg_terminate_backend($1)', [pid]);
      await older.end();
      expect(await invalidIndexes()).toEqual([{ name: 'later_idx' }]);
      expect(await migrateDatabase(url, { folder })).toEqual([LATER]);
      expect(await invalidIndexes()).toEqual([]);
      expect(await query(url, "SELECT FROM pg_indexes WHERE indexname IN ('later_idx', 'later_key')")).toHaveLength(2);
    });
  });

  describe('migrateDatabase during an open transaction', () => {
    let older: pg.Client;

    beforeEach(async () => {
      older = new pg.Client({ connectionString: url, application_name: 'monthly report' });
      await older.connect();
      await older.query('BEGIN; SELECT FROM users');
    });
    afterEach(() => older.end());

    const waiting = (like: string) =>
      vi.waitUntil(async () => (await runningStatements(like)).length > 0, { interval: 5, timeout: 60_000 });

    it('lets other database sessions read a table while a migration waits to lock it', async () => {
      await withLaterMigration('ALTER TABLE "users" ADD COLUMN "later" int;', async (folder) => {
        const migrating = migrateDatabase(url, { folder });
        for (let read = 0; read < 2; read++) {
          await waiting('ALTER TABLE "users"%');
          // If the migration had no lock timeout, the query would wait behind the migration.
          await query(url, 'SELECT FROM users');
        }
        await older.query('COMMIT');
        expect(await migrating).toEqual([LATER]);
      });
    });

    it('names the oldest open transaction if a migration waits too long for a lock', async () => {
      await withLaterMigration('ALTER TABLE "users" ADD COLUMN "later" int;', async (folder) => {
        const progress: string[] = [];
        const onProgress = (message: string) => progress.push(message);
        const { message } = await migrateDatabase(url, { folder, onProgress, maxWaitMs: 500 }).catch((error) => error);
        const [{ pid } = {}] = (await older.query('SELECT pg_backend_pid() AS pid')).rows;
        const held = `another transaction holds a lock. The oldest transactions: pid ${pid} ("monthly report", idle in transaction since `;
        expect(message).toContain(`Migration ${LATER} failed: ${held}`);
        expect(message).toContain('Wait until they end, or terminate them');
        expect(progress).toContainEqual(expect.stringContaining(`Waiting: ${held}`));
      });
    });

    it('retries only the blocked statement of a migration that runs outside of a transaction', async () => {
      const sql = `-- outside of a transaction
        CREATE TABLE "later" ();
        SELECT pg_sleep(1);
        ALTER TABLE "users" ADD COLUMN "later" int;`;
      await withLaterMigration(sql, async (folder) => {
        const migrating = migrateDatabase(url, { folder, maxWaitMs: 500 });
        await waiting('ALTER TABLE "users"%');
        // ALTER TABLE fails at least once, because its lock timeout is 200 ms. The duration of `pg_sleep` doesn't count
        // as wait time, so the total wait time stays below the maximum.
        await sleep(300);
        await older.query('COMMIT');
        expect(await migrating).toEqual([LATER]);
      });
    });
  });

  describe('migrateDatabase during another migration', () => {
    let other: pg.Client;

    beforeEach(async () => {
      other = new pg.Client({ connectionString: url, application_name: 'itsm-api migrate' });
      await other.connect();
      await other.query('SELECT pg_advisory_lock(1769239405, 3)');
    });
    afterEach(() => other.end());

    it('waits for a concurrent migration and reports its database session', async () => {
      await withLaterMigration('CREATE TABLE later ();', async (folder) => {
        const progress: string[] = [];
        const working = other.query('SELECT pg_sleep(2)').then(() => other.end());
        const applied = await migrateDatabase(url, { folder, onProgress: (message) => progress.push(message) });
        expect(applied).toEqual([LATER]);
        expect(progress[0]).toMatch(
          /^Another process is migrating this database \(pid \d+ of PostgreSQL\): waiting …$/,
        );
        await working;
      });
    });
  });

  it('rejects a database that contains tables of another program', async () => {
    await empty();
    await execute(url, 'CREATE TABLE of_another_program ()');
    await expect(migrateDatabase(url)).rejects.toThrow('Set DATABASE_URL to an empty database.');
  });
});

describe('the triggers of prisma/migrations', () => {
  it('sends a notification with the tenant ID if API keys of the tenant change', async () => {
    await execute(url, "INSERT INTO tenants (id, name, name_key, updated_at) VALUES (7, 'A', 'a', now())");
    await execute(
      url,
      `INSERT INTO users (tenant_id, id, name, email, role, updated_at)
       SELECT 7, id, 'A', id || '@example.com', 'ADMIN', now() FROM generate_series(1, 2) AS id`,
    );
    await execute(
      url,
      `INSERT INTO api_keys (tenant_id, user_id, name, hash, last_four, scopes, updated_at)
       SELECT 7, id, 'A', sha256(id::text::bytea), 'abcd', '{}', now() FROM generate_series(1, 2) AS id`,
    );
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    let notifications: (string | undefined)[] = [];
    client.on('notification', ({ payload }) => notifications.push(payload));
    await client.query('LISTEN api_keys');
    const notificationsOf = async (sql: string) => {
      notifications = [];
      await client.query(sql);
      // PostgreSQL sends the notifications of a statement with its response or immediately afterwards.
      await sleep(20);
      return notifications;
    };
    try {
      expect(await notificationsOf("UPDATE api_keys SET last_used_at = now(), name = 'x'")).toEqual([]);
      expect(await notificationsOf("UPDATE users SET name = 'x'")).toEqual([]);
      expect(await notificationsOf("UPDATE tenants SET name = 'B'")).toEqual([]);
      // A statement that changes several API keys of a tenant sends one notification.
      expect(await notificationsOf('UPDATE api_keys SET revoked_at = now()')).toEqual(['7']);
      expect(await notificationsOf('UPDATE api_keys SET expires_at = now()')).toEqual(['7']);
      expect(await notificationsOf("UPDATE api_keys SET scopes = '{}'")).toEqual(['7']);
      expect(await notificationsOf('UPDATE users SET active = false')).toEqual(['7']);
      expect(await notificationsOf('UPDATE tenants SET active = false')).toEqual(['7']);
      for (const table of ['api_keys', 'users', 'tenants'])
        expect(await notificationsOf(`DELETE FROM ${table}`)).toEqual(['7']);
    } finally {
      await client.end();
    }
  });
});

async function empty(): Promise<void> {
  await execute(url, 'DROP SCHEMA public CASCADE');
  await execute(url, 'CREATE SCHEMA public');
}

/** Starts a migration in another process. Returns a function that kills the process. */
async function migrateInProcess(folder: string): Promise<() => void> {
  const program = `import { migrateDatabase } from ${schema};
    const migrating = migrateDatabase(${JSON.stringify(url)}, { folder: ${JSON.stringify(folder)} });
    console.log('begun');
    await migrating;`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program]);
  await once(child.stdout, 'data');
  return () => child.kill('SIGKILL');
}

/** Returns the process IDs of the migration sessions whose current or last statement matches `like`. */
async function runningStatements(like: string): Promise<Record<string, unknown>[]> {
  return query(
    url,
    `SELECT pid FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'itsm-api migrate' AND query LIKE $1`,
    [like],
  );
}

async function invalidIndexes(): Promise<Record<string, unknown>[]> {
  return query(url, 'SELECT indexrelid::regclass::text AS name FROM pg_index WHERE NOT indisvalid');
}

/** Copies the migrations folder, adds a migration to the copy, and passes the copy to `work`. */
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
