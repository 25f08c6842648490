import { randomBytes } from 'node:crypto';
import {
  access,
  chmod,
  chown,
  constants,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from '../shared/pg-errors.ts';
import { readOrCreateSecret } from '../shared/secret-file.ts';
import {
  type Binaries,
  ClusterError,
  checkReachable,
  findBinaries,
  lastLine,
  type OsUser,
  postgresUser,
  run,
} from './binaries.ts';

/**
 * The files and the server of an embedded PostgreSQL: making them, starting and stopping it.
 * Who may use it, and who stops it, is decided in embedded.ts.
 */
export interface Cluster {
  /** The data folder as the user wrote it, for messages. */
  name: string;
  /** The data folder, absolute: holds `postgres`, `postgres.log` and `postgres-password`. */
  dataDir: string;
  password: string;
  /** Settings given to the server when this process is the one that starts it. */
  settings: Record<string, string>;
  /** As whom the server runs. It takes processes to find out, so only who makes, starts or stops it asks. */
  findUser(): Promise<OsUser | undefined>;
}

/**
 * Makes the data folder ready to be started: the folder, the password, and the cluster itself the first time.
 * Safe to be run by several processes at once.
 */
export async function prepareCluster(name: string, settings: Record<string, string>): Promise<Cluster> {
  const dataDir = resolve(name);
  let user: Promise<OsUser | undefined> | undefined;
  const findUser = () => {
    user ??= postgresUser();
    return user;
  };
  const exists = (await clusterVersion(dataDir)) !== undefined;
  if (!exists) await makeFolder(name, await findUser());
  const password = await readPassword(name, dataDir, exists);
  const cluster = { name, dataDir, password, settings, findUser };
  if (!exists) await initialise(cluster);
  return cluster;
}

async function makeFolder(name: string, user: OsUser | undefined): Promise<void> {
  const dataDir = resolve(name);
  // Without programs there is nothing that a folder would help.
  await findBinaries();
  // PostgreSQL must be able to pass through the folder, also where it runs as a user of its own.
  const mode = user === undefined ? 0o700 : 0o755;
  const made = await mkdir(dataDir, { recursive: true, mode }).catch((cause: Error) => {
    throw new ClusterError(`DATA_DIR ${name} can't be made: ${cause.message}. Set it to another folder.`, { cause });
  });
  // The umask may have taken bits away.
  if (made !== undefined) await chmod(dataDir, mode);
  await access(dataDir, constants.W_OK | constants.X_OK).catch((cause: Error) => {
    const advice = 'Allow it to this user, or set DATA_DIR to another folder.';
    throw new ClusterError(`DATA_DIR ${name} can't be written to: ${cause.message}. ${advice}`, { cause });
  });
}

/** The port of the running server; undefined when none runs, or when it has only begun to start. */
export async function runningPort({ dataDir }: Pick<Cluster, 'dataDir'>): Promise<number | undefined> {
  const file = await readPostmaster(dataDir);
  return file?.port && (await isPostgres(file.pid)) ? file.port : undefined;
}

/**
 * Starts the server on a free port of 127.0.0.1. False when another process was quicker, or the last server is not
 * quite gone: look again.
 * @param onlyPort the one port that it may have, for processes that connect to it already
 * @throws ClusterError when the server can't start at all, or `onlyPort` is taken
 */
export async function startCluster(cluster: Cluster, onlyPort?: number): Promise<boolean> {
  const { name, dataDir } = cluster;
  const user = await cluster.findUser();
  const binaries = await findBinaries();
  await checkReachable(dataDir, user, binaries);
  await checkVersion(cluster, binaries);
  const stale = await readPostmaster(dataDir);
  // After a crash another program may have been given the old process id. PostgreSQL would take it for a server.
  if (stale !== undefined && isAlive(stale.pid) && !(await isPostgres(stale.pid))) {
    await rm(join(dataDir, 'postgres', 'postmaster.pid'), { force: true });
  }
  // The port of before the crash, if it is free: processes that are still running with it find the server again.
  const port = await freePort(onlyPort ?? stale?.port);
  if (port !== (onlyPort ?? port)) {
    throw new ClusterError(`PostgreSQL in ${name} can't be started again: another program uses its port ${onlyPort}.`);
  }
  const settings = { ...cluster.settings, port: String(port) };
  const options = Object.entries(settings).map(([key, value]) => `-c ${key}=${value}`);
  const log = await openLog(join(dataDir, 'postgres.log'), user);
  // Names relative to the folder, since pg_ctl hands them to a shell.
  const args = ['start', '-w', '-t', '120', '-D', 'postgres', '-l', 'postgres.log', '-o', options.join(' ')];
  const { code, output } = await run(binaries.pg_ctl, args, { cwd: dataDir, user });
  if (code === 0) return true;
  const said = (await readFile(log.path, 'utf8')).slice(log.length);
  if (SOMEBODY_ELSE.test(said + output) && !UNUSABLE.test(said + output)) return false;
  const reason = /(?:FATAL|PANIC):\s*(.*)/.exec(said)?.[1] ?? lastLine(output);
  throw new ClusterError(`PostgreSQL in ${name} did not start: ${reason}. Its log is ${join(name, 'postgres.log')}.`);
}

/** What PostgreSQL or pg_ctl says when another process starts or stops the same server, or has just taken the port. */
const SOMEBODY_ELSE =
  /lock file|PID file|in use|create any TCP|ready to accept|shutdown request|starting up|shutting down/;

/** What is said of files that trying again doesn't make usable, such as a lock file that can't be created, or damaged ones. */
const UNUSABLE = /Permission denied|Read-only file system|No space left on device|PANIC:/;

/** Stops the server: ends its connections and returns when everything is on disk. */
export async function stopCluster(cluster: Cluster): Promise<void> {
  const { pg_ctl } = await findBinaries();
  const running = await readPostmaster(cluster.dataDir);
  if (running === undefined) return;
  const { code, output } = await run(pg_ctl, ['stop', '-W', '-m', 'fast', '-D', 'postgres'], {
    cwd: cluster.dataDir,
    user: await cluster.findUser(),
  });
  const failure = `PostgreSQL in ${cluster.name} did not stop`;
  if (code !== 0 && isAlive(running.pid)) throw new ClusterError(`${failure}: ${lastLine(output)}`);
  // pg_ctl's own waiting (-w) would take the server that somebody else starts right after for the one to be stopped.
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await sleep(20)) {
    if (!isAlive(running.pid) || (await readPostmaster(cluster.dataDir))?.pid !== running.pid) return;
  }
  throw new ClusterError(`${failure} within a minute. Its log is ${join(cluster.name, 'postgres.log')}.`);
}

