import pg from 'pg';
import { utc } from '../database/client/connection.ts';
import { areJobsCurrent, migrateJobs, type Queue } from '../database/jobs/job-schema.ts';
import {
  compareHistory,
  MigrationError,
  readApplied,
  readMigrations,
} from '../database/migrations/migration-history.ts';
import { acquireMigrationLock } from '../database/migrations/migration-lock.ts';
import { type ApplyOptions, applyMigrations } from '../database/migrations/migration-runner.ts';
import { ensureRoles, missingRoles, systemRole } from '../database/roles.ts';
import { errorCode, QUERY_CANCELED } from '../shared/error-codes.ts';
import { dispatchQueue } from '../webhooks/outbox/dispatch-jobs.ts';
import { jobQueues } from './scheduled-jobs.ts';

/*
 * Creates or checks the roles, tables and job queues that the program needs in its database
 * (docs/decisions/schema-migrations.md). The server and `itsm migrate` create missing parts. All other commands only
 * check the database.
 */

const queues = [dispatchQueue, ...jobQueues];

/**
 * Returns the required job queues. If a newer version of the program has migrated the database, existing queues keep
 * their options, because an older version must not overwrite them.
 */
function requiredQueues(ahead: string[]): Queue[] {
  return ahead.length === 0 ? queues : queues.map((queue) => ({ ...queue, isKept: true }));
}

const INSUFFICIENT_PRIVILEGE = '42501';

/** The statement timeout in milliseconds for the schema check. */
const maxCheckMs = 30_000;

/**
 * The error for a database that lacks migrations, roles or job queues. The message lists the missing parts and the
 * command that adds them.
 */
export class SchemaOutdatedError extends Error {
  override name = 'SchemaOutdatedError';
  readonly summary: string;
  readonly advice: string;

  constructor(missingParts: string[]) {
    const summary = `The database is older than this version of the program: it lacks ${missingParts.join(', ')}.`;
    const advice = 'Run `itsm migrate` or start the server.';
    super(`${summary} ${advice}`);
    this.summary = summary;
    this.advice = advice;
  }
}

/**
 * Creates the roles, applies the migrations and creates the job queues. Several processes can call this function
 * concurrently. If the database is already up to date, the role in `DATABASE_URL` doesn't need permission to change the
 * schema.
 * @returns the names of the applied migrations
 * @throws RolesError or MigrationError
 */
export async function migrateDatabase(databaseUrl: string, options: ApplyOptions = {}): Promise<string[]> {
  const { folder, onProgress } = options;
  // The database is usually up to date, so this function first checks the schema, with a statement timeout. Migrations
  // run without a statement timeout.
  if (await withClient(databaseUrl, maxCheckMs, (client) => isCurrent(client, folder))) return [];
  return withClient(databaseUrl, 0, async (client) => {
    await ensureRoles(client);
    await acquireMigrationLock(client, onProgress);
    try {
      const applied = await applyMigrations(client, options);
      const { jobs, ahead } = await inspectSchema(client, folder);
      if (!jobs) {
        onProgress?.('Creating the job queues …');
        await migrateJobs(client, databaseUrl, requiredQueues(ahead));
      }
      return applied;
    } catch (cause) {
      if (errorCode(cause) !== INSUFFICIENT_PRIVILEGE) throw cause;
      const message = `The role of DATABASE_URL can't migrate this database: ${(cause as Error).message}.`;
      throw new MigrationError(`${message} Run \`itsm migrate\` as the role that owns its tables.`, { cause });
    }
  });
}

/**
 * Checks that a database is up to date. Doesn't change the database.
 * @returns the names of migrations that a newer version of the program has applied
 * @throws SchemaOutdatedError, or MigrationError if the migration history of the database conflicts with the migrations
 * of this version
 */
export function checkSchema(databaseUrl: string): Promise<{ ahead: string[] }> {
  return withClient(databaseUrl, maxCheckMs, async (client) => {
    if ((await missingRoles(client)).length > 0) throw new SchemaOutdatedError(['database roles']);
    const { missing, jobs, ahead } = await inspectSchema(client);
    if (missing.length > 0 || !jobs) throw new SchemaOutdatedError([...missing, ...(jobs ? [] : ['job queues'])]);
    return { ahead };
  });
}

/** Returns the SQL statements that create and grant the missing roles (database/roles.ts). */
export function findMissingRoles(databaseUrl: string): Promise<string[]> {
  return withClient(databaseUrl, maxCheckMs, missingRoles);
}

/**
 * Returns true if the database is up to date. Returns false if a running migration blocks the check until the check
 * times out.
 */
async function isCurrent(client: pg.ClientBase, folder: string | undefined): Promise<boolean> {
  if ((await missingRoles(client)).length > 0) return false;
  try {
    const { missing, jobs } = await inspectSchema(client, folder);
    return missing.length === 0 && jobs;
  } catch (error) {
    if (errorCode(error) === QUERY_CANCELED) return false;
    throw error;
  }
}

/** Compares the database with the migrations and job queues of this version of the program. */
async function inspectSchema(client: pg.ClientBase, folder?: string) {
  const migrations = await readMigrations(folder);
  const read = async () => {
    const { missing, ahead } = compareHistory(migrations, (await readApplied(client)) ?? []);
    const jobs = missing.length === 0 && (await areJobsCurrent(client, requiredQueues(ahead)));
    return { missing: missing.map(({ name }) => name), ahead, jobs };
  };
  try {
    return await read();
  } catch (error) {
    if (errorCode(error) !== INSUFFICIENT_PRIVILEGE) throw error;
    // If another role owns the tables, the role in `DATABASE_URL` can't read the migration history, but the system role
    // can.
    await client.query(`SET ROLE ${systemRole}`);
    try {
      return await read();
    } finally {
      await client.query('RESET ROLE');
    }
  }
}

/**
 * Runs `work` on a separate connection and then closes the connection, which also releases its locks.
 * @param statementMs the statement timeout in milliseconds, or 0 for none
 */
async function withClient<Result>(
  databaseUrl: string,
  statementMs: number,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'itsm-api migrate',
    connectionTimeoutMillis: 5000,
    // Without keep-alive, this process would never detect a lost connection.
    keepAlive: true,
    keepAliveInitialDelayMillis: 20_000,
    ...(statementMs > 0 && { query_timeout: statementMs + 1000 }),
  });
  // Without an error listener, a lost connection would end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    // Uses the SQL command SET, because older connection poolers reject `statement_timeout` as a startup parameter.
    await client.query(`SET statement_timeout = ${statementMs}; ${utc}`);
    return await work(client);
  } finally {
    await client.end();
  }
}
