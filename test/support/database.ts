import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * The PostgreSQL server of this test run: its URL with a role that can create databases, the name of the migrated
     * template database, and a description with the version and the origin of the server.
     */
    postgres: { adminUrl: string; template: string; description: string };
  }
}

let workerDatabase: Promise<string> | undefined;

/**
 * Returns the URL of the Vitest worker's database, which is a clone of the migrated template. All test files of the
 * worker share this database. Each test must create its own tenant and must not count rows of other tenants.
 */
export function workerDatabaseUrl(): Promise<string> {
  workerDatabase ??= clone(`worker_${process.env.VITEST_POOL_ID}`);
  return workerDatabase;
}

/** A separate database for a single test. */
export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

/** Clones the migrated template for a test that stops, breaks or migrates its database. */
export async function cloneDatabase(): Promise<TestDatabase> {
  const url = await clone(randomUUID().replaceAll('-', ''));
  return { url, drop: () => execute(inject('postgres').adminUrl, `DROP DATABASE ${nameOf(url)} WITH (FORCE)`) };
}

/** Runs one or more SQL statements on a new connection. */
export async function execute(url: string, sql: string): Promise<void> {
  await query(url, sql);
}

/** Runs one SQL statement on a new connection and returns its rows. */
export async function query<Row extends object = Record<string, unknown>>(
  url: string,
  sql: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql, values)).rows;
  } finally {
    await client.end();
  }
}

/** Returns the URL of another database on the same server. */
export function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = name;
  return url.href;
}

async function clone(suffix: string): Promise<string> {
  const { adminUrl, template } = inject('postgres');
  const name = `${template}_${suffix}`;
  try {
    await execute(adminUrl, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  } catch (error) {
    // The clone already exists if an earlier test file of the worker has created it.
    if (!(error instanceof pg.DatabaseError && ['42P04', '23505'].includes(error.code ?? ''))) throw error;
  }
  return withDatabase(adminUrl, name);
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1);
}
