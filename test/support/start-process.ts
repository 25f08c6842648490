import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiled } from './compiled.ts';
import { copyPrepared } from './prepared-postgres.ts';

const main = join(import.meta.dirname, '../../server/src/main.ts');
const running: Started[] = [];
const folders: string[] = [];

/** A server process that `start` started. */
export interface Started {
  process: ChildProcess;
  /** Returns all output of the process so far, including standard error. */
  output(): string;
  /** Resolves to the address of the server when the server is ready. */
  ready: Promise<string>;
  exited: Promise<number | null>;
}

/** Stops the processes and deletes the folders of a test. */
export async function stopStarted(): Promise<void> {
  for (const { process, exited } of running.splice(0)) {
    process.kill('SIGINT');
    await exited;
  }
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
}

/** Creates a folder for `DATA_DIR`. */
export async function dataDir(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'itsm-start-'));
  // If the test runs as root, PostgreSQL runs as a different user, which needs access to the folder.
  await chmod(folder, 0o755);
  folders.push(folder);
  return folder;
}

/** Creates a folder for `DATA_DIR` that contains a migrated database. A start with it takes less time. */
export async function migratedDataDir(): Promise<string> {
  const folder = join(await dataDir(), 'migrated');
  await copyPrepared(folder);
  return folder;
}

/** Starts a server as `pnpm start` does. @param cwd the folder that contains its `.env` file */
export function start(env: Record<string, string>, cwd?: string): Started {
  const child = spawn(process.execPath, [main], {
    cwd,
    env: { PATH: process.env.PATH, ...compiled, DRAIN_SECONDS: '0', ...(cwd === undefined && { PORT: '0' }), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  const ready = new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk;
      const address = /"api":"(http[^"]+)\/api\/public\/v1"/.exec(output)?.[1];
      if (address !== undefined) resolve(address);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    exited.then((code) => reject(new Error(`start ended with ${code}: ${output}`)));
  });
  ready.catch(() => undefined);
  const started = { process: child, output: () => output, ready, exited };
  running.push(started);
  return started;
}

/** Returns the ID of the PostgreSQL process that uses a data folder, or undefined if PostgreSQL isn't running. */
export async function postgresPid(folder: string): Promise<number | undefined> {
  const text = await readFile(join(folder, 'postgres/postmaster.pid'), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : Number(text.split('\n')[0]);
}
