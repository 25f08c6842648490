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

/** A PostgreSQL of its own in a temporary folder, with everything on that makes it survive a crash. */
export interface Postgres {
  /** Of its database `itsm`; the same after every start. */
  url: string;
  /** SIGKILLs the postmaster, which takes the others with it; false when there is none. */
  kill(): boolean;
  /** Stops it as an administrator does: it ends its connections, and nobody starts it again by himself. */
  stop(): Promise<void>;
  /** Starts it unless it runs, as a supervisor would: as soon as what is left of the last one lets it. */
  start(): Promise<void>;
  /** SIGKILLs all of its processes at once, as when a machine loses power. */
  killAll(): Promise<void>;
  /**
   * SIGKILLs one of its processes that serve connections, as when memory runs out: then all end, and it recovers by itself,
   * without a start. False when there is none.
   */
  killOne(): Promise<boolean>;
  /** Has all of its processes stand still, as on a machine that is stuck; resolves to what has them go on. */
  freeze(): Promise<() => void>;
  /** Stops it and removes its folder. */
  remove(): Promise<void>;
}

const startPatience = 60_000;

export async function openPostgres(settings: Record<string, string> = {}): Promise<Postgres> {
  const cluster = await prepareCluster(temporaryDataDir(), settings);
  const port = await steadyPort();
  const postgres = postgresOf(cluster, port);
  await postgres.start();
  await createDatabase(urlOf(cluster, port, 'postgres'));
  return postgres;
}

/** The URL of a database of the server that is to listen on this port. */
export function urlOf({ password }: Cluster, port: number, database: string): string {
  return `postgresql://postgres:${password}@127.0.0.1:${port}/${database}`;
}

/** The server over these files, which is not started yet. */
export function postgresOf(cluster: Cluster, port: number): Postgres {
  const onExit = () => {
    kill(cluster, 'SIGQUIT');
    rmSync(cluster.dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
  };
  process.once('exit', onExit);
  /** Has all processes stand still, the one first that would start others. */
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
    for (const deadline = Date.now() + startPatience; ; await sleep(20)) {
      // One that was killed just now looks alive for a moment.
      const found = postmaster(cluster) === killed ? undefined : await runningPort(cluster);
      if (found === port) return;
      if (found !== undefined) throw new Error(`PostgreSQL came up on port ${found}, not on ${port}`);
      // Killed too early, it has not yet told its port.
      if (found === undefined && (await portOfLast(cluster)) === undefined) await askForPort(cluster, port);
      // It may be killed while it starts, of which there is more than one way to tell.
      const failure = await startCluster(cluster).then(
        () => new Error('PostgreSQL is not quite gone'),
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

/** A free port of 127.0.0.1 that the system gives to no outgoing connection while nobody listens on it. */
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

/** Has a start take this port: it takes that of the last server, of which this file would tell. */
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

/** Whether there was a process to be told. */
function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

/** The process id of the postmaster, or of the last one if that was killed. */
function postmaster({ dataDir }: Cluster): number | undefined {
  try {
    return Number.parseInt(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10);
  } catch {
    return undefined;
  }
}
