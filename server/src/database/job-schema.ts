import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { QueuePolicy } from 'pg-boss';
import packageJson from 'pg-boss/package.json' with { type: 'json' };
import { atMost } from '../at-most.ts';
import { whileLocked } from './lock-patience.ts';
import { MigrationError } from './migrations.ts';
import { requestRole, systemRole } from './roles.ts';

/** A queue of pg-boss, as the migration makes it. Times are in seconds. */
export interface Queue {
  name: string;
  policy: QueuePolicy;
  options: { expireInSeconds?: number; retryLimit?: number; deleteAfterSeconds?: number };
  /** Whether one that is there stays as it is. */
  isKept?: boolean;
}

/** What pg-boss calls the version of its schema that this version of it needs. */
const wantedVersion: number = packageJson.pgboss.schema;

/** What a queue's options are called in the table of queues. */
const columns = {
  expireInSeconds: 'expire_seconds',
  retryLimit: 'retry_limit',
  deleteAfterSeconds: 'deletion_seconds',
};

/**
 * Whether pg-boss's schema, the queues and what the roles may do there are as this program needs them.
 * @throws MigrationError when a newer version of the program has been here: pg-boss does not work with a newer schema
 */
export async function areJobsCurrent(client: pg.ClientBase, queues: Queue[]): Promise<boolean> {
  const version = await readVersion(client);
  if (version > wantedVersion) {
    throw new MigrationError(
      `The job queues of this database are newer than this version of the program: pg-boss's schema is ${version}, ` +
        `and ${wantedVersion} is needed. Use the version that migrated it.`,
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
  return areMade && (await unfinishedIndexes(client)) === 0 && (await missingGrants(client)).length === 0;
}

/**
 * Brings pg-boss's schema up to date, makes the queues, and grants the roles what they need there: `itsm_request` what
 * adding a job within the transaction of a request takes, `itsm_system` what workers do.
 * @throws MigrationError when an index could not be built
 */
export async function migrateJobs(client: pg.ClientBase, databaseUrl: string, queues: Queue[]): Promise<void> {
  const pool = new pg.Pool({ connectionString: databaseUrl, application_name: 'itsm-api migrate', max: 2 });
  pool.on('error', () => undefined);
  try {
    await whileLocked(() => runBoss(client, pool, queues));
  } finally {
    await pool.end();
  }
  for (const grant of await missingGrants(client)) await client.query(grant);
}

async function runBoss(client: pg.ClientBase, pool: pg.Pool, queues: Queue[]): Promise<void> {
  // Takes a while to load, and most often only its schema is looked at.
  const { PgBoss } = await import('pg-boss');
  const boss = new PgBoss({
    db: { executeSql: (text, values) => execute(pool, text, values) },
    supervise: false,
    schedule: false,
    // How often it looks for an index to build: 10 s at least.
    bamIntervalSeconds: 10,
  });
  boss.on('error', () => undefined);
  let failure: string | undefined;
  boss.on('bam', ({ status, name, error }) => {
    if (status === 'failed') failure = `${name}: ${error}`;
  });
  try {
    await keepingTurn(client, boss.start());
    for (const { name, policy, options, isKept } of queues) {
      await boss.createQueue(name, { policy, ...options });
      if (!isKept && Object.keys(options).length > 0) await boss.updateQueue(name, options);
    }
    // Its large indexes are built after its migration, by whichever process may migrate. Asked by the session that has the turn.
    for (; (await unfinishedIndexes(client)) > 0; await sleep(200)) {
      if (failure !== undefined) throw new MigrationError(`Migrating the job queues failed: ${failure}`);
    }
  } finally {
    await boss.stop();
  }
}

/** How often the session that has the turn to migrate says so while others work for it. Milliseconds. */
const sayAfterMs = 30_000;

/** Waits for work on other connections: a session that does nothing meanwhile is taken for stuck (migration-turn.ts). */
async function keepingTurn<Result>(client: pg.ClientBase, work: Promise<Result>): Promise<Result> {
  while (!(await atMost(sayAfterMs, work))) await client.query('SELECT 1');
  return work;
}

/** Runs SQL of pg-boss however long it takes; how long it waits for locks it says itself. */
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
    // After a failure it may still be in a transaction: then it is closed.
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

/** The statements that are still needed. pg-boss's own migrations know nothing of the roles. */
async function missingGrants(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ grant: string }>(
    `SELECT format('GRANT %s ON %s TO %I', string_agg(privilege, ', '), relation, role) AS grant
     FROM (
       SELECT $1 AS role, 'SELECT' AS privilege, 'pgboss.queue'::regclass AS relation
       UNION ALL SELECT $1, 'INSERT', 'pgboss.job_common'
       UNION ALL SELECT $2, privilege, oid FROM pg_class, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS privilege
         WHERE relnamespace = 'pgboss'::regnamespace AND relkind IN ('r', 'p')
     ) AS needed
     WHERE NOT has_table_privilege(role, relation, privilege)
     GROUP BY role, relation
     UNION ALL
     SELECT format('GRANT USAGE ON SCHEMA pgboss TO %I', role) FROM unnest(ARRAY[$1, $2]) AS role
     WHERE NOT has_schema_privilege(role, 'pgboss', 'USAGE')`,
    [requestRole, systemRole],
  );
  return rows.map((row) => row.grant);
}
