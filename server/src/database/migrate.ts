import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { compareHistory, readApplied } from './history.ts';
import { LockPatience, type Progress } from './lock-patience.ts';
import { type Migration, MigrationError, readMigrations, splitStatements } from './migrations.ts';

/*
 * Applies prisma/migrations and keeps the table _prisma_migrations as `prisma migrate deploy` does, without Prisma's
 * engine (docs/decisions/migrations.md).
 */

/** How long what was interrupted may run on, in milliseconds. */
const patience = 600_000;

export interface ApplyOptions {
  /** Of the same database: for looking at it while the client works. */
  databaseUrl: string;
  /** The migrations, where they are not the program's own. */
  folder?: string | undefined;
  /** For how long a lock is tried for. Ten minutes unless given; milliseconds. */
  patienceMs?: number | undefined;
  onProgress?: Progress | undefined;
}

/**
 * Applies the migrations that the database lacks and returns their names. One process at a time may (schema.ts).
 * @param client its session has no statement_timeout
 * @throws MigrationError when the database's history isn't the folder's, or a migration fails: that one left nothing;
 *   outside of a transaction what it had done, from which it goes on
 */
export async function applyMigrations(client: pg.ClientBase, options: ApplyOptions): Promise<string[]> {
  const migrations = await readMigrations(options.folder);
  await settleInterrupted(client);
  const applied = await readApplied(client);
  if (applied === undefined) await refuseOthersTables(client);
  const { missing } = compareHistory(migrations, applied ?? []);
  if (missing.length > 0) await client.query(historyTable);
  const patience = await LockPatience.open(client, options);
  try {
    for (const migration of missing) {
      options.onProgress?.(`Applying ${migration.name} …`);
      await apply({ client, patience }, migration);
    }
  } finally {
    patience.close();
  }
  return missing.map(({ name }) => name);
}

/** As Prisma makes it. */
const historyTable = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id varchar(36) PRIMARY KEY NOT NULL,
  checksum varchar(64) NOT NULL,
  finished_at timestamptz,
  migration_name varchar(255) NOT NULL,
  logs text,
  rolled_back_at timestamptz,
  started_at timestamptz NOT NULL DEFAULT now(),
  applied_steps_count integer NOT NULL DEFAULT 0
)`;

/** What migrations are applied with. */
interface Applying {
  client: pg.ClientBase;
  patience: LockPatience;
}

async function apply(applying: Applying, migration: Migration): Promise<void> {
  try {
    await (migration.concurrent ? runStatements : runInTransaction)(applying, migration);
  } catch (cause) {
    const { message, position } = cause as { message: string; position?: string };
    // Of a script that is run as a whole PostgreSQL says where.
    const before = migration.concurrent ? undefined : position && migration.script.slice(0, Number(position));
    const line = before && ` (line ${before.split('\n').length} of its migration.sql)`;
    throw new MigrationError(`Migration ${migration.name} failed: ${message}${line ?? ''}`, { cause });
  }
}

async function runInTransaction({ client, patience }: Applying, migration: Migration): Promise<void> {
  const started = new Date();
  await patience.run(async () => {
    await client.query('BEGIN');
    try {
      // Without parameters PostgreSQL takes many statements at once.
      await client.query(migration.script);
      await record(client, migration, started);
      await client.query('COMMIT');
    } catch (error) {
      await client.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  });
}

/**
 * Runs a script that PostgreSQL refuses within a transaction, or that would hold too much in one. Its row is written
 * when all is done: after an interruption it begins again, and finds what is there already.
 */
async function runStatements({ client, patience }: Applying, migration: Migration): Promise<void> {
  const started = new Date();
  for (const statement of splitStatements(migration.script)) {
    const waitsAlone = /\bCONCURRENTLY\b/i.test(statement);
    await patience.run(() => runStatement(client, statement), { waitsAlone });
  }
  await record(client, migration, started);
}

async function runStatement(client: pg.ClientBase, statement: string): Promise<void> {
  const index = /^CREATE\s+(?:UNIQUE\s+)?INDEX\s+CONCURRENTLY\s+(?:IF\s+NOT\s+EXISTS\s+)?(\S+)/i.exec(statement)?.[1];
  if (index !== undefined && (await isBuilt(client, index))) return;
  await client.query(statement);
}

/** Whether an index is there and complete. One whose building was interrupted is dropped. */
async function isBuilt(client: pg.ClientBase, index: string): Promise<boolean> {
  const { rows } = await client.query<{ valid: boolean }>(
    'SELECT indisvalid AND indisready AS valid FROM pg_index WHERE indexrelid = to_regclass($1)',
    [index],
  );
  if (rows[0]?.valid === false) await client.query(`DROP INDEX CONCURRENTLY ${index}`);
  return rows[0]?.valid === true;
}

async function record(client: pg.ClientBase, { name, checksum }: Migration, started: Date): Promise<void> {
  await client.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
     VALUES ($1, $2, $3, $4, clock_timestamp(), 1)`,
    [randomUUID(), checksum, name, started],
  );
}

/** Tables without a history are another program's. @throws MigrationError */
async function refuseOthersTables(client: pg.ClientBase): Promise<void> {
  const { rowCount } = await client.query(
    "SELECT FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace LIMIT 1",
  );
  if (rowCount === 0) return;
  throw new MigrationError(
    'The database has tables, but not from these migrations. Set DATABASE_URL to an empty database.',
  );
}

/** How the first release's engine called its connection. */
const engineName = 'itsm-api migrations';

/**
 * Settles what the first release left when it was killed while it migrated: it wrote the row before the script, and
 * counted a step in the script's transaction. One that failed has logs, and is refused.
 */
async function settleInterrupted(client: pg.ClientBase): Promise<void> {
  const interrupted = 'finished_at IS NULL AND rolled_back_at IS NULL AND logs IS NULL';
  const applied = await readApplied(client);
  if (!applied?.some(({ interrupted }) => interrupted)) return;
  await untilEngineIsGone(client);
  await client.query(
    `UPDATE _prisma_migrations SET finished_at = now() WHERE ${interrupted} AND applied_steps_count > 0`,
  );
  await client.query(`UPDATE _prisma_migrations SET rolled_back_at = now() WHERE ${interrupted}`);
}

/** PostgreSQL works on for a process that was killed, until it has something to tell it. */
async function untilEngineIsGone(client: pg.ClientBase): Promise<void> {
  for (const deadline = performance.now() + patience; performance.now() < deadline; await sleep(100)) {
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
