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
import { execute } from './database.ts';
import { copyPrepared } from './prepared-postgres.ts';

/** A PostgreSQL server in a temporary folder. Its settings ensure that commits survive a crash. */
export interface Postgres {
  /** The URL of the database `itsm`. The URL stays the same after a restart. */
  url: string;
  /** Kills the postmaster with SIGKILL, which also ends its backends. Returns false if the server does not run. */
  kill(): boolean;
  /** Stops the server, as an administrator does. The server closes its connections before it exits. */
  stop(): Promise<void>;
  /** Starts the server if it is not running. First waits until the processes of the previous server have ended. */
  start(): Promise<void>;
  /** Kills all PostgreSQL processes with SIGKILL, which simulates a power failure. */
  killAll(): Promise<void>;
  /**
   * Kills one backend with SIGKILL, as the out-of-memory killer does. PostgreSQL then ends all backends and recovers,
   * but the postmaster keeps running. Returns false if no backend runs.
   */
  killOne(): Promise<boolean>;
  /** Freezes all PostgreSQL processes. Returns a function that resumes the processes. */
  freeze(): Promise<() => void>;
  /** Stops the server and removes its folder. */
  remove(): Promise<void>;
}

const maxStartMs = 60_000;

/** Starts a PostgreSQL server with the migrated database `itsm`. */
export async function openPostgres(settings: Record<string, string> = {}): Promise<Postgres> {
  const cluster = await createCluster(settings);
  const postgres = postgresOf(cluster, await steadyPort());
  await postgres.start();
  // Copies of one database have the same id, by which an installation recognizes its attachments.
  await execute(postgres.url, 'UPDATE installation SET installation_id = gen_random_uuid()');
  return postgres;
}

/** Returns a stopped cluster in a temporary folder, with the migrated database `itsm`. */
export async function createCluster(settings: Record<string, string>): Promise<Cluster> {
  const dataDir = temporaryDataDir();
  await copyPrepared(dataDir);
  return prepareCluster(dataDir, settings);
}

/** Returns the URL of the database on the PostgreSQL server with the given port. */
export function urlOf({ password }: Cluster, port: number): string {
  return `postgresql://postgres:${password}@127.0.0.1:${port}/itsm`;
}

/** Returns a PostgreSQL server for the files of a cluster. The server is not running yet. */
export function postgresOf(cluster: Cluster, port: number): Postgres {
  const onExit = () => {
    kill(cluster, 'SIGQUIT');
    rmSync(cluster.dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
  };
  process.once('exit', onExit);
  /**
   * Freezes all PostgreSQL processes and returns their ids. Freezes the postmaster first, because it could start new
   * processes.
   */
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
      // The operating system can list a killed process for a short time after its exit.
      const found = postmaster(cluster) === killed ? undefined : await runningPort(cluster);
      if (found === port) return;
      if (found !== undefined) throw new Error(`PostgreSQL started on port ${found} instead of ${port}`);
      // If the server was killed early during its start, its port is not in `postmaster.pid`.
      if (found === undefined && (await portOfLast(cluster)) === undefined) await askForPort(cluster, port);
      // If the previous server was killed during its start, the next start can fail with various errors.
      const failure = await startCluster(cluster).then(
        () => new Error('PostgreSQL is still shutting down'),
        (error: Error) => error,
      );
      if (Date.now() > deadline) throw failure;
    }
  };

  return {
    url: urlOf(cluster, port),
    kill() {
      killed = postmaster(cluster);
      return kill(cluster, 'SIGKILL');
    },
    stop: () => stopCluster(cluster),
    start,
    async killAll() {
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

/** Returns a free port of 127.0.0.1 below the range that the system uses for outgoing connections. */
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

/** Writes a port to the file `postmaster.pid`, because `startCluster` reuses the port in this file. */
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

function kill(cluster: Cluster, name: 'SIGKILL' | 'SIGQUIT'): boolean {
  return signal(postmaster(cluster) ?? Number.NaN, name);
}

/** Sends a signal to a process. Returns false if no such process runs. */
function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

/** Returns the process ID of the postmaster, even if the postmaster was killed. */
function postmaster({ dataDir }: Cluster): number | undefined {
  try {
    return Number.parseInt(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10);
  } catch {
    return undefined;
  }
}
