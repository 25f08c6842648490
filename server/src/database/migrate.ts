import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { MigrationList, SchemaEngine } from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';
import { codeOf } from '../embedded-postgres/cluster.ts';
import { ensureRoles } from './roles.ts';
import { engineName, withSchemaEngine } from './schema-engine.ts';

const MIGRATIONS = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url));
const SCHEMA = fileURLToPath(new URL('../../../prisma/schema.prisma', import.meta.url));

/** Held while migrating. Not the number that Prisma's engine itself takes meanwhile on a connection of its own. */
const MIGRATING = '1769239405, 3';
/** In milliseconds. */
const LOCK_PATIENCE = 600_000;

/** No table is left to others, as far as Prisma is concerned. */
const filters = { externalTables: [], externalEnums: [] };

/** Codes of PostgreSQL and of Prisma. */
const UNDEFINED_TABLE = '42P01';
const NOT_EMPTY = 'P3005';

interface AppliedMigration {
  migration_name: string;
  checksum: string;
  finished_at: Date | null;
}

/** The database and the folder of migrations don't fit together. */
export class MigrationError extends Error {
  override name = 'MigrationError';
}

/**
 * Applies the migrations that the database lacks and returns their names. It does what `prisma migrate deploy` does,
 * with the same engine and the same table, but offline; and where that only warns, it refuses: a migration that was
 * edited after it was applied is a MigrationError. Any number of processes may call it at once.
 */
export async function applyMigrations(databaseUrl: string, folder: string = MIGRATIONS): Promise<string[]> {
  const migrations = await readMigrations(folder);
  const client = new pg.Client({ connectionString: databaseUrl });
  // Without a listener the error of a lost connection would end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await ensureRoles(client);
    if (await isCurrent(client, migrations)) return [];
    await lock(client);
    await settleInterrupted(client);
    if (await isCurrent(client, migrations)) return [];
    return await withSchemaEngine(databaseUrl, async (engine) => {
      await checkHistory(engine, migrations);
      return await apply(engine, migrations);
    });
  } finally {
    // Releases the lock.
    await client.end();
  }
}

/**
 * The SQL that leads from the migrations to schema.prisma; empty when they agree. Functions, triggers and data are not
 * compared. Needs the right to create databases: the migrations are replayed in one that is dropped afterwards.
 */
export async function diffMigrations(databaseUrl: string): Promise<string> {
  const migrations = await readMigrations(MIGRATIONS);
  const schema = { path: SCHEMA, content: await readFile(SCHEMA, 'utf8') };
  return await withSchemaEngine(databaseUrl, async (engine) => {
    const { exitCode, stdout } = await engine.diff({
      from: { tag: 'migrations', ...migrations },
      to: { tag: 'schemaDatamodel', files: [schema] },
      script: true,
      // Asks for the exit code 2 where they differ: the script of no difference is a comment.
      exitCode: true,
      filters,
    });
    return exitCode === 2 ? (stdout ?? '') : '';
  });
}

/** Makes `prisma/migrations/<UTC time>_<name>/migration.sql` and returns its path. */
export async function writeMigration(name: string, sql: string): Promise<string> {
  const time = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
  const folder = join(MIGRATIONS, `${time}_${name}`);
  await mkdir(folder);
  await writeFile(join(folder, 'migration.sql'), sql);
  return join(folder, 'migration.sql');
}

/** The folder as the engine wants to have it. */
async function readMigrations(folder: string): Promise<MigrationList> {
  const lockfile = {
    path: 'migration_lock.toml',
    content: await readFile(join(folder, 'migration_lock.toml'), 'utf8'),
  };
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  const migrationDirectories = await Promise.all(
    names.sort().map(async (path) => {
      const value = await readFile(join(folder, path, 'migration.sql'), 'utf8');
      return { path, migrationFile: { path: 'migration.sql', content: { tag: 'ok' as const, value } } };
    }),
  );
  return { baseDir: folder, lockfile, migrationDirectories, shadowDbInitScript: '' };
}

/** Whether exactly the migrations of the folder have been applied. Spares most starts the engine, 5 MB of WebAssembly. */
async function isCurrent(client: pg.Client, { migrationDirectories }: MigrationList): Promise<boolean> {
  const applied = await readApplied(client);
  const wanted = migrationDirectories.map(
    ({ path, migrationFile }) => `${path} ${sha256(migrationFile.content.value)}`,
  );
  const found = applied.map((row) => `${row.migration_name} ${row.finished_at === null ? 'failed' : row.checksum}`);
  return found.sort().join() === wanted.sort().join();
}

