import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where migrations are kept, each in a folder named by its time and its subject. */
export const migrationsFolder = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url));

/**
 * The first line of a script that doesn't run within a transaction: it builds an index CONCURRENTLY, or would hold
 * several tables at once.
 */
export const concurrentMarker = '-- outside of a transaction';

export interface Migration {
  name: string;
  script: string;
  /** By which an edit is noticed. SHA-256, as hex. */
  checksum: string;
  /** Whether it runs statement by statement and outside of a transaction. */
  concurrent: boolean;
}

/** The database and the folder of migrations don't fit together, or a migration failed. */
export class MigrationError extends Error {
  override name = 'MigrationError';
}

/** The migrations of a folder, in their order. */
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
 * The statements of a script that runs outside of a transaction: each ends where a line ends with a semicolon, but not
 * between two `$$`.
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
