import * as path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { backoffMs } from '../shared/backoff.ts';
import { errorCode } from '../shared/pg-errors.ts';
import { ClusterError } from './binaries.ts';
import { type Cluster, isAlive, prepareCluster, runningPort, startCluster, stopCluster } from './cluster.ts';

/** Who holds the embedded PostgreSQL: the server (one at a time), or a command beside it (any number). */
export type Holder =
  | {
      type: 'server';
      address: string;
      /** Called when PostgreSQL has ended by itself and was started again, or with the reason why it could not be. */
      onRestart?: (failure: Error | undefined) => void;
    }
  | { type: 'command' };

export interface EmbeddedOptions {
  /** Made when missing. */
  dataDir: string;
  holder: Holder;
  /** Settings of PostgreSQL, used if it is this call that starts it. */
  settings?: Record<string, string>;
}

export interface Embedded {
  /** The URL of the database `itsm`. */
  url: string;
  /** Where the server listens that held it when a command joined, if one did. */
  origin?: string | undefined;
  /** Lets go of PostgreSQL; the last holder stops it. */
  stop(): Promise<void>;
}

/*
 * Who holds PostgreSQL is kept in PostgreSQL, as advisory locks of one connection per holder: they vanish with the
 * process, however it ends. Every holder shares EVERYONE; whoever gets it exclusively when leaving is the last one,
 * and stops PostgreSQL. The server also holds SERVER, exclusively.
 */
const EVERYONE = '1769239405, 1';
const SERVER = '1769239405, 2';

/** How long opening is tried while PostgreSQL is stopping, starting or recovering from a crash, in milliseconds. */
const PATIENCE = 15_000;
const RECOVERY_PATIENCE = 120_000;

/** How often PostgreSQL is started again within this many milliseconds before the server gives up. */
const maxRestarts = 3;
const restartWindowMs = 60_000;

/** Codes of PostgreSQL. */
const CANNOT_CONNECT_NOW = '57P03';
const INVALID_PASSWORD = '28P01';
const DUPLICATES = ['42P04', '23505'];

/**
 * Opens the PostgreSQL of a data folder: makes it the first time, starts it when it does not run, and joins it when
 * it does, be it that another process started it or that one was killed and left it behind.
 * If PostgreSQL ends later, a server starts it again, on the same port. When that fails for good, the process ends as
 * with any error that nothing catches.
 * Throws ClusterError when that can't be, and when a server is to hold a folder that another server holds.
 */
export async function openEmbedded({ dataDir, holder, settings = {} }: EmbeddedOptions): Promise<Embedded> {
  const cluster = await prepareCluster(dataDir, settings);
  let client = await enter(cluster, holder);
  const stopping = new AbortController();
  let retaking: Promise<void> | undefined;
  let stopped: Promise<void> | undefined;

  // PostgreSQL ends every connection when one of its processes crashes, and our locks end with the connection.
  const watch = () => {
    client.once('end', () => {
      retaking = retake();
    });
  };
  const restart = createRestart(cluster, holder, client.port);
  const retake = async () => {
    for (let tries = 0; !stopping.signal.aborted; tries++) {
      const port = await restart();
      try {
        if (port !== undefined) {
          client = await connect(cluster, holder, port);
          watch();
          return;
        }
      } catch {
        // Still recovering.
      }
      await sleep(backoffMs(tries), undefined, { ref: false, signal: stopping.signal }).catch(() => undefined);
    }
  };
  watch();

  const stop = async () => {
    stopping.abort();
    // Has ended the process already if it failed.
    await retaking?.catch(() => undefined);
    await leave(cluster, client);
  };
  return {
    url: urlOf(cluster, client.port, 'itsm'),
    // Where it can't be asked just now, whoever joined goes on.
    origin: holder.type === 'command' ? await findOrigin(client).catch(() => undefined) : undefined,
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

/**
 * Returns a function that starts PostgreSQL again unless it runs; commands leave that to the server. It resolves to the
 * port where PostgreSQL runs, or to undefined when the caller is to try again.
 * @throws ClusterError when `maxRestarts` within `restartWindowMs` failed or didn't last
 */
function createRestart(cluster: Cluster, holder: Holder, port: number): () => Promise<number | undefined> {
  let restarts: number[] = [];
  let failure: Error | undefined;
  return async () => {
    const running = await runningPort(cluster);
    if (holder.type === 'command' || running === port) return running;
    if (running !== undefined) {
      throw new ClusterError(`PostgreSQL in ${cluster.name} was started on another port. Start the server again.`);
    }
    restarts = restarts.filter((at) => performance.now() - at < restartWindowMs);
    if (restarts.length === maxRestarts) {
      const log = path.join(cluster.name, 'postgres.log');
      throw failure ?? new ClusterError(`PostgreSQL in ${cluster.name} ends again and again. Its log is ${log}.`);
    }
    try {
      failure = undefined;
      if (!(await startCluster(cluster, port))) return undefined;
    } catch (error) {
      failure = error as Error;
    }
    restarts.push(performance.now());
    holder.onRestart?.(failure);
    return failure === undefined ? port : undefined;
  };
}

/** Joins the running PostgreSQL, and starts it when none runs. */
async function enter(cluster: Cluster, holder: Holder): Promise<pg.Client> {
  const began = Date.now();
  for (;;) {
    let failure: unknown = new Error('it is starting');
    const port = await runningPort(cluster);
    try {
      if (port !== undefined) return await connect(cluster, holder, port);
    } catch (error) {
      if (error instanceof ClusterError) throw error;
      failure = error;
    }
    // Where nothing answers although a process has the id that was written down, PostgreSQL finds out what is true.
    const absent = port === undefined || errorCode(failure) === 'ECONNREFUSED';
    if (absent && (await startCluster(cluster))) continue;
    const patience = errorCode(failure) === CANNOT_CONNECT_NOW ? RECOVERY_PATIENCE : PATIENCE;
    if (Date.now() - began > patience) {
      const log = path.join(cluster.name, 'postgres.log');
      const reason = failure instanceof Error ? failure.message : String(failure);
      throw new ClusterError(`PostgreSQL in ${cluster.name} can't be used: ${reason}. See ${log}.`, { cause: failure });
    }
    await sleep(50);
  }
}

/** Connects and takes the holder's locks. ClusterError is final, any other error may pass. */
async function connect(cluster: Cluster, holder: Holder, port: number): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: urlOf(cluster, port, 'postgres'),
    application_name: describe(holder),
    connectionTimeoutMillis: 5000,
    keepAlive: true,
  });
  // Without a listener the error of a lost connection would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    if (errorCode(error) !== INVALID_PASSWORD) throw error;
    const file = path.join(cluster.name, 'postgres-password');
    throw new ClusterError(`The password in ${file} is not the one that its PostgreSQL was made with.`);
  }
  try {
    if (holder.type === 'server' && !(await take(client, 'pg_try_advisory_lock', SERVER))) {
      throw await serverInUse(client, cluster);
    }
    if (!(await take(client, 'pg_try_advisory_lock_shared', EVERYONE))) throw new Error('it is being stopped');
    await createDatabase(client);
    return client;
  } catch (error) {
    await leave(cluster, client);
    throw error;
  }
}

