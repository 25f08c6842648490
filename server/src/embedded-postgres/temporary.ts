import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive, runningPort } from './cluster.ts';
import { type Embedded, openEmbedded } from './embedded.ts';

/**
 * PostgreSQL settings for data that doesn't need to survive a crash. They make PostgreSQL fast and allow many
 * connections. The unusual time zone reveals code that assumes UTC but doesn't set the time zone.
 */
export const disposable = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  max_connections: '200',
  timezone: 'America/St_Johns',
};

/**
 * Starts an embedded PostgreSQL in a new temporary folder. When the caller calls `stop()` or the process exits,
 * PostgreSQL stops and the folder is removed. If the process is killed, the next call of `openTemporary` stops
 * PostgreSQL and removes the folder.
 * @param copyTo copies the files of a stopped PostgreSQL to the folder; by default, PostgreSQL creates its files
 */
export async function openTemporary(copyTo = async (_folder: string) => {}): Promise<Embedded> {
  await removeAbandoned();
  const dataDir = temporaryDataDir();
  const onExit = () => destroy(dataDir);
  process.once('exit', onExit);
  try {
    await copyTo(dataDir);
    const { url, stop } = await openEmbedded({ dataDir, holder: { type: 'command' }, settings: disposable });
    const stopAndRemove = async () => {
      await stop();
      process.off('exit', onExit);
      destroy(dataDir);
    };
    return { url, stop: stopAndRemove };
  } catch (error) {
    process.off('exit', onExit);
    destroy(dataDir);
    throw error;
  }
}

/**
 * Returns the path for a new data folder. After this process has ended, the next call of `openTemporary` removes the
 * folder.
 */
export function temporaryDataDir(): string {
  return join(tmpdir(), `itsm-postgres-${process.pid}-${randomBytes(4).toString('hex')}`);
}

async function removeAbandoned(): Promise<void> {
  for (const entry of await readdir(tmpdir())) {
    const owner = /^itsm-postgres-(\d+)-/.exec(entry)?.[1];
    if (owner === undefined || isAlive(Number(owner))) continue;
    const dataDir = join(tmpdir(), entry);
    try {
      // Removes an outdated postmaster.pid. Otherwise, `destroy` could kill another program that now has the same
      // process id.
      const isRunning = (await runningPort({ dataDir })) !== undefined;
      if (!isRunning) rmSync(join(dataDir, 'postgres/postmaster.pid'), { force: true });
      destroy(dataDir);
    } catch {
      // Another user may own the folder, or another process may be removing it, so the error is ignored.
    }
  }
}

/**
 * Kills PostgreSQL if it is running, and removes its folder. The function is synchronous, because exit handlers can't
 * wait for promises.
 */
function destroy(dataDir: string): void {
  const file = join(dataDir, 'postgres/postmaster.pid');
  try {
    process.kill(Number.parseInt(readFileSync(file, 'utf8'), 10), 'SIGQUIT');
    // PostgreSQL writes to the folder until it deletes this file, and a removal would fail.
    const sleeper = new Int32Array(new SharedArrayBuffer(4));
    for (let tries = 0; tries < 200 && existsSync(file); tries++) Atomics.wait(sleeper, 0, 0, 10);
  } catch {
    // PostgreSQL isn't running, so the error is ignored.
  }
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
}
