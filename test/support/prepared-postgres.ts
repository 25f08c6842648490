import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Embedded, openEmbedded } from '../../server/src/embedded-postgres/embedded.ts';
import { disposable, openTemporary } from '../../server/src/embedded-postgres/temporary.ts';
import { migrateDatabase } from '../../server/src/process/ensure-schema.ts';
import { execute, withDatabase } from './database.ts';

/** The migrated database of the server that `openPrepared` starts. */
export const preparedDatabase = 'prepared';

const root = join(import.meta.dirname, '../..');
const cache = join(root, 'test/node_modules/.cache/itsm-postgres');

/**
 * Starts an embedded PostgreSQL with a migrated database, in a temporary folder. Copies the files from a cache, because
 * creating and migrating them takes two seconds. If a migration or the version of PostgreSQL changes, renews the cache.
 */
export async function openPrepared(): Promise<Embedded> {
  const hash = await hashInputs();
  const prepared = join(cache, hash);
  if (!existsSync(prepared)) {
    await removeOutdated(hash);
    await prepare(prepared);
  }
  return openTemporary((folder) => copy(prepared, folder));
}

/** Removes the entries of the cache for other migrations. Keeps drafts with the same hash for concurrent test runs. */
async function removeOutdated(hash: string): Promise<void> {
  await mkdir(cache, { recursive: true });
  const outdated = (await readdir(cache)).filter((name) => !name.startsWith(hash));
  await Promise.all(outdated.map((name) => rm(join(cache, name), { recursive: true, force: true })));
}

async function prepare(folder: string): Promise<void> {
  const draft = `${folder}-${process.pid}`;
  const { url, stop } = await openEmbedded({ dataDir: draft, holder: { type: 'command' }, settings: disposable });
  try {
    await execute(url, `CREATE DATABASE ${preparedDatabase}`);
    await migrateDatabase(withDatabase(url, preparedDatabase));
  } finally {
    await stop();
  }
  // Another test run may have renamed its draft first.
  await rename(draft, folder).catch(() => rm(draft, { recursive: true, force: true }));
}

async function copy(from: string, to: string): Promise<void> {
  // If the tests run as root, another user owns the files of PostgreSQL. Only `cp` keeps the owner.
  if (process.getuid?.() === 0) await promisify(execFile)('cp', ['-a', from, to]);
  else await cp(from, to, { recursive: true, preserveTimestamps: true });
}

/** Returns a hash of the files that determine the content of a migrated database. */
async function hashInputs(): Promise<string> {
  const hash = createHash('sha256');
  for (const path of ['pnpm-lock.yaml', 'prisma/migrations', 'server/src/database']) {
    const names = path.includes('.') ? [''] : (await readdir(join(root, path), { recursive: true })).sort();
    for (const name of names) hash.update(name).update(await readFile(join(root, path, name)).catch(() => ''));
  }
  return hash.digest('hex').slice(0, 16);
}
