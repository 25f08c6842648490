import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { compareHistory, readApplied } from './database/history.ts';
import { areJobsCurrent, migrateJobs } from './database/job-schema.ts';
import { applyMigrations, type Progress } from './database/migrate.ts';
import { MigrationError, readMigrations } from './database/migrations.ts';
import { ensureRoles, missingRoles, systemRole } from './database/roles.ts';
import { codeOf } from './error-code.ts';
import { idempotencyRetentionQueue } from './resources/idempotency-retention.ts';
import { totalsQueue } from './resources/tickets/totals.ts';
import { dispatchQueue } from './webhooks/dispatch-jobs.ts';
import { retentionQueue } from './webhooks/retention.ts';

/*
 * What the program needs of a database before it works on it: the roles, the migrations, the job queues
 * (docs/decisions/migrations.md). The server and `itsm migrate` see to it; everybody else only looks.
 */

const queues = [dispatchQueue, retentionQueue, idempotencyRetentionQueue, totalsQueue];

/** Held while migrating. */
const MIGRATING = '1769239405, 3';
/** How long another process's migrating is waited for, in milliseconds. */
const lockPatience = 600_000;

const INSUFFICIENT_PRIVILEGE = '42501';

/** The database is behind this version of the program. The message is what it lacks, and what to do. */
export class BehindError extends Error {
  override name = 'BehindError';
  readonly says: string;
  readonly advice: string;

  constructor(lacking: string[]) {
    const says = `The database is behind this version of the program: it lacks ${lacking.join(', ')}.`;
    const advice = 'Run `itsm migrate` or start the server.';
    super(`${says} ${advice}`);
    this.says = says;
    this.advice = advice;
  }
}

interface MigrateOptions {
  /** The migrations, where they are not the program's own. */
  folder?: string;
  onProgress?: Progress;
}

/**
 * Brings a database up to date: roles, migrations, job queues. Resolves to the names of the migrations that it applied.
 * Any number of processes may call it at once. Where there is nothing to do it needs no rights.
 * @throws RolesError or MigrationError
 */
export function migrateDatabase(databaseUrl: string, { folder, onProgress }: MigrateOptions = {}): Promise<string[]> {
  return withClient(databaseUrl, async (client) => {
    await ensureRoles(client);
    const { missing, jobs } = await look(client, folder);
    if (missing.length === 0 && jobs) return [];
    await lock(client, onProgress);
    try {
      const applied = await applyMigrations(client, folder, onProgress);
      if (!(await areJobsCurrent(client, queues))) {
        onProgress?.('Making the job queues …');
        await migrateJobs(client, databaseUrl, queues);
      }
      return applied;
    } catch (cause) {
      if (codeOf(cause) !== INSUFFICIENT_PRIVILEGE) throw cause;
      const message = `The role of DATABASE_URL may not migrate this database: ${(cause as Error).message}.`;
      throw new MigrationError(`${message} Run \`itsm migrate\` as the role that owns its tables.`, { cause });
    }
  });
}

/**
 * Looks whether a database is up to date, and changes nothing. Resolves to the names of migrations that a newer version
 * of the program has applied.
 * @throws BehindError, or MigrationError when the database went another way
 */
export function checkSchema(databaseUrl: string): Promise<{ ahead: string[] }> {
  return withClient(databaseUrl, async (client) => {
    if ((await missingRoles(client)).length > 0) throw new BehindError(['the roles of its connections']);
    const { missing, jobs, ahead } = await look(client);
    if (missing.length > 0 || !jobs) throw new BehindError([...missing, ...(jobs ? [] : ['job queues'])]);
    return { ahead };
  });
}

/** The statements that the roles still need (database/roles.ts). */
export function findMissingRoles(databaseUrl: string): Promise<string[]> {
  return withClient(databaseUrl, missingRoles);
}

/** What the database lacks, and what it has beyond. */
async function look(client: pg.ClientBase, folder?: string) {
  const migrations = await readMigrations(folder);
  const read = async () => {
    const { missing, ahead } = compareHistory(migrations, (await readApplied(client)) ?? []);
    return { missing: missing.map(({ name }) => name), ahead, jobs: await areJobsCurrent(client, queues) };
  };
  try {
    return await read();
  } catch (error) {
    if (codeOf(error) !== INSUFFICIENT_PRIVILEGE) throw error;
    // Where somebody else migrates, the role of the URL need own nothing: it may take the others, and that is all.
    await client.query(`SET ROLE ${systemRole}`);
    try {
      return await read();
    } finally {
      await client.query('RESET ROLE');
    }
  }
}

/**
 * Asks again and again instead of waiting in the database: a waiting statement holds a snapshot, and
 * CREATE INDEX CONCURRENTLY in the process that migrates would wait for it for ever.
 */
async function lock(client: pg.ClientBase, onProgress?: Progress): Promise<void> {
  for (const began = Date.now(); Date.now() < began + lockPatience; await sleep(100)) {
    const { rows } = await client.query<{ taken: boolean }>(`SELECT pg_try_advisory_lock(${MIGRATING}) AS taken`);
    if (rows[0]?.taken === true) return;
    onProgress?.('Another process is migrating this database: waiting …');
    onProgress = undefined;
  }
  throw new MigrationError('Another process has been migrating this database for ten minutes. Look what it is doing.');
}

/** Works on a connection of its own, whose end releases its locks. */
async function withClient<Result>(databaseUrl: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'itsm-api migrate',
    connectionTimeoutMillis: 5000,
  });
  // Without a listener the error of a lost connection would end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    // However long it takes. Set now, since older poolers refuse it as a parameter of the connection.
    await client.query('SET statement_timeout = 0');
    return await work(client);
  } finally {
    await client.end();
  }
}
