import { userInfo } from 'node:os';
import type { PgBoss } from 'pg-boss';
import { readAttachmentLimits, type Settings, SettingsError } from '../config/env.ts';
import { checkConnection } from '../database/check-connection.ts';
import { type Databases, openDatabases } from '../database/client/databases.ts';
import type { SystemClient } from '../database/client/prisma.ts';
import { sql } from '../database/client/sql.ts';
import type { Timeouts } from '../database/client/statement-timeout.ts';
import { allTenants } from '../database/client/statements.ts';
import { JobFailed, openJobs } from '../database/jobs/job-queue.ts';
import type { OutageTracker } from '../database/outage-tracker.ts';
import { type Embedded, type Holder, openEmbedded } from '../embedded-postgres/embedded.ts';
import type { Traces } from '../operations/tracing/traces.ts';
import type { Services } from '../resources/shared/context.ts';
import { endsWithin } from '../shared/timeout.ts';
import { readHostLimits, readTargetPolicy } from '../webhooks/delivery/target.ts';
import { createWaker, openDispatchJobs } from '../webhooks/outbox/dispatch-jobs.ts';
import { createSecretCipher } from '../webhooks/secrets/secret-cipher.ts';
import { checkSecretKeys, readSecretKeys } from '../webhooks/secrets/secret-keys.ts';
import { findStore, protectStorage } from './attachment-store.ts';

/** An open, migrated database and the services that use it. Both the server and the command line open a runtime. */
export interface Runtime {
  databases: Databases;
  /** The Prisma client that uses the system role, which can access the rows of all tenants. */
  prisma: SystemClient;
  databaseUrl: string;
  /** Whether the database is the embedded PostgreSQL in `DATA_DIR`. */
  embedded: boolean;
  /** The origin that browsers use to reach the server. */
  publicUrl: string;
  /** Opens the job queues on the first call. Later calls return the same instance. */
  openBoss(): Promise<PgBoss>;
  services: Services;
  close(): Promise<void>;
}

interface RuntimeOptions {
  holder: Holder;
  /** Whether this process delivers webhooks and maintains the job queues. */
  worker: boolean;
  /** Migrates the database, or checks that all migrations are applied. */
  prepare(databaseUrl: string): Promise<unknown>;
  onConnectionError: (error: Error) => void;
  /** Called when a nightly or hourly job has failed. */
  onJobFailed?: (error: Error) => void;
  /** Called when the store of attachments is unavailable, or belongs to another installation. */
  onStorageFailure?: (error: Error) => void;
  /** Called when the process opens another store of attachments than the default folder. */
  onStorageNotice?: (notice: string) => void;
  /** The tracker that detects database outages. By default, it logs nothing. */
  outages?: OutageTracker;
  /** The traces of the process, or undefined if tracing is off. */
  traces?: Traces | undefined;
}

/** The maximum time in milliseconds that a shutdown waits for a running job, such as a batch of a nightly cleanup. */
const maxJobMs = 1500;
/** The maximum time in milliseconds that a shutdown waits for the last notification to the workers. */
const maxWakeMs = 500;

/**
 * Opens the database and the services that use it. The database is either the one in `DATABASE_URL` or the embedded
 * PostgreSQL.
 */
