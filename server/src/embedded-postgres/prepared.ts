import { execFile } from 'node:child_process';
import { cp, rename, rm, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { hasCluster } from './cluster.ts';
import { type Embedded, openEmbedded } from './embedded.ts';
import { disposable, openTemporary } from './temporary.ts';

/**
 * Starts an embedded PostgreSQL in a temporary folder, with a copy of prepared files. The first call creates the files,
 * and later calls and processes reuse them.
 * @param folder the path of the prepared files; it must change if the result of `prepare` changes
 * @param prepare fills the new PostgreSQL at the URL
 */
export function openPrepared(folder: string, prepare: (url: string) => Promise<unknown>): Promise<Embedded> {
  return openTemporary((copy) => copyPrepared(folder, prepare, copy));
}

/** Copies the prepared files to the folder `copy`, which must not exist. The parameters are those of `openPrepared`. */
export async function copyPrepared(
  folder: string,
  prepare: (url: string) => Promise<unknown>,
  copy: string,
): Promise<void> {
  if (!(await isPrepared(folder))) await create(folder, prepare);
  await copyFiles(folder, copy);
}

/** Ignores the folder of another user, because it could contain any code. */
async function isPrepared(folder: string): Promise<boolean> {
  const found = await stat(folder).catch(() => undefined);
  return found !== undefined && found.uid === (process.getuid?.() ?? found.uid) && (await hasCluster(folder));
}

async function create(folder: string, prepare: (url: string) => Promise<unknown>): Promise<void> {
  const draft = `${folder}-${process.pid}`;
  try {
    const holder = { type: 'command' } as const;
    const { url, stop } = await openEmbedded({ dataDir: draft, holder, settings: disposable });
    try {
      await prepare(url);
    } finally {
      await stop();
    }
    // Another process may have renamed its draft first.
    await rename(draft, folder).catch(async (error: unknown) => {
      if (!(await isPrepared(folder))) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function copyFiles(from: string, to: string): Promise<void> {
  // If this process runs as root, another user owns the files of PostgreSQL. Only `cp` keeps the owner.
  if (process.getuid?.() === 0) await promisify(execFile)('cp', ['-a', from, to]);
  else await cp(from, to, { recursive: true, preserveTimestamps: true });
}
