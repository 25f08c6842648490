import { randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { errorCode } from './pg-errors.ts';

/**
 * A secret that is made once and kept in a file, readable by the owner alone. Of several processes that make it at once one
 * does, and the file is there with all of it or not at all, wherever one is killed or the disk is full.
 */
export async function readOrCreateSecret(file: string, make: () => string): Promise<string> {
  const found = await readFile(file, 'utf8').catch(ignoreMissing);
  if (found !== undefined) return found.trim();
  const draft = `${file}.${process.pid}-${randomBytes(4).toString('hex')}`;
  try {
    await writeFile(draft, `${make()}\n`, { mode: 0o600 });
    // It fails where another process was quicker.
    await link(draft, file).catch(ignoreExisting);
  } finally {
    await rm(draft, { force: true });
  }
  return (await readFile(file, 'utf8')).trim();
}

function ignoreMissing(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT') throw error;
}

function ignoreExisting(error: unknown): void {
  if (errorCode(error) !== 'EEXIST') throw error;
}