export async function openRuntime(settings: Settings, options: RuntimeOptions): Promise<Runtime> {
  const {
    holder,
    worker,
    prepare,
    onConnectionError,
    onJobFailed,
    onStorageFailure,
    onStorageNotice,
    outages,
    traces,
  } = options;
  const embedded = settings.DATABASE_URL === undefined;
  const timeouts = timeoutsOf(settings);
  const database = await openDatabase(settings, holder);

  const databases = openDatabases({
    url: database.url,
    requestConnections: settings.DATABASE_POOL_SIZE,
    timeouts,
    worker,
    onConnectionError,
    outages,
    tracer: traces?.statements,
  });
  const { prisma } = databases.system;
  let boss: Promise<PgBoss> | undefined;
  const openBoss = () => {
    const onError = (error: Error) => {
      if (databases.options.outages.explains(error, 'jobs')) return;
      if (error instanceof JobFailed) onJobFailed?.(error);
      else onConnectionError(error);
    };
    boss ??= openJobs({ pool: databases.system.pool, worker, onError });
    return boss;
  };
  const waker = createWaker(prisma);
  const close = async () => {
    // Closes the waker before the databases. Otherwise, the waker could open a new connection to send a notification.
    await endsWithin(maxWakeMs, waker.close());
    const opened = await boss?.catch(() => undefined);
    if (opened !== undefined) await endsWithin(maxJobMs, opened.stop({ timeout: maxJobMs }));
    await databases.close();
    await database.stop();
  };

  const storage = protectStorage({
    system: databases.system.prisma,
    find: () => findStore(databases.system.prisma, settings),
    onFailure: (error) => onStorageFailure?.(error),
    onNotice: onStorageNotice,
  });

  try {
    // A server with S3 settings doesn't start without the AWS SDK.
    if (holder.type === 'server' && settings.ATTACHMENTS_S3_BUCKET !== undefined) {
      await (await import('../storage/attachment-storage.ts')).openAttachmentStorage(settings);
    }
    // A command connects early, so that Prisma loads its query compiler while `prepare` checks the database. If the
    // connection fails, the first query reports the error.
    const connecting = holder.type === 'command' ? prisma.$connect().catch(() => undefined) : undefined;
    await prepare(database.url);
    await connecting;
    await assignCell(databases.system.prisma, settings.CELL);
    const secretCipher = createSecretCipher(await readSecretKeys(settings));
    await checkSecretKeys(databases.system.prisma, secretCipher);
    // Commands don't open the job queues here, because most commands add no jobs.
    if (holder.type === 'server') await openBoss();
    const services = {
      now: () => new Date(),
      secretCipher,
      dispatchJobs: openDispatchJobs(openBoss),
      wakeWorkers: waker.wake,
      targets: readTargetPolicy(settings),
      hostLimits: readHostLimits(settings),
      storage,
      attachmentLimits: readAttachmentLimits(settings),
      publicUrl: settings.PUBLIC_URL,
      traceParent: traces?.traceParent,
      osUser: holder.type === 'command' ? findOsUser() : undefined,
    };
    // A command uses the port of the running server, because `PORT` can have a different value in the command's
    // environment.
    const port = database.origin === undefined ? settings.PORT : new URL(database.origin).port || 80;
    const publicUrl = settings.PUBLIC_URL ?? `http://localhost:${port}`;
    return { databases, prisma, databaseUrl: database.url, embedded, publicUrl, openBoss, services, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Returns the name of the operating-system user. Returns the number of the user if it has no name. */
function findOsUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}

/**
 * Configures the database to give new tenants ids from the cell's id range (docs/decisions/failover-and-cells.md).
 * @throws SettingsError if the database already uses the id range of another cell
 */
async function assignCell(system: SystemClient, cell: number): Promise<void> {
  const [found] = await system.$sql(enterCell, { cell });
  if (found?.cell !== cell)
    throw new SettingsError(`CELL: must be ${found?.cell}, because this database belongs to cell ${found?.cell}.`);
}

const enterCell = allTenants.rows<{ cell: number }, { cell: number }>(
  ({ cell }) => sql`SELECT enter_cell(${cell}) AS cell`,
);

/**
 * Returns the database in `DATABASE_URL`, after checking the connection. If `DATABASE_URL` isn't set, starts the
 * embedded PostgreSQL.
 */
export async function openDatabase(settings: Settings, holder: Holder): Promise<Embedded> {
  const database = await findDatabase(settings, holder);
  if (settings.DATABASE_URL !== undefined) await checkConnection(database.url, timeoutsOf(settings));
  return database;
}

/**
 * Returns the database in `DATABASE_URL`, without checking the connection. If `DATABASE_URL` isn't set, starts the
 * embedded PostgreSQL.
 */
export async function findDatabase({ DATABASE_URL, DATA_DIR }: Settings, holder: Holder): Promise<Embedded> {
  if (DATABASE_URL === undefined) return await openEmbedded({ dataDir: DATA_DIR, holder });
  return { url: DATABASE_URL, stop: async () => undefined };
}

/** Opens the databases without checking the schema, for commands that show the state of a database. */
export function openForDiagnosis(url: string, settings: Settings): Databases {
  const timeouts = timeoutsOf(settings);
  return openDatabases({ url, requestConnections: 1, timeouts, worker: false, onConnectionError: () => undefined });
}

/** Returns the timeouts for PostgreSQL sessions from the settings. */
function timeoutsOf({ STATEMENT_TIMEOUT_MS, LOCK_TIMEOUT_MS }: Settings): Timeouts {
  return { statementMs: STATEMENT_TIMEOUT_MS, lockMs: LOCK_TIMEOUT_MS };
}