/** Whether a data folder holds the files of a PostgreSQL. */
export async function hasCluster(dataDir: string): Promise<boolean> {
  return (await clusterVersion(resolve(dataDir))) !== undefined;
}

/** The major version that made the cluster; undefined when there is none. */
async function clusterVersion(dataDir: string): Promise<string | undefined> {
  return (await readIfThere(join(dataDir, 'postgres', 'PG_VERSION')))?.trim();
}

async function checkVersion(cluster: Cluster, { postgres }: Binaries): Promise<void> {
  const { output } = await run(postgres, ['--version'], {
    cwd: cluster.dataDir,
    user: await cluster.findUser(),
  });
  const ours = /(\d+)[.\w]*\s*$/.exec(output)?.[1];
  const theirs = await clusterVersion(cluster.dataDir);
  if (ours === undefined) throw new ClusterError(`The embedded PostgreSQL does not run: ${lastLine(output)}`);
  if (ours === theirs) return;
  throw new ClusterError(
    `${join(cluster.name, 'postgres')} was made by PostgreSQL ${theirs}, and PostgreSQL ${ours} can't open it. ` +
      'Go back to the version that made it, or set DATA_DIR to another folder.',
  );
}

/** The password of the cluster, made once per data folder. */
async function readPassword(name: string, dataDir: string, clusterExists: boolean): Promise<string> {
  const file = join(dataDir, 'postgres-password');
  const found = await readIfThere(file);
  if (found?.trim()) return found.trim();
  if (clusterExists) {
    const path = join(name, 'postgres-password');
    const fault = found === undefined ? 'missing' : 'empty';
    throw new ClusterError(`${path} is ${fault}. Put it back, or set DATA_DIR to another folder for fresh data.`);
  }
  return readOrCreateSecret(file, () => randomBytes(24).toString('base64url'));
}

