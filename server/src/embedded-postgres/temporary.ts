import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive, runningPort } from './cluster.ts';
import { type Embedded, openEmbedded } from './embedded.ts';

/**
 * PostgreSQL's settings where nothing needs to survive a crash: fast, with room for many connections, and in a time zone
 * that shows whoever relies on UTC without asking for it.
 */
export const disposable = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  max_connections: '200',
  timezone: 'America/St_Johns',
};

/**
 * An embedded PostgreSQL in a folder of its own below the machine's temporary one, which `stop()` removes. If the
 * process exits without it they go as well; if it is killed, the next call takes care of them.
 */
export async function openTemporary(): Promise<Embedded> {
  await removeAbandoned();
  const dataDir = temporaryDataDir();
  const onExit = () => destroy(dataDir);
  process.once('exit', onExit);
  try {
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

/** The name of a new data folder that is removed by later calls of openTemporary when this process is gone. */
export function temporaryDataDir(): string {
  return join(tmpdir(), `itsm-postgres-${process.pid}-${randomBytes(4).toString('hex')}`);
}

async function removeAbandoned(): Promise<void> {
  for (const entry of await readdir(tmpdir())) {
    const owner = /^itsm-postgres-(\d+)-/.exec(entry)?.[1];
    if (owner === undefined || isAlive(Number(owner))) continue;
    const dataDir = join(tmpdir(), entry);
    try {
      // The process id that the folder tells of may be another program's by now.
      const isRunning = (await runningPort({ dataDir })) !== undefined;
      if (!isRunning) rmSync(join(dataDir, 'postgres/postmaster.pid'), { force: true });
      destroy(dataDir);
    } catch {
      // Another user's, or another process is removing it.
    }
  }
}

/** Kills PostgreSQL if it runs, and removes its folder. Waits for nothing, so that it can be done when exiting. */
function destroy(dataDir: string): void {
  try {
    process.kill(Number.parseInt(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10), 'SIGQUIT');
  } catch {
    // It does not run.
  }
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
}
