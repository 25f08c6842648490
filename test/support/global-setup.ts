import { randomBytes } from 'node:crypto';
import { PostgreSqlContainer } from '@testcontainers/postgresql';
import { getContainerRuntimeClient } from 'testcontainers';
import type { TestProject } from 'vitest/node';
import { disposable } from '../../server/src/embedded-postgres/temporary.ts';
import { migrateDatabase } from '../../server/src/process/ensure-schema.ts';
import { endsWithin } from '../../server/src/shared/timeout.ts';
import { execute, query, withDatabase } from './database.ts';
import { openPrepared } from './prepared-postgres.ts';

interface Server {
  url: string;
  description: string;
  /** True if the server has the migrated database `itsm`. */
  isPrepared?: boolean;
  stop(): Promise<unknown>;
}

const IMAGE = process.env.TEST_POSTGRES_IMAGE || 'postgres:18-alpine';

/** The timeout in milliseconds for pulling and starting the Docker image. */
const maxStartMs = 120_000;

/**
 * Starts the PostgreSQL server of the test run, logs its version, and creates the migrated template database that every
 * worker clones.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // On SIGINT and SIGTERM, Vitest exits without cleanup. Calling `process.exit` first runs the exit handler that stops
  // PostgreSQL.
  process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143));
  const server = await openServer();
  const template = `itsm_test_${randomBytes(4).toString('hex')}`;
  let description: string;
  try {
    description = `PostgreSQL ${await readVersion(server.url)}, ${server.description}`;
    console.log(`Testing on ${description}.`);
    const { isPrepared } = server;
    const create = isPrepared ? `ALTER DATABASE itsm RENAME TO ${template}` : `CREATE DATABASE ${template}`;
    await execute(server.url, create);
    await migrateDatabase(withDatabase(server.url, template));
    // PostgreSQL can't clone a database that has open connections.
    await execute(server.url, `ALTER DATABASE ${template} ALLOW_CONNECTIONS false`);
  } catch (error) {
    await server.stop();
    throw error;
  }
  project.provide('postgres', { adminUrl: server.url, template, description });
  return async () => {
    // Drops the databases of the test run, because an external PostgreSQL server keeps them.
    await dropDatabases(server.url, template);
    await server.stop();
  };
}

/**
 * Opens the server of `TEST_DATABASE_URL`, a Docker container, or the embedded PostgreSQL.
 * @throws in CI if a Docker engine responds, but the container doesn't start
 */
async function openServer(): Promise<Server> {
  const url = process.env.TEST_DATABASE_URL;
  if (url) return { url, description: 'the server of TEST_DATABASE_URL', stop: async () => undefined };
  const hasDocker = await getContainerRuntimeClient().then(
    () => true,
    () => false,
  );
  if (!hasDocker) return await openEmbedded('no Docker engine responds');
  try {
    return await openContainer();
  } catch (error) {
    const reason = `Docker responds, but ${IMAGE} did not start: ${describe(error)}`;
    if (process.env.CI) throw new Error(reason, { cause: error });
    return await openEmbedded(reason);
  }
}

async function openEmbedded(reason: string): Promise<Server> {
  const { url, stop } = await openPrepared();
  const adminUrl = withDatabase(url, 'postgres');
  return { url: adminUrl, description: `embedded (${reason})`, isPrepared: true, stop };
}

async function openContainer(): Promise<Server> {
  const settings = Object.entries(disposable).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const starting = new PostgreSqlContainer(IMAGE).withCommand(['postgres', ...settings]).start();
  if (!(await endsWithin(maxStartMs, starting))) {
    void starting.then(
      (late) => late.stop(),
      () => undefined,
    );
    throw new Error(`it was not ready after ${maxStartMs / 1000} s`);
  }
  const container = await starting;
  const url = container.getConnectionUri();
  return { url, description: `Testcontainers (${IMAGE})`, stop: () => container.stop() };
}

async function readVersion(url: string): Promise<string> {
  const [row] = await query<{ server_version: string }>(url, 'SHOW server_version');
  return row?.server_version ?? 'unknown';
}

function describe(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).trim().replaceAll(/\s+/g, ' ');
}

async function dropDatabases(url: string, prefix: string): Promise<void> {
  const select = 'SELECT datname FROM pg_database WHERE starts_with(datname::text, $1)';
  const databases = await query<{ datname: string }>(url, select, [prefix]);
  for (const { datname } of databases) await execute(url, `DROP DATABASE ${datname} WITH (FORCE)`);
}
