import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyPrepared } from './prepared-postgres.ts';
import { type ServerProcess, spawnServer } from './server-process.ts';

const running: Started[] = [];
const folders: string[] = [];

/** A server process that `start` started. */
export interface Started extends Omit<ServerProcess, 'ready'> {
  /** Resolves to the address of the server when the server is ready. */
  ready: Promise<string>;
}

/** Stops the processes and deletes the folders of a test. */
export async function stopStarted(): Promise<void> {
  for (const { child, exited } of running.splice(0)) {
    child.kill('SIGINT');
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
  const port = cwd === undefined ? { PORT: '0' } : undefined;
  const server = spawnServer({ LOG_LEVEL: 'info', ...port, ...env }, [], cwd);
  const ready = server.ready.then(() => /"api":"(http[^"]+)\/api\/public\/v1"/.exec(server.output())?.[1] ?? '');
  ready.catch(() => undefined);
  const started = { ...server, ready };
  running.push(started);
  return started;
}

/** Returns the ID of the PostgreSQL process that uses a data folder, or undefined if PostgreSQL isn't running. */
export async function postgresPid(folder: string): Promise<number | undefined> {
  const text = await readFile(join(folder, 'postgres/postmaster.pid'), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : Number(text.split('\n')[0]);
}
