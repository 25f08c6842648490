import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import {
  compareHistory,
  type Migration,
  MigrationError,
  readApplied,
  readMigrations,
  splitStatements,
} from './migration-history.ts';
import { type Progress, retryWhileLocked } from './migration-lock.ts';

/*
 * Applies the migrations in prisma/migrations and updates the table _prisma_migrations. This module replaces `prisma
 * migrate deploy` and doesn't need Prisma's engine (docs/decisions/schema-migrations.md).
 */

export interface ApplyOptions {
  /** The migrations folder. Default: prisma/migrations. */
  folder?: string | undefined;
  /**
   * Maximum number of milliseconds to retry a statement while other sessions hold the locks it needs. Default: 10
   * minutes.
   */
  maxWaitMs?: number | undefined;
  onProgress?: Progress | undefined;
}

/**
 * Applies the migrations that the database lacks and returns their names. If a script fails, PostgreSQL rolls back the
 * script's transaction. If the script runs outside a transaction, the next run repeats it.
 * @param client a connection that holds the migration lock and has no statement timeout
 * @throws MigrationError if a migration fails, or if the history of the database doesn't match the migrations
 */
export async function applyMigrations(client: pg.ClientBase, options: ApplyOptions): Promise<string[]> {
  const migrations = await readMigrations(options.folder);
  const applied = await readApplied(client);
  if (applied === undefined) await rejectForeignTables(client);
  const { missing } = compareHistory(migrations, applied ?? []);
  if (missing.length > 0) await client.query(historyTable);
  for (const migration of missing) {
    options.onProgress?.(`Applying ${migration.name} …`);
    await apply(client, migration, options);
  }
  return missing.map(({ name }) => name);
}

/** SQL that creates the history table with the same columns as Prisma. */
export const historyTable = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id varchar(36) PRIMARY KEY NOT NULL,
  checksum varchar(64) NOT NULL,
  finished_at timestamptz,
  migration_name varchar(255) NOT NULL,
  logs text,
  rolled_back_at timestamptz,
  started_at timestamptz NOT NULL DEFAULT now(),
  applied_steps_count integer NOT NULL DEFAULT 0
)`;

async function apply(client: pg.ClientBase, migration: Migration, options: ApplyOptions): Promise<void> {
  try {
    if (migration.concurrent) await runStatements(client, migration, options);
    else await retryWhileLocked(client, () => runInTransaction(client, migration), options);
  } catch (cause) {
    const { message, position } = cause as { message: string; position?: string };
    // PostgreSQL reports the position of an error in the SQL text that it received. This text is the whole script only
    // if the script runs in a transaction.
    const before = migration.concurrent ? undefined : position && migration.script.slice(0, Number(position));
    const line = before && ` (line ${before.split('\n').length} of its migration.sql)`;
    throw new MigrationError(
      `Migration ${migration.name} failed: ${message}${line ?? ''}. Correct the cause and migrate again.`,
      { cause },
    );
  }
}

async function runInTransaction(client: pg.ClientBase, migration: Migration): Promise<void> {
  const startedAt = new Date();
  await client.query('BEGIN');
  try {
    await client.query(migration.script);
    await record(client, migration, startedAt);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/**
 * Runs a script outside a transaction. If the script is interrupted, the next run repeats it, because the history lists
 * the script only after all statements have succeeded.
 */
async function runStatements(client: pg.ClientBase, migration: Migration, options: ApplyOptions): Promise<void> {
  const startedAt = new Date();
  for (const statement of splitStatements(migration.script)) {
    const index = /^CREATE\s+(?:UNIQUE\s+)?INDEX\s+CONCURRENTLY\s+(?:IF\s+NOT\s+EXISTS\s+)?(\S+)/i.exec(statement)?.[1];
    if (index !== undefined && (await isBuilt(client, index))) continue;
    if (/\bCONCURRENTLY\b/i.test(statement)) {
      // Requests don't queue behind a CONCURRENTLY statement, so the statement waits for locks without a timeout.
      await client.query('SET lock_timeout = 0');
      await client.query(statement);
    } else {
      await retryWhileLocked(client, () => client.query(statement), options);
    }
  }
  await record(client, migration, startedAt);
}

/** Returns true if an index is complete. If an earlier build was interrupted, drops the incomplete index. */
async function isBuilt(client: pg.ClientBase, index: string): Promise<boolean> {
  const { rows } = await client.query<{ valid: boolean }>(
    'SELECT indisvalid AND indisready AS valid FROM pg_index WHERE indexrelid = to_regclass($1)',
    [index],
  );
  if (rows[0]?.valid === false) await client.query(`DROP INDEX CONCURRENTLY ${index}`);
  return rows[0]?.valid === true;
}

async function record(client: pg.ClientBase, { name, checksum }: Migration, startedAt: Date): Promise<void> {
  await client.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
     VALUES ($1, $2, $3, $4, clock_timestamp(), 1)`,
    [randomUUID(), checksum, name, startedAt],
  );
}

/**
 * Rejects a database that has tables but no migration history, because another program created the tables.
 * @throws MigrationError
 */
async function rejectForeignTables(client: pg.ClientBase): Promise<void> {
  const { rowCount } = await client.query(
    "SELECT FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace LIMIT 1",
  );
  if (rowCount === 0) return;
  throw new MigrationError('The database has tables of another program. Set DATABASE_URL to an empty database.');
}