/** Makes the cluster beside its place and moves it there in one step: what is in place is whole. */
async function initialise(cluster: Cluster): Promise<void> {
  const { name, dataDir, password, settings } = cluster;
  const user = await cluster.findUser();
  const binaries = await findBinaries();
  await checkReachable(dataDir, user, binaries);
  await removeAbandonedDrafts(dataDir);
  const draft = await mkdtemp(join(dataDir, `postgres.init-${process.pid}-`));
  try {
    await writeFile(join(draft, 'password'), `${password}\n`, { mode: 0o600 });
    if (user !== undefined) {
      for (const path of [draft, join(draft, 'password')]) await chown(path, user.uid, user.gid);
    }
    // Unicode without the machine's locales and their changing sort orders; nothing listens but 127.0.0.1.
    const args = [
      '--pgdata=data',
      '--pwfile=password',
      '--username=postgres',
      '--auth=scram-sha-256',
      '--encoding=UTF8',
    ];
    args.push('--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C');
    args.push('--set=listen_addresses=127.0.0.1', '--set=unix_socket_directories=', '--set=max_connections=100');
    args.push('--set=timezone=UTC', '--set=log_timezone=UTC', '--set=log_checkpoints=off');
    if (settings.fsync === 'off') args.push('--no-sync');
    const { code, output } = await run(binaries.initdb, args, { cwd: draft, user });
    if (code !== 0) throw new ClusterError(`PostgreSQL can't make its files in ${name}: ${lastLine(output)}`);
    await rename(join(draft, 'data'), join(dataDir, 'postgres')).catch(ignoreExisting);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  if ((await clusterVersion(dataDir)) === undefined) {
    throw new ClusterError(`${join(name, 'postgres')} holds something other than PostgreSQL's data. Move it away.`);
  }
}

async function removeAbandonedDrafts(dataDir: string): Promise<void> {
  for (const entry of await readdir(dataDir)) {
    const owner = /^postgres\.init-(\d+)-/.exec(entry)?.[1];
    if (owner && !isAlive(Number(owner))) await rm(join(dataDir, entry), { recursive: true, force: true });
  }
}

/** What the server wrote about itself: line 1 is its process id, line 4 its port. The file may be of a dead server. */
async function readPostmaster(dataDir: string): Promise<{ pid: number; port: number | undefined } | undefined> {
  const lines = (await readIfThere(join(dataDir, 'postgres', 'postmaster.pid')))?.split('\n');
  return lines?.[0] ? { pid: Number(lines[0]), port: Number(lines[3]) || undefined } : undefined;
}

/** Whether there is a process of this id, be it another user's. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

async function isPostgres(pid: number): Promise<boolean> {
  if (!isAlive(pid)) return false;
  // `ps` is not part of every container. State Z is a dead process whose parent has not noticed.
  if (process.platform === 'linux') return /\(postgres\) [^ZX]/.test((await readIfThere(`/proc/${pid}/stat`)) ?? '');
  // Windows has no `ps`, and gives process ids back late.
  if (process.platform === 'win32') return true;
  return /postgres\s*$/.test((await run('ps', ['-o', 'comm=', '-p', String(pid)])).output);
}

async function freePort(preferred = 0): Promise<number> {
  const server = createServer();
  const listening = new Promise<number>((done, fail) => {
    server.once('error', fail);
    server.listen(preferred, '127.0.0.1', () => {
      const address = server.address();
      if (address !== null && typeof address === 'object') done(address.port);
    });
  });
  try {
    return await listening;
  } catch (error) {
    if (preferred === 0) throw error;
    return freePort();
  } finally {
    server.close();
  }
}

/** The log must be there before the server starts: PostgreSQL's own user may not make files in the data folder. */
async function openLog(path: string, user: OsUser | undefined): Promise<{ path: string; length: number }> {
  const file = await open(path, 'a', 0o600);
  try {
    if (user !== undefined) await file.chown(user.uid, user.gid);
    return { path, length: (await file.stat()).size };
  } finally {
    await file.close();
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return undefined;
    if (errorCode(error) !== 'EACCES') throw error;
    const message = `${path} belongs to another user. Run as the one who made it, or set DATA_DIR to another folder.`;
    throw new ClusterError(message, { cause: error });
  }
}

function ignoreExisting(error: unknown): void {
  if (!['EEXIST', 'ENOTEMPTY', 'EPERM'].includes(errorCode(error) ?? '')) throw error;
}
