import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** The PostgreSQL of this test run, as a role that may create databases, and the migrated database to clone. */
    postgres: { adminUrl: string; template: string };
  }
}

let workerDatabase: Promise<string> | undefined;

/**
 * The URL of this worker's own clone of the migrated template. All files that the worker runs share it: a test makes
 * its own tenant and finds it empty, but must not count what other tenants have.
 */
export function workerDatabaseUrl(): Promise<string> {
  workerDatabase ??= clone(`worker_${process.env.VITEST_POOL_ID}`);
  return workerDatabase;
}

/** A database that nobody else uses. */
export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

/** A clone of the migrated template for one test, for those that stop, break or migrate their database. */
export async function cloneDatabase(): Promise<TestDatabase> {
  const url = await clone(randomUUID().replaceAll('-', ''));
  return { url, drop: () => execute(inject('postgres').adminUrl, `DROP DATABASE ${nameOf(url)} WITH (FORCE)`) };
}

/** Runs one statement, or several, on a connection of its own. */
export async function execute(url: string, sql: string): Promise<void> {
  await query(url, sql);
}

/** The rows of one statement, on a connection of its own. */
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

/** The same server, another database. */
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
    // Made by a file that this worker ran before, in a process that is gone or going.
    if (!(error instanceof pg.DatabaseError && ['42P04', '23505'].includes(error.code ?? ''))) throw error;
  }
  return withDatabase(adminUrl, name);
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1);
}
