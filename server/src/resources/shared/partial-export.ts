import { randomUUID } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { resolve } from 'node:path';

/*
 * Writes exports, so that a file or folder with the final name is always complete. If an export is killed, its temporary
 * file or folder remains. It contains personal data, and the export of a tenant also contains password hashes. The
 * database lists these paths, so that the next export and `itsm doctor` can name them.
 */

/** A connection or a pool with the system role. */
interface Database {
  query(text: string, values?: unknown[]): Promise<{ rows: { path: string }[] }>;
}

/** Describes a path that `findPartialExports` returns, and what to do with it. */
export const partialExport = {
  message: (path: string) => `An export was killed or is still running: ${path}`,
  advice: 'If no export is running, delete it, because it contains personal data.',
};

/** Returns the temporary files and folders on this machine of exports that were killed or are still running. */
export async function findPartialExports(database: Database): Promise<string[]> {
  const { rows } = await database.query('SELECT unnest(partial_exports) AS path FROM installation ORDER BY 1');
  return rows.map(({ path }) => path).filter((path) => existsSync(path));
}

/**
 * Writes a file or folder to a temporary path, and renames it when `work` is complete.
 * @param work creates the file or folder at the given path
 * @param report called for each temporary file or folder of another export
 */
export async function writePartial<Result>(
  database: Database,
  { target, report }: { target: string; report: (line: string) => unknown },
  work: (partial: string) => Promise<Result>,
): Promise<Result> {
  for (const path of await findPartialExports(database)) {
    report(`${partialExport.message(path)}. ${partialExport.advice}`);
  }
  // Concurrent exports to the same path need separate temporary paths.
  const partial = `${resolve(target)}.${randomUUID().slice(0, 8)}.partial`;
  await database.query('UPDATE installation SET partial_exports = array_append(partial_exports, $1)', [partial]);
  // If a signal ends the command, deletes the temporary path.
  const clear = () => rmSync(partial, { recursive: true, force: true });
  process.once('exit', clear);
  try {
    const result = await work(partial);
    await rename(partial, target);
    return result;
  } finally {
    clear();
    process.off('exit', clear);
    const remove = 'UPDATE installation SET partial_exports = array_remove(partial_exports, $1)';
    // The path no longer exists, so an entry that remains does no harm.
    await database.query(remove, [partial]).catch(() => undefined);
  }
}
