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
import { idempotencyRetentionQueue } from '../resources/idempotency/idempotency-retention.ts';
import { totalsQueue } from '../resources/tickets/counters-check.ts';
import { errorCode, QUERY_CANCELED } from '../shared/pg-errors.ts';
import { usageRetentionQueue } from '../usage/usage-retention.ts';
import { retentionQueue } from '../webhooks/maintenance/delivery-retention.ts';
import { dispatchQueue } from '../webhooks/outbox/dispatch-jobs.ts';

/*
 * What the program needs of a database before it works on it: the roles, the migrations, the job queues
 * (docs/decisions/schema-migrations.md). The server and `itsm migrate` see to it; everybody else only looks.
 */

const queues = [dispatchQueue, retentionQueue, idempotencyRetentionQueue, usageRetentionQueue, totalsQueue];

/**
 * As they must be in a database that has been migrated so far by a newer version: that knows best what options they have,
 * and an older one that is started beside it must not take them back. It is enough that they are there.
 */
function queuesFor(ahead: string[]): Queue[] {
  return ahead.length === 0 ? queues : queues.map((queue) => ({ ...queue, isKept: true }));
}

const INSUFFICIENT_PRIVILEGE = '42501';

/** How long each question may take of who only looks. Milliseconds. */
const lookMs = 30_000;

/** The database is behind this version of the program. The message is what it lacks, and what to do. */
export class SchemaOutdatedError extends Error {
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

/**
 * Brings a database up to date: roles, migrations, job queues. Resolves to the names of the migrations that it applied.
 * Any number of processes may call it at once. Where there is nothing to do it needs no rights.
 * @throws RolesError or MigrationError
 */
export async function migrateDatabase(databaseUrl: string, options: ApplyOptions = {}): Promise<string[]> {
  const { folder, onProgress } = options;
  // Most often there is nothing to do, and no reason to wait without bound for a server that has fallen silent.
  if (await withClient(databaseUrl, lookMs, (client) => isCurrent(client, folder))) return [];
  return withClient(databaseUrl, 0, async (client) => {
    await ensureRoles(client);
    await acquireMigrationLock(client, onProgress);
    try {
      const applied = await applyMigrations(client, options);
      const { jobs, ahead } = await look(client, folder);
      if (!jobs) {
        onProgress?.('Making the job queues …');
        await migrateJobs(client, databaseUrl, queuesFor(ahead));
      }
      return applied;
    } catch (cause) {
      if (errorCode(cause) !== INSUFFICIENT_PRIVILEGE) throw cause;
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
  return withClient(databaseUrl, lookMs, async (client) => {
    if ((await missingRoles(client)).length > 0) throw new SchemaOutdatedError(['the roles of its connections']);
    const { missing, jobs, ahead } = await look(client);
    if (missing.length > 0 || !jobs) throw new SchemaOutdatedError([...missing, ...(jobs ? [] : ['job queues'])]);
    return { ahead };
  });
}

/** The statements that the roles still need (database/roles.ts). */
export function findMissingRoles(databaseUrl: string): Promise<string[]> {
  return withClient(databaseUrl, lookMs, missingRoles);
}

/** Whether there is nothing to do; not where somebody who is at work keeps that from being seen. */
async function isCurrent(client: pg.ClientBase, folder: string | undefined): Promise<boolean> {
  if ((await missingRoles(client)).length > 0) return false;
  try {
    const { missing, jobs } = await look(client, folder);
    return missing.length === 0 && jobs;
  } catch (error) {
    if (errorCode(error) === QUERY_CANCELED) return false;
    throw error;
  }
}

/** What the database lacks, and what it has beyond. */
async function look(client: pg.ClientBase, folder?: string) {
  const migrations = await readMigrations(folder);
  const read = async () => {
    const { missing, ahead } = compareHistory(migrations, (await readApplied(client)) ?? []);
    const jobs = missing.length === 0 && (await areJobsCurrent(client, queuesFor(ahead)));
    return { missing: missing.map(({ name }) => name), ahead, jobs };
  };
  try {
    return await read();
  } catch (error) {
    if (errorCode(error) !== INSUFFICIENT_PRIVILEGE) throw error;
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
 * Works on a connection of its own, whose end releases its locks.
 * @param statementMs how long each statement may take; without bound where it is 0
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
    // A server that is gone without a word would be waited for for ever.
    keepAlive: true,
    keepAliveInitialDelayMillis: 20_000,
    ...(statementMs > 0 && { query_timeout: statementMs + 1000 }),
  });
  // Without a listener the error of a lost connection would end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    // Set now, since older poolers refuse it as a parameter of the connection.
    await client.query(`SET statement_timeout = ${statementMs}; ${utc}`);
    return await work(client);
  } finally {
    await client.end();
  }
}
