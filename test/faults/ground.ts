import { randomBytes } from 'node:crypto';
import { readSettings } from '@itsm-api/server/config/env.ts';
import { migrateDatabase } from '@itsm-api/server/process/ensure-schema.ts';
import { openRuntime, type Runtime } from '@itsm-api/server/process/runtime.ts';
import { openPostgres, type Postgres, steadyPort } from './postgres.ts';

/** What server processes under test stand on. */
export interface Ground extends Database {
  postgres: Postgres;
}

/** A database, whatever it is reached through. */
interface Database {
  /** Over the same database, in this process. */
  runtime: Runtime;
  /** Where the API will listen. */
  apiUrl: string;
  /** The environment of the server processes, with limits out of the way; their `ROLES` are to be added. */
  env: Record<string, string>;
}

/**
 * Opens a PostgreSQL of its own, migrated. What stops it again is added to `stops`, which are called last first.
 * @param settings of PostgreSQL
 * @param given of the server
 */
export async function openGround(
  stops: (() => Promise<unknown>)[],
  settings: Record<string, string> = {},
  given: Record<string, string> = {},
): Promise<Ground> {
  const postgres = await openPostgres(settings);
  stops.push(postgres.remove);
  return { postgres, ...(await openDatabase(postgres.url, stops, given)) };
}

/**
 * Migrates the database that a URL leads to.
 * @param given of the server
 */
export async function openDatabase(
  url: string,
  stops: (() => Promise<unknown>)[],
  given: Record<string, string> = {},
): Promise<Database> {
  const port = await steadyPort();
  const env = {
    DATABASE_URL: url,
    PORT: String(port),
    WEBHOOK_SECRET_KEY: randomBytes(32).toString('base64'),
    WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
    RATE_LIMIT_GLOBAL: '1000000000',
    RATE_LIMIT_GROUP: '1000000000',
    FAIR_USE_SHARE: '1',
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