/** Gives the locks back, and stops PostgreSQL if nobody else has one. */
async function leave(cluster: Cluster, client: pg.Client): Promise<void> {
  try {
    await client.query(`SELECT pg_advisory_unlock_shared(${EVERYONE})`);
    // Whoever comes now finds the lock taken, waits for PostgreSQL to be gone and starts it again.
    if (await take(client, 'pg_try_advisory_lock', EVERYONE)) await stopCluster(cluster);
  } catch (error) {
    // A connection that is lost has lost its locks, too.
    if (error instanceof ClusterError) throw error;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function take(client: pg.Client, how: string, lock: string): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(`SELECT ${how}(${lock}) AS taken`);
  return rows[0]?.taken === true;
}

/** The server that holds the folder, as `describe` has it. */
async function findServer(client: pg.Client): Promise<{ pid?: string | undefined; address?: string | undefined }> {
  const { rows } = await client.query<{ application_name: string }>(
    `SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'advisory' AND granted AND (classid, objid) = (${SERVER}) AND objsubid = 2`,
  );
  const [, pid, address] = rows[0]?.application_name.split(' ') ?? [];
  return { pid, address };
}

/** Where the server listens that holds the folder; undefined where none does, or one that has no port. */
async function findOrigin(client: pg.Client): Promise<string | undefined> {
  const { address = '' } = await findServer(client);
  return URL.canParse(address) ? address : undefined;
}

/** What to throw when another server holds the folder: final if it lives, to be tried again if it is just dying. */
async function serverInUse(client: pg.Client, { name }: Cluster): Promise<Error> {
  const { pid = 'unknown', address = 'unknown' } = await findServer(client);
  const message = `DATA_DIR ${name} is in use by process ${pid} (${address}). Stop it, or set DATA_DIR to another folder.`;
  return isAlive(Number(pid)) ? new ClusterError(message) : new Error(message);
}

/** At most 63 bytes, which is what PostgreSQL keeps of an application name. */
function describe(holder: Holder): string {
  return `itsm ${process.pid} ${holder.type === 'server' ? holder.address : 'command'}`.slice(0, 63);
}

async function createDatabase(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query("SELECT FROM pg_database WHERE datname = 'itsm'");
  if (rowCount === 1) return;
  await client.query('CREATE DATABASE itsm').catch((error: unknown) => {
    // Another process was quicker.
    if (!DUPLICATES.includes(errorCode(error) ?? '')) throw error;
  });
}

function urlOf({ password }: Cluster, port: number, database: string): string {
  return `postgresql://postgres:${password}@127.0.0.1:${port}/${database}`;
}
