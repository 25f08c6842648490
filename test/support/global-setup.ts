import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { GenericContainer, getContainerRuntimeClient } from 'testcontainers';
import type { TestProject } from 'vitest/node';
import { disposable, openTemporary } from '../../server/src/embedded-postgres/temporary.ts';
import { migrateDatabase } from '../../server/src/process/ensure-schema.ts';
import { endsWithin } from '../../server/src/shared/timeout.ts';
import { execute, query, withDatabase } from './database.ts';

interface Server {
  url: string;
  description: string;
  stop(): Promise<unknown>;
}

const IMAGE = process.env.TEST_POSTGRES_IMAGE || 'postgres:18-alpine';

/**
 * The timeout in milliseconds for pulling and starting the Docker image. After the timeout, the test run uses the
 * embedded PostgreSQL.
 */
const IMAGE_PATIENCE = 120_000;

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
  try {
    console.log(`Testing on PostgreSQL ${await readVersion(server.url)}: ${server.description}.`);
    await execute(server.url, `CREATE DATABASE ${template}`);
    await migrateDatabase(withDatabase(server.url, template));
    // PostgreSQL can't clone a database that has open connections.
    await execute(server.url, `ALTER DATABASE ${template} ALLOW_CONNECTIONS false`);
  } catch (error) {
    await server.stop();
    throw error;
  }
  project.provide('postgres', { adminUrl: server.url, template });
  return async () => {
    // Drops the databases of the test run, because an external PostgreSQL server keeps them.
    await dropDatabases(server.url, template);
    await server.stop();
  };
}

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
    const reason = error instanceof Error ? error.message : String(error);
    return await openEmbedded(`Docker responds, but ${IMAGE} did not start: ${reason.trim()}`);
  }
}

async function openEmbedded(reason: string): Promise<Server> {
  const { url, stop } = await openTemporary();
  return { url, description: `embedded (${reason})`, stop };
}

async function openContainer(): Promise<Server> {
  const settings = Object.entries(disposable).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const starting = new GenericContainer(IMAGE)
    .withEnvironment({ POSTGRES_PASSWORD: 'test' })
    .withCommand(['postgres', ...settings])
    .withExposedPorts(5432)
    .start();
  if (!(await endsWithin(IMAGE_PATIENCE, starting))) {
    void starting.then(
      (late) => late.stop(),
      () => undefined,
    );
    throw new Error(`it was not there after ${IMAGE_PATIENCE / 1000} s`);
  }
  const container = await starting;
  const url = `postgresql://postgres:test@${container.getHost()}:${container.getMappedPort(5432)}/postgres`;
  await waitForServer(url);
  return { url, description: `Testcontainers (${IMAGE})`, stop: () => container.stop() };
}

/** Waits until PostgreSQL accepts connections, because the container's port opens earlier. */
async function waitForServer(url: string): Promise<void> {
  for (const deadline = Date.now() + 60_000; ; await sleep(100)) {
    try {
      return await execute(url, 'SELECT');
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}

async function readVersion(url: string): Promise<string> {
  const [row] = await query<{ server_version: string }>(url, 'SHOW server_version');
  return row?.server_version ?? 'unknown';
}

async function dropDatabases(url: string, prefix: string): Promise<void> {
  const select = 'SELECT datname FROM pg_database WHERE starts_with(datname::text, $1)';
  const databases = await query<{ datname: string }>(url, select, [prefix]);
  for (const { datname } of databases) await execute(url, `DROP DATABASE ${datname} WITH (FORCE)`);
}
