import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { errorCode } from '../../shared/error-codes.ts';

/** The folder with one subfolder per migration. The name of a subfolder contains the time and subject. */
export const migrationsFolder = fileURLToPath(new URL('../../../../prisma/migrations', import.meta.url));

/** The first line of a script that runs outside of a transaction, for example to build an index CONCURRENTLY. */
export const concurrentMarker = '-- outside of a transaction';

export interface Migration {
  name: string;
  script: string;
  /** The SHA-256 hash of the script as hex, as in Prisma's own history. */
  checksum: string;
  /** Whether the statements of the script run one by one, outside of a transaction. */
  concurrent: boolean;
}

/** The error for a failed migration, or for a migration history that doesn't match the folder of migrations. */
export class MigrationError extends Error {
  override name = 'MigrationError';
}

/** Reads the migrations of a folder, in the order of their names. */
export async function readMigrations(folder: string = migrationsFolder): Promise<Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => {
      const script = await readFile(join(folder, name, 'migration.sql'), 'utf8');
      const checksum = createHash('sha256').update(script).digest('hex');
      return { name, script, checksum, concurrent: script.split(/\r?\n/, 1)[0]?.trim() === concurrentMarker };
    }),
  );
}

/**
 * Splits a script that runs outside of a transaction into its statements. A semicolon at the end of a line ends a
 * statement, except between two `$$`.
 */
export function splitStatements(script: string): string[] {
  const bodies: string[] = [];
  const withoutBodies = script
    .replace(/^\s*--.*$/gm, '')
    .replace(/\$\$.*?\$\$/gs, (body) => `$$${bodies.push(body) - 1}$$`);
  return withoutBodies
    .split(/;[^\S\n]*$/m)
    .map((statement) => statement.trim().replace(/\$\$(\d+)\$\$/g, (_, index) => bodies[Number(index)] as string))
    .filter((statement) => statement !== '');
}

/** A row of the table _prisma_migrations whose migration was not rolled back. */
interface AppliedMigration {
  name: string;
  checksum: string;
  finished: boolean;
}

const UNDEFINED_TABLE = '42P01';

/** Returns the applied migrations of a database, or undefined if the database has no migration history. */
export async function readApplied(client: pg.ClientBase): Promise<AppliedMigration[] | undefined> {
  try {
    const { rows } = await client.query<AppliedMigration>(
      `SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS finished
       FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY started_at, migration_name`,
    );
    return rows;
  } catch (error) {
    if (errorCode(error) === UNDEFINED_TABLE) return undefined;
    throw error;
  }
}

/**
 * Returns the migrations that the database lacks, and the names of migrations that a newer version of the program has
 * applied.
 * @throws MigrationError if different migrations created the database, if a migration is unfinished, or if a script was
 * changed after its migration was applied
 */
export function compareHistory(migrations: Migration[], applied: AppliedMigration[]) {
  const checksums = new Map(applied.map(({ name, checksum }) => [name, checksum]));
  const missing = migrations.filter(({ name }) => !checksums.has(name));
  const known = new Set(migrations.map(({ name }) => name));
  const ahead = applied.map(({ name }) => name).filter((name) => !known.has(name));
  if (missing.length > 0 && ahead.length > 0) {
    throw new MigrationError(
      `The migrations of this database don't match this version: the database has ${ahead[0]} and lacks ` +
        `${missing[0]?.name}. Its data can't be migrated and must be created again: set DATABASE_URL to an empty ` +
        'database or, for the embedded PostgreSQL, delete the folder DATA_DIR. Then start again.',
    );
  }
  const unfinished = applied.find(({ finished }) => !finished);
  if (unfinished !== undefined) {
    throw new MigrationError(
      `Migration ${unfinished.name} did not finish under \`prisma migrate deploy\`. See its row in the table ` +
        '_prisma_migrations, undo the changes of the migration, and run: prisma migrate resolve --rolled-back ' +
        unfinished.name,
    );
  }
  const edited = migrations.find(({ name, checksum }) => (checksums.get(name) ?? checksum) !== checksum);
  if (edited !== undefined) {
    throw new MigrationError(
      `Migration ${edited.name} was changed after it was applied to this database. ` +
        'Restore the original migration.sql, and make the change in a new migration.',
    );
  }
  return { missing, ahead };
}
