import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { QueuePolicy } from 'pg-boss';
import packageJson from 'pg-boss/package.json' with { type: 'json' };
import { MigrationError } from '../migrations/migration-history.ts';
import { retryWhileLocked } from '../migrations/migration-lock.ts';

/** A pg-boss queue. Times are in seconds. */
export interface Queue {
  name: string;
  policy: QueuePolicy;
  options: { expireInSeconds?: number; retryLimit?: number; deleteAfterSeconds?: number };
  /** Whether `migrateJobs` leaves the options of an existing queue unchanged. */
  isKept?: boolean;
}

/** The schema version that the installed pg-boss version requires. */
const wantedVersion: number = packageJson.pgboss.schema;

/** The column of `pgboss.queue` for each option. */
const columns = {
  expireInSeconds: 'expire_seconds',
  retryLimit: 'retry_limit',
  deleteAfterSeconds: 'deletion_seconds',
};

/**
 * Returns true if pg-boss's schema, the queues and the role permissions are up to date.
 * @throws MigrationError if a newer program version migrated the schema, because pg-boss doesn't support newer schemas
 */
export async function areJobsCurrent(client: pg.ClientBase, queues: Queue[]): Promise<boolean> {
  const version = await readVersion(client);
  if (version > wantedVersion) {
    throw new MigrationError(
      `The job queues of this database are newer than this version of the program: pg-boss's schema is ${version}, ` +
        `and this version needs ${wantedVersion}. Use the version that migrated the database.`,
    );
  }
  if (version < wantedVersion) return false;
  const { rows } = await client.query<Record<string, unknown>>('SELECT * FROM pgboss.queue');
  const found = new Map(rows.map((row) => [row.name, row]));
  const areMade = queues.every(({ name, options, isKept }) => {
    const made = found.get(name);
    const isAsWanted = ([option, value]: [string, number]) => made?.[columns[option as keyof typeof columns]] === value;
    return made !== undefined && (isKept || Object.entries(options).every(isAsWanted));
  });
  return areMade && (await unfinishedIndexes(client)) === 0 && (await missingRights(client)).length === 0;
}

/**
 * Migrates pg-boss's schema, creates or updates the queues, and grants missing permissions to the roles.
 * @throws MigrationError if an index could not be built
 */
export async function migrateJobs(client: pg.ClientBase, databaseUrl: string, queues: Queue[]): Promise<void> {
  const pool = new pg.Pool({ connectionString: databaseUrl, application_name: 'itsm-api migrate', max: 2 });
  pool.on('error', () => undefined);
  try {
    await retryWhileLocked(client, () => runBoss(client, pool, queues));
  } finally {
    await pool.end();
  }
  for (const grant of await missingRights(client)) await client.query(grant);
}

async function runBoss(client: pg.ClientBase, pool: pg.Pool, queues: Queue[]): Promise<void> {
  // Loads pg-boss on demand, because it loads slowly and most processes only check the schema.
  const { PgBoss } = await import('pg-boss');
  const boss = new PgBoss({
    db: { executeSql: (text, values) => execute(pool, text, values) },
    supervise: false,
    schedule: false,
    // The shortest interval that pg-boss allows between two checks for pending indexes, in seconds.
    bamIntervalSeconds: 10,
  });
  boss.on('error', () => undefined);
  let failure: string | undefined;
  boss.on('bam', ({ status, name, error }) => {
    if (status === 'failed') failure = `${name}: ${error}`;
  });
  try {
    await boss.start();
    for (const { name, policy, options, isKept } of queues) {
      await boss.createQueue(name, { policy, ...options });
      if (!isKept && Object.keys(options).length > 0) await boss.updateQueue(name, options);
    }
    // Waits until pg-boss has built the indexes that its migration requires.
    for (; (await unfinishedIndexes(client)) > 0; await sleep(200)) {
      if (failure !== undefined)
        throw new MigrationError(`Migrating the job queues failed: ${failure}. Correct the cause and migrate again.`);
    }
  } finally {
    await boss.stop();
  }
}

/** Runs a pg-boss statement without a statement timeout. pg-boss sets its own lock timeout. */
async function execute(pool: pg.Pool, text: string, values?: unknown[]): Promise<pg.QueryResult> {
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    await client.query('SET statement_timeout = 0');
    return await client.query(text, values);
  } catch (error) {
    failure = error as Error;
    throw error;
  } finally {
    // After an error, a transaction may still be open on the connection, so the pool closes the connection.
    client.release(failure);
  }
}

async function readVersion(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query("SELECT FROM pg_namespace WHERE nspname = 'pgboss'");
  if (rows.length === 0) return 0;
  const versions = await client.query<{ version: number }>('SELECT version FROM pgboss.version');
  return versions.rows[0]?.version ?? 0;
}

async function unfinishedIndexes(client: pg.ClientBase): Promise<number> {
  const { rowCount } = await client.query("SELECT FROM pgboss.bam WHERE status <> 'completed'");
  return rowCount ?? 0;
}

/**
 * Returns the statements that grant missing permissions to the roles. The baseline migration defines the SQL function
 * `missing_job_queue_rights`.
 */
async function missingRights(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ statement: string }>('SELECT * FROM missing_job_queue_rights() AS statement');
  return rows.map(({ statement }) => statement);
}
