import ipaddr from 'ipaddr.js';
import type { PgBoss } from 'pg-boss';
import type { Services } from './context.ts';
import { checkConnection } from './database/check.ts';
import { type Databases, openDatabases } from './database/databases.ts';
import { openJobs } from './database/jobs.ts';
import { applyMigrations } from './database/migrate.ts';
import type { PrismaClient } from './database/prisma.ts';
import { type Holder, openEmbedded } from './embedded-postgres/embedded.ts';
import type { Settings } from './env.ts';
import { createWaker, openLaneJobs } from './webhooks/lanes.ts';
import { createSecretSealer } from './webhooks/secret.ts';
import { checkSecretKeys, readSecretKeys } from './webhooks/secret-keys.ts';

/** An open, migrated database and the services over it: what the server and the command line both stand on. */
export interface Runtime {
  databases: Databases;
  /** Over all tenants. */
  prisma: PrismaClient;
  databaseUrl: string;
  /** Whether PostgreSQL runs under `DATA_DIR`. */
  embedded: boolean;
  boss: PgBoss;
  services: Services;
  close(): Promise<void>;
}

interface RuntimeOptions {
  holder: Holder;
  /** Whether this process also keeps the job queues in order. */
  worker: boolean;
  onConnectionError: (error: Error) => void;
}

/** Opens the database that the settings name, or the embedded one, and brings its schema up to date. */
export async function openRuntime(settings: Settings, options: RuntimeOptions): Promise<Runtime> {
  const { holder, worker, onConnectionError } = options;
  const { DATABASE_URL, DATA_DIR } = settings;
  const embedded = DATABASE_URL === undefined;
  const timeouts = { statementMs: settings.STATEMENT_TIMEOUT_MS, lockMs: settings.LOCK_TIMEOUT_MS };
  if (!embedded) await checkConnection(DATABASE_URL, timeouts);
  const database = embedded
    ? await openEmbedded({ dataDir: DATA_DIR, holder })
    : { url: DATABASE_URL, stop: async () => undefined };

  const databases = openDatabases({
    url: database.url,
    requestConnections: settings.DATABASE_POOL_SIZE,
    timeouts,
    worker,
    onConnectionError,
  });
  const { prisma } = databases.system;
  let boss: PgBoss | undefined;
  const close = async () => {
    await boss?.stop();
    await databases.close();
    await database.stop();
  };

  try {
    await applyMigrations(database.url);
    const sealer = createSecretSealer(await readSecretKeys(settings));
    await checkSecretKeys(prisma, sealer);
    const allowPrivateTargets = settings.WEBHOOK_ALLOW_PRIVATE_TARGETS ?? (embedded && isLoopback(settings.HOST));
    boss = await openJobs({ databaseUrl: database.url, worker, onError: onConnectionError });
    const services = {
      now: () => new Date(),
      sealer,
      lanes: await openLaneJobs(boss),
      wakeWorkers: createWaker(prisma),
      allowPrivateTargets,
    };
    return { databases, prisma, databaseUrl: database.url, embedded, boss, services, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function isLoopback(host: string): boolean {
  return ipaddr.isValid(host) ? ipaddr.process(host).range() === 'loopback' : host === 'localhost';
}
