import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  type Cluster,
  prepareCluster,
  runningPort,
  startCluster,
  stopCluster,
} from '@itsm-api/server/embedded-postgres/cluster.ts';
import { temporaryDataDir } from '@itsm-api/server/embedded-postgres/temporary.ts';
import pg from 'pg';

/** A PostgreSQL server in a temporary folder. Its settings protect commits against crashes. */
export interface Postgres {
  /** The URL of its database `itsm`, the same after every start. */
  url: string;
  /** Kills the postmaster with SIGKILL, which ends its backends. Returns false if it does not run. */
  kill(): boolean;
  /** Stops the server like an administrator: it closes its connections, and is not restarted automatically. */
  stop(): Promise<void>;
  /** Starts the server if it is not running. Waits until the processes of the last server have ended. */
  start(): Promise<void>;
  /** Kills all PostgreSQL processes with SIGKILL, like a power failure. */
  testKills(): Promise<void>;
  /**
   * Kills one backend with SIGKILL, like the out-of-memory killer. All backends end, and the server recovers without a
   * restart. Returns false if there is no backend.
   */
  killOne(): Promise<boolean>;
  /** Freezes all PostgreSQL processes. Returns a function that continues them. */
  freeze(): Promise<() => void>;
  /** Stops the server and removes its folder. */
  remove(): Promise<void>;
}

const maxStartMs = 60_000;

export async function openPostgres(settings: Record<string, string> = {}): Promise<Postgres> {
  const cluster = await prepareCluster(temporaryDataDir(), settings);
  const port = await steadyPort();
  const postgres = postgresOf(cluster, port);
  await postgres.start();
  await createDatabase(urlOf(cluster, port, 'postgres'));
  return postgres;
}

/** Returns the URL of a database on the server with this port. */
export function urlOf({ password }: Cluster, port: number, database: string): string {
  return `postgresql://postgres:${password}@127.0.0.1:${port}/${database}`;
}

/** Returns a stopped PostgreSQL server with the files of a cluster. */
export function postgresOf(cluster: Cluster, port: number): Postgres {
  const onExit = () => {
    kill(cluster, 'SIGQUIT');
    rmSync(cluster.dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
  };
  process.once('exit', onExit);
  /** Freezes all processes, first the postmaster, because it would start more processes. */
  const still = async () => {
    const parent = String(postmaster(cluster));
    process.kill(Number(parent), 'SIGSTOP');
    const { stdout } = await promisify(execFile)('pgrep', ['-P', parent]);
    const pids = [parent, ...stdout.trim().split('\n')].map(Number);
    for (const pid of pids) signal(pid, 'SIGSTOP');
    return pids;
  };

  let killed: number | undefined;
  const start = async () => {
    for (const deadline = Date.now() + maxStartMs; ; await sleep(20)) {
      // The operating system lists a killed process for a short time.
      const found = postmaster(cluster) === killed ? undefined : await runningPort(cluster);
      if (found === port) return;
      if (found !== undefined) throw new Error(`PostgreSQL started on port ${found} instead of ${port}`);
      // A server that was killed early in its start has not yet written its port.
      if (found === undefined && (await portOfLast(cluster)) === undefined) await askForPort(cluster, port);
      // A kill during the start causes different errors.
      const failure = await startCluster(cluster).then(
        () => new Error('PostgreSQL is still shutting down'),
        (error: Error) => error,
      );
      if (Date.now() > deadline) throw failure;
    }
  };

  return {
    url: urlOf(cluster, port, 'itsm'),
    kill() {
      killed = postmaster(cluster);
      return kill(cluster, 'SIGKILL');
    },
    stop: () => stopCluster(cluster),
    start,
    async testKills() {
      killed = postmaster(cluster);
      for (const pid of await still()) signal(pid, 'SIGKILL');
    },
    async killOne() {
      const serving = ['-P', String(postmaster(cluster)), '-f', ' itsm '];
      const { stdout } = await promisify(execFile)('pgrep', serving).catch(() => ({ stdout: '' }));
      return signal(Number.parseInt(stdout, 10), 'SIGKILL');
    },
    async freeze() {
      const pids = await still();
      return () => {
        for (const pid of pids) signal(pid, 'SIGCONT');
      };
    },
    async remove() {
      await stopCluster(cluster);
      process.off('exit', onExit);
      onExit();
    },
  };
}

/** Returns a free port of 127.0.0.1 that the system doesn't use for outgoing connections. */
export async function steadyPort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const server = createServer();
    const free = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!free) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

/** Writes the port for the next start of PostgreSQL to the file of the last server. */
async function askForPort({ dataDir }: Cluster, port: number): Promise<void> {
  const file = join(dataDir, 'postgres', 'postmaster.pid');
  const processOfNobody = 2 ** 30;
  await writeFile(file, `${processOfNobody}\n\n\n${port}\n`);
  await chmod(file, 0o644);
}

async function portOfLast({ dataDir }: Cluster): Promise<number | undefined> {
  const text = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '');
  return Number(text.split('\n')[3]) || undefined;
}

export async function createDatabase(adminUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    await client.query('CREATE DATABASE itsm');
  } finally {
    await client.end();
  }
}

function kill(cluster: Cluster, name: 'SIGKILL' | 'SIGQUIT'): boolean {
  return signal(postmaster(cluster) ?? Number.NaN, name);
}

/** Sends a signal to a process. Returns false if the process does not exist. */
function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

/** Returns the process id of the running postmaster, or of the last postmaster if it was killed. */
function postmaster({ dataDir }: Cluster): number | undefined {
  try {
    return Number.parseInt(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10);
  } catch {
    return undefined;
  }
}
