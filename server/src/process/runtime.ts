import type { PgBoss } from 'pg-boss';
import { type Settings, SettingsError } from '../config/env.ts';
import { checkConnection } from '../database/check-connection.ts';
import type { Timeouts } from '../database/client/connection.ts';
import { type Databases, openDatabases } from '../database/client/databases.ts';
import type { Pool } from '../database/client/pool.ts';
import type { PrismaClient } from '../database/client/prisma.ts';
import { JobFailed, openJobs } from '../database/jobs/job-queue.ts';
import type { OutageTracker } from '../database/outage-tracker.ts';
import { type Embedded, type Holder, openEmbedded } from '../embedded-postgres/embedded.ts';
import type { Traces } from '../operations/tracing/traces.ts';
import type { Services } from '../resources/shared/context.ts';
import { endsWithin } from '../shared/timeout.ts';
import { hostLimitsOf, targetPolicyOf } from '../webhooks/delivery/target.ts';
import { createWaker, openDispatchJobs } from '../webhooks/outbox/dispatch-jobs.ts';
import { createSecretCipher } from '../webhooks/secrets/secret-cipher.ts';
import { checkSecretKeys, readSecretKeys } from '../webhooks/secrets/secret-keys.ts';

/** An open database that is up to date, and the services over it: what the server and the command line both stand on. */
export interface Runtime {
  databases: Databases;
  /** Over all tenants. */
  prisma: PrismaClient;
  databaseUrl: string;
  /** Whether PostgreSQL runs under `DATA_DIR`. */
  embedded: boolean;
  /** Where browsers find the server. */
  publicUrl: string;
  /** Opens the job queues, once. */
  openBoss(): Promise<PgBoss>;
  services: Services;
  close(): Promise<void>;
}

interface RuntimeOptions {
  holder: Holder;
  /** Whether this process also keeps the job queues in order. */
  worker: boolean;
  /** Migrates the database, or looks whether somebody has. */
  prepare(databaseUrl: string): Promise<unknown>;
  onConnectionError: (error: Error) => void;
  /** Told of what is done every night, or every hour, and has failed. */
  onJobFailed?: (error: Error) => void;
  /** Told when the database can't be reached; tells nobody where it is left out. */
  reachability?: OutageTracker;
  /** Where what happens is followed; nowhere where it is left out. */
  traces?: Traces | undefined;
}

/** How long a job that runs, such as a batch of the nightly pruning, may take to end with the process. Milliseconds. */
const jobsMs = 1500;
/** How long the last wake-up of the workers may take. Milliseconds. */
const wakeMs = 500;

/** Opens the database that the settings name, or the embedded one, and the services over it. */
export async function openRuntime(settings: Settings, options: RuntimeOptions): Promise<Runtime> {
  const { holder, worker, prepare, onConnectionError, onJobFailed, reachability, traces } = options;
  const embedded = settings.DATABASE_URL === undefined;
  const timeouts = timeoutsOf(settings);
  const database = await openDatabase(settings, holder);

  const databases = openDatabases({
    url: database.url,
    requestConnections: settings.DATABASE_POOL_SIZE,
    timeouts,
    worker,
    onConnectionError,
    reachability,
    tracer: traces?.statements,
  });
  const { prisma } = databases.system;
  let boss: Promise<PgBoss> | undefined;
  const openBoss = () => {
    const onError = (error: Error) => {
      if (databases.options.reachability.explains(error, 'jobs')) return;
      if (error instanceof JobFailed) onJobFailed?.(error);
      else onConnectionError(error);
    };
    boss ??= openJobs({ pool: databases.system.pool, worker, onError });
    return boss;
  };
  const waker = createWaker(prisma);
  const close = async () => {
    // It would open a connection again after the databases are closed.
    await endsWithin(wakeMs, waker.close());
    const opened = await boss?.catch(() => undefined);
    if (opened !== undefined) await endsWithin(jobsMs, opened.stop({ timeout: jobsMs }));
    await databases.close();
    await database.stop();
  };

  try {
    // Loads Prisma's planner while PostgreSQL is asked, for a command that somebody waits for. What fails shows later.
    const connecting = holder.type === 'command' ? prisma.$connect().catch(() => undefined) : undefined;
    await prepare(database.url);
    await connecting;
    await enterCell(databases.system.pool, settings.CELL);
    const secretCipher = createSecretCipher(await readSecretKeys(settings));
    await checkSecretKeys(databases.system.pool, secretCipher);
    // A command may have nothing to put in.
    if (holder.type === 'server') await openBoss();
    const services = {
      now: () => new Date(),
      secretCipher,
      dispatchJobs: openDispatchJobs(openBoss),
      wakeWorkers: waker.wake,
      targets: targetPolicyOf(settings),
      hostLimits: hostLimitsOf(settings),
      publicUrl: settings.PUBLIC_URL,
      traceParent: traces?.traceParent,
    };
    // A command goes by the server that is there, whatever `PORT` was given to that one.
    const port = database.origin === undefined ? settings.PORT : new URL(database.origin).port || 80;
    const publicUrl = settings.PUBLIC_URL ?? `http://localhost:${port}`;
    return { databases, prisma, databaseUrl: database.url, embedded, publicUrl, openBoss, services, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Has the ids of new tenants come from the range of the cell (docs/decisions/failover-and-cells.md).
 * @throws SettingsError where they come from that of another one already
 */
async function enterCell(pool: Pool, cell: number): Promise<void> {
  const { rows } = await pool.query('SELECT enter_cell($1) AS cell', [cell]);
  const [found] = rows;
  if (found.cell !== cell)
    throw new SettingsError(`CELL: must be ${found.cell}: this database has been that cell before`);
}

/** The database that the settings name, reachable, or the embedded one, started. */
export async function openDatabase(settings: Settings, holder: Holder): Promise<Embedded> {
  const database = await findDatabase(settings, holder);
  if (settings.DATABASE_URL !== undefined) await checkConnection(database.url, timeoutsOf(settings));
  return database;
}

/** The database that the settings name, whether it can be used or not, or the embedded one, started. */
export async function findDatabase({ DATABASE_URL, DATA_DIR }: Settings, holder: Holder): Promise<Embedded> {
  if (DATABASE_URL === undefined) return await openEmbedded({ dataDir: DATA_DIR, holder });
  return { url: DATABASE_URL, stop: async () => undefined };
}

/** How long PostgreSQL may take. */
export function timeoutsOf({ STATEMENT_TIMEOUT_MS, LOCK_TIMEOUT_MS }: Settings): Timeouts {
  return { statementMs: STATEMENT_TIMEOUT_MS, lockMs: LOCK_TIMEOUT_MS };
}
