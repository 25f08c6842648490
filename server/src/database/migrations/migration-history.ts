import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { errorCode } from '../../shared/error-codes.ts';

/**
 * The folder that contains one subfolder per migration. The subfolder's name contains the time and the subject of the
 * migration.
 */
export const migrationsFolder = fileURLToPath(new URL('../../../../prisma/migrations', import.meta.url));

/**
 * The first line of a script that runs outside a transaction. Some statements, such as CREATE INDEX CONCURRENTLY, can't
 * run in a transaction.
 */
export const concurrentMarker = '-- outside of a transaction';

export interface Migration {
  name: string;
  script: string;
  /** The SHA-256 hash of the script in hexadecimal, as in Prisma's migration history. */
  checksum: string;
  /** Whether the script's statements run one by one, outside a transaction. */
  concurrent: boolean;
}

/** The error if a migration fails, or if the migration history doesn't match the migrations folder. */
export class MigrationError extends Error {
  override name = 'MigrationError';
}

/** Reads the migrations in a folder, sorted by name. */
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
 * Splits a script that runs outside a transaction into its statements. A semicolon at the end of a line ends a
 * statement, unless it is inside a `$$` string.
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

/** A row of the table _prisma_migrations for a migration that was not rolled back. */
interface AppliedMigration {
  name: string;
  checksum: string;
  finished: boolean;
}

const UNDEFINED_TABLE = '42P01';

/** Returns the migrations that were applied to a database, or undefined if the database has no migration history. */
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
 * Returns the migrations that the database lacks. Also returns the names of the migrations that a newer program version
 * has applied.
 * @throws MigrationError if other migrations created the database, if a migration is unfinished, or if a script changed
 * after its migration was applied
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
      `\`prisma migrate deploy\` did not finish migration ${unfinished.name}. See its row in the table ` +
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
