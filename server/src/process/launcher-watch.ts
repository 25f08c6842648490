// Stops the server within 1 second after `npx pnpm start` receives SIGTERM. Without this module, the server would keep
// running.

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { isAlive } from '../embedded-postgres/cluster.ts';

const pollIntervalMs = 250;

/**
 * Calls `callback` when the launcher shell exits. This is the shell in which npx or an npm script runs the package
 * manager that starts the server. npm sends signals only to this shell, which then exits, but the package manager never
 * receives the signals.
 */
export async function onLauncherExit(callback: () => void): Promise<void> {
  const shell = await findParentPid(process.ppid).catch(() => undefined);
  if (shell === undefined || shell <= 1) return;
  const timer = setInterval(() => {
    if (isAlive(shell)) return;
    clearInterval(timer);
    callback();
  }, pollIntervalMs).unref();
}

async function findParentPid(pid: number): Promise<number | undefined> {
  // Windows has no signals. On Linux, this function reads /proc, because many container images have no `ps`.
  if (process.platform === 'win32') return undefined;
  if (process.platform === 'linux') {
    return Number(/^PPid:\s*(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]);
  }
  return Number((await promisify(execFile)('ps', ['-o', 'ppid=', '-p', String(pid)])).stdout);
}
