import { randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { errorCode } from './error-codes.ts';

/**
 * Reads a secret from a file. If the file is missing, creates it with a new secret that only the file owner can read.
 * If several processes create the file concurrently, all of them get the same secret. The file is never incomplete,
 * even if a process is killed or the disk is full.
 */
export async function readOrCreateSecret(file: string, create: () => string): Promise<string> {
  const found = await readFile(file, 'utf8').catch(ignoreMissing);
  if (found !== undefined) return found.trim();
  const draft = `${file}.${process.pid}-${randomBytes(4).toString('hex')}`;
  try {
    await writeFile(draft, `${create()}\n`, { mode: 0o600 });
    // Ignores the error if another process has already created the file.
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
