import type pg from 'pg';
import { codeOf } from '../error-code.ts';
import { type Migration, MigrationError } from './migrations.ts';

/** A row of _prisma_migrations that was not rolled back. */
export interface AppliedMigration {
  name: string;
  checksum: string;
  finished: boolean;
  /** Whether it was begun and then neither finished nor failed: its process is gone, or still at it. */
  interrupted: boolean;
}

const UNDEFINED_TABLE = '42P01';

/** What was applied to a database; undefined where nothing ever was. */
export async function readApplied(client: pg.ClientBase): Promise<AppliedMigration[] | undefined> {
  try {
    const { rows } = await client.query<AppliedMigration>(
      `SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS finished,
         finished_at IS NULL AND logs IS NULL AS interrupted
       FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY started_at, migration_name`,
    );
    return rows;
  } catch (error) {
    if (codeOf(error) === UNDEFINED_TABLE) return undefined;
    throw error;
  }
}

/**
 * The migrations that the database lacks, and the names of those that a newer version of the program has applied.
 * @throws MigrationError when one failed, was edited after it was applied, or the database went another way
 */
export function compareHistory(
  migrations: Migration[],
  applied: AppliedMigration[],
): { missing: Migration[]; ahead: string[] } {
  const failed = applied.find(({ finished, interrupted }) => !finished && !interrupted);
  if (failed !== undefined) {
    throw new MigrationError(
      `Migration ${failed.name} failed on this database before. See its row in the table _prisma_migrations, put right ` +
        `what it left behind, and run: prisma migrate resolve --rolled-back ${failed.name}`,
    );
  }
  const checksums = new Map(applied.filter(({ finished }) => finished).map(({ name, checksum }) => [name, checksum]));
  const edited = migrations.find(({ name, checksum }) => (checksums.get(name) ?? checksum) !== checksum);
  if (edited !== undefined) {
    throw new MigrationError(
      `Migration ${edited.name} was changed after it was applied to this database. ` +
        'Put its migration.sql back as it was, and make the change in a new migration.',
    );
  }
  const missing = migrations.filter(({ name }) => !checksums.has(name));
  const known = new Set(migrations.map(({ name }) => name));
  const ahead = [...checksums.keys()].filter((name) => !known.has(name));
  if (missing.length > 0 && ahead.length > 0) {
    throw new MigrationError(
      `This database was migrated along another line: it has ${ahead.join(', ')}, which prisma/migrations has not, ` +
        `and lacks ${missing.map(({ name }) => name).join(', ')}. Use another database.`,
    );
  }
  return { missing, ahead };
}
