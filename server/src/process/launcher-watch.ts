// Measured: after a SIGTERM to `npx pnpm start`, the server stops within 1 s; without this file it keeps running and holds its port.

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { isAlive } from '../embedded-postgres/cluster.ts';

const lookEveryMs = 250;

/**
 * Calls back when the shell is gone in which npx, or a script of npm, has run the package manager that started this
 * process. npm tells that shell alone of a signal; it dies of it, and the package manager goes on without ever being told.
 */
export async function onLauncherExit(callback: () => void): Promise<void> {
  const shell = await parentOf(process.ppid).catch(() => undefined);
  if (shell === undefined || shell <= 1) return;
  const timer = setInterval(() => {
    if (isAlive(shell)) return;
    clearInterval(timer);
    callback();
  }, lookEveryMs).unref();
}

async function parentOf(pid: number): Promise<number | undefined> {
  // Windows knows no signals, and many images of Linux no `ps`.
  if (process.platform === 'win32') return undefined;
  if (process.platform === 'linux') {
    return Number(/^PPid:\s*(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]);
  }
  return Number((await promisify(execFile)('ps', ['-o', 'ppid=', '-p', String(pid)])).stdout);
}
