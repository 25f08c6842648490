import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSettings } from '@itsm-api/server/config/env.ts';
import { migrateDatabase } from '@itsm-api/server/process/ensure-schema.ts';
import { openRuntime, type Runtime } from '@itsm-api/server/process/runtime.ts';
import { openPostgres, type Postgres, steadyPort } from './postgres-server.ts';

/** A PostgreSQL server and a migrated database for the server processes under test. */
export interface Installation extends Database {
  postgres: Postgres;
}

/** A database that server processes use, directly or through a proxy. */
interface Database {
  /** The server's services in the test process. They use the same database as the server processes. */
  runtime: Runtime;
  /** The URL of the API. The test starts the API later. */
  apiUrl: string;
  /**
   * The environment variables of the server processes, except `ROLES`. The rate limits are too high for tests to reach.
   */
  env: Record<string, string>;
}

/**
 * Starts a PostgreSQL server and migrates its database. Adds cleanup functions to `stops`. The caller must call them in
 * reverse order.
 * @param settings the settings of PostgreSQL
 * @param given additional environment variables of the server
 */
export async function openInstallation(
  stops: (() => Promise<unknown>)[],
  settings: Record<string, string> = {},
  given: Record<string, string> = {},
): Promise<Installation> {
  const postgres = await openPostgres(settings);
  stops.push(postgres.remove);
  return { postgres, ...(await openDatabase(postgres.url, stops, given)) };
}

/**
 * Migrates the database at the given URL.
 * @param given additional environment variables of the server
 */
export async function openDatabase(
  url: string,
  stops: (() => Promise<unknown>)[],
  given: Record<string, string> = {},
): Promise<Database> {
  const port = await steadyPort();
  const folder = await mkdtemp(join(tmpdir(), 'itsm-attachments-'));
  stops.push(() => rm(folder, { recursive: true, force: true }));
  const env = {
    DATABASE_URL: url,
    PORT: String(port),
    WEBHOOK_SECRET_KEY: randomBytes(32).toString('base64'),
    WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
    RATE_LIMIT_GLOBAL: '1000000000',
    RATE_LIMIT_GROUP: '1000000000',
    RATE_LIMIT_FAILURES: '1000000000',
    TENANT_CONCURRENCY_SHARE: '1',
    ATTACHMENTS_DIR: folder,
    ...given,
  };
  const runtime = await openRuntime(readSettings(env), {
    holder: { type: 'command' },
    worker: false,
    prepare: migrateDatabase,
    onConnectionError: () => undefined,
  });
  stops.push(runtime.close);
  return { runtime, apiUrl: `http://127.0.0.1:${port}`, env };
}
