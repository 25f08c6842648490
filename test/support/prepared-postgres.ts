import { createHash } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Embedded } from '../../server/src/embedded-postgres/embedded.ts';
import { copyPrepared as copyFiles } from '../../server/src/embedded-postgres/prepared.ts';
import { openTemporary } from '../../server/src/embedded-postgres/temporary.ts';
import { migrateDatabase } from '../../server/src/process/ensure-schema.ts';

const root = join(import.meta.dirname, '../..');
const cache = join(root, 'test/node_modules/.cache/itsm-postgres');

/**
 * Starts an embedded PostgreSQL with the migrated database `itsm`, in a temporary folder. Copies the files from a cache,
 * because creating and migrating them takes two seconds. If a migration or the version of PostgreSQL changes, renews the
 * cache.
 */
export function openPrepared(): Promise<Embedded> {
  return openTemporary(copyPrepared);
}

/** Copies the files of a stopped PostgreSQL with the migrated database `itsm` to a folder, which must not exist. */
export async function copyPrepared(folder: string): Promise<void> {
  const hash = await hashInputs();
  const prepare = async (url: string) => {
    await removeOutdated(hash);
    await migrateDatabase(url);
  };
  await copyFiles(join(cache, hash), prepare, folder);
}

/** Removes the entries of the cache for other migrations. Keeps drafts with the same hash for concurrent test runs. */
async function removeOutdated(hash: string): Promise<void> {
  const outdated = (await readdir(cache)).filter((name) => !name.startsWith(hash));
  await Promise.all(outdated.map((name) => rm(join(cache, name), { recursive: true, force: true })));
}

/** Returns a hash of the files that determine the content of a migrated database. */
async function hashInputs(): Promise<string> {
  const hash = createHash('sha256');
  const own = 'test/support/prepared-postgres.ts';
  for (const path of [own, 'pnpm-lock.yaml', 'prisma/migrations', 'server/src/database']) {
    const names = path.includes('.') ? [''] : (await readdir(join(root, path), { recursive: true })).sort();
    for (const name of names) hash.update(name).update(await readFile(join(root, path, name)).catch(() => ''));
  }
  return hash.digest('hex').slice(0, 16);
}