async function readApplied(client: pg.Client): Promise<AppliedMigration[]> {
  try {
    const { rows } = await client.query<AppliedMigration>(
      'SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL',
    );
    return rows;
  } catch (error) {
    if (codeOf(error) === UNDEFINED_TABLE) return [];
    throw error;
  }
}

/**
 * Asks again and again instead of waiting in the database: a waiting statement holds a snapshot, and
 * CREATE INDEX CONCURRENTLY in the process that migrates would wait for it for ever.
 */
async function lock(client: pg.Client): Promise<void> {
  for (const deadline = Date.now() + LOCK_PATIENCE; Date.now() < deadline; await sleep(100)) {
    const { rows } = await client.query<{ taken: boolean }>(`SELECT pg_try_advisory_lock(${MIGRATING}) AS taken`);
    if (rows[0]?.taken === true) return;
  }
  throw new MigrationError('Another process has been migrating this database for ten minutes. Look what it is doing.');
}

/**
 * Settles a migration whose process was killed while it was applied: its script was applied whole or not at all, and
 * its row tells which (`markStep`). One that failed has logs, and is left to `checkHistory`.
 */
async function settleInterrupted(client: pg.Client): Promise<void> {
  const interrupted = 'finished_at IS NULL AND rolled_back_at IS NULL AND logs IS NULL';
  const { rows } = await client.query("SELECT to_regclass('_prisma_migrations') IS NOT NULL AS exists");
  if (rows[0]?.exists !== true) return;
  const left = await client.query(`SELECT FROM _prisma_migrations WHERE ${interrupted}`);
  if (left.rowCount === 0) return;
  await untilEngineIsGone(client);
  await client.query(
    `UPDATE _prisma_migrations SET finished_at = now() WHERE ${interrupted} AND applied_steps_count > 0`,
  );
  await client.query(`UPDATE _prisma_migrations SET rolled_back_at = now() WHERE ${interrupted}`);
}

/** PostgreSQL works on for a process that was killed, until it has something to tell it. */
async function untilEngineIsGone(client: pg.Client): Promise<void> {
  for (const deadline = Date.now() + LOCK_PATIENCE; Date.now() < deadline; await sleep(100)) {
    const { rowCount } = await client.query(
      'SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1',
      [engineName],
    );
    if (rowCount === 0) return;
  }
  throw new MigrationError(
    'A migration that was interrupted has been running on for ten minutes. Look what it is doing.',
  );
}

/** Refuses what `prisma migrate deploy` only warns of, and says what to do about what it would refuse as well. */
async function checkHistory(engine: SchemaEngine, migrationsList: MigrationList): Promise<void> {
  const input = { migrationsList, optInToShadowDatabase: false, filters };
  const { editedMigrationNames, failedMigrationNames, history } = await engine.diagnoseMigrationHistory(input);
  const [failed] = failedMigrationNames;
  if (failed !== undefined) {
    throw new MigrationError(
      `Migration ${failed} failed on this database before. See its row in the table _prisma_migrations, put right what ` +
        `it left behind, and run: prisma migrate resolve --rolled-back ${failed}`,
    );
  }
  const [edited] = editedMigrationNames;
  if (edited !== undefined) {
    throw new MigrationError(
      `Migration ${edited} was changed after it was applied to this database. ` +
        'Put its migration.sql back as it was, and make the change in a new migration.',
    );
  }
  // A database that is merely ahead is one that a newer version has migrated while this one still runs.
  if (history?.diagnostic === 'historiesDiverge') {
    throw new MigrationError(
      `This database was migrated along another line: it has ${history.unpersistedMigrationNames.join(', ')}, which ` +
        `prisma/migrations has not, and lacks ${history.unappliedMigrationNames.join(', ')}. Use another database.`,
    );
  }
}

async function apply(engine: SchemaEngine, migrationsList: MigrationList): Promise<string[]> {
  try {
    return (await engine.applyMigrations({ migrationsList, filters })).appliedMigrationNames;
  } catch (error) {
    throw translate(error);
  }
}

/** One line of the engine's errors, which also tell at length where in the engine they come from. */
function translate(cause: unknown): MigrationError {
  if (codeOf(cause) === NOT_EMPTY) {
    const message = 'The database has tables, but not from these migrations. Set DATABASE_URL to an empty database.';
    return new MigrationError(message, { cause });
  }
  const message = cause instanceof Error ? cause.message : String(cause);
  const reason = /ERROR: (.*)/.exec(message)?.[1] ?? message.split('\n')[0];
  const name = /migration_name="(\w+)"/.exec(message)?.[1];
  return new MigrationError(`${name ? `Migration ${name}` : 'Migrating the database'} failed: ${reason}`, { cause });
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
