import * as path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { backoffMs } from '../shared/backoff.ts';
import { errorCode } from '../shared/error-codes.ts';
import { ClusterError } from './binaries.ts';
import { type Cluster, isAlive, prepareCluster, runningPort, startCluster, stopCluster } from './cluster.ts';

/**
 * A process that uses the embedded PostgreSQL. At most one server and any number of commands can use PostgreSQL
 * concurrently.
 */
export type Holder =
  | {
      type: 'server';
      address: string;
      /**
       * Called after each attempt to restart PostgreSQL after an unexpected exit. If the restart failed, `failure` is
       * the error.
       */
      onRestart?: (failure: Error | undefined) => void;
    }
  | { type: 'command' };

export interface EmbeddedOptions {
  /** The data folder. `openEmbedded` creates the folder if it is missing. */
  dataDir: string;
  holder: Holder;
  /** The settings of PostgreSQL. They are ignored if another process has already started PostgreSQL. */
  settings?: Record<string, string>;
}

export interface Embedded {
  /** The URL of the database `itsm`. */
  url: string;
  /**
   * The origin of the server that uses the same PostgreSQL. Undefined if no server is running, or if this process is
   * the server.
   */
  origin?: string | undefined;
  /** Closes the connection to PostgreSQL. If no other process uses PostgreSQL, also stops PostgreSQL. */
  stop(): Promise<void>;
}

/*
 * Advisory locks show which processes (holders) use PostgreSQL. Each holder has one connection with a shared lock on
 * EVERYONE. When a holder's process ends for any reason, PostgreSQL releases the holder's locks.
 *
 * Before a holder exits, it tries to acquire an exclusive lock on EVERYONE. If it acquires this lock, no other process
 * uses PostgreSQL, and the holder stops PostgreSQL. A server also has an exclusive lock on SERVER, so a second server
 * can't use the same PostgreSQL.
 */
const EVERYONE = '1769239405, 1';
const SERVER = '1769239405, 2';

/** The maximum time in milliseconds to wait while PostgreSQL is starting or stopping. */
const maxStartMs = 15_000;
/** The maximum time in milliseconds to wait while PostgreSQL recovers from a crash. */
const maxRecoveryMs = 120_000;

/**
 * The maximum number of PostgreSQL restarts within `restartWindowMs` milliseconds. If PostgreSQL exits once more, the
 * server also exits.
 */
const maxRestarts = 3;
const restartWindowMs = 60_000;

/** PostgreSQL's error codes. */
const CANNOT_CONNECT_NOW = '57P03';
const INVALID_PASSWORD = '28P01';
const DUPLICATES = ['42P04', '23505'];

/**
 * Opens the PostgreSQL cluster in a data folder. Creates the cluster if it is missing, starts PostgreSQL if it isn't
 * running, and connects to it.
 *
 * If PostgreSQL exits later, the server restarts it on the same port. If restarts fail repeatedly, an uncaught error
 * ends the process.
 * @throws ClusterError if PostgreSQL can't be opened, or if another server uses the folder
 */
export async function openEmbedded({ dataDir, holder, settings = {} }: EmbeddedOptions): Promise<Embedded> {
  const cluster = await prepareCluster(dataDir, settings);
  let client = await connectOrStart(cluster, holder);
  const stopping = new AbortController();
  let reconnecting: Promise<void> | undefined;
  let stopped: Promise<void> | undefined;

  // If a PostgreSQL process crashes, PostgreSQL closes all connections and releases this holder's locks.
  const watch = () => {
    client.once('end', () => {
      reconnecting = reconnect();
    });
  };
  const restart = createRestart(cluster, holder, client.port);
  const reconnect = async () => {
    for (let tries = 0; !stopping.signal.aborted; tries++) {
      const port = await restart();
      try {
        if (port !== undefined) {
          client = await connect(cluster, holder, port);
          watch();
          return;
        }
      } catch {
        // PostgreSQL is still recovering, so the loop retries.
      }
      await sleep(backoffMs(tries), undefined, { ref: false, signal: stopping.signal }).catch(() => undefined);
    }
  };
  watch();

  const stop = async () => {
    stopping.abort();
    // Ignores the error of a failed reconnection. This error is also an uncaught error, which already ends the process.
    await reconnecting?.catch(() => undefined);
    await leave(cluster, client);
  };
  return {
    url: buildUrl(cluster, client.port, 'itsm'),
    // The origin is optional, so a command continues even if the query for the origin fails.
    origin: holder.type === 'command' ? await findOrigin(client).catch(() => undefined) : undefined,
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

/**
 * Returns a function that restarts PostgreSQL if PostgreSQL isn't running. In a command, the function never does this.
 * It resolves to PostgreSQL's port, or to undefined if the caller should retry.
 * @throws ClusterError after `maxRestarts` restarts within `restartWindowMs`
 */
function createRestart(cluster: Cluster, holder: Holder, port: number): () => Promise<number | undefined> {
  let restarts: number[] = [];
  let failure: Error | undefined;
  return async () => {
    const running = await runningPort(cluster);
    if (holder.type === 'command' || running === port) return running;
    if (running !== undefined) {
      throw new ClusterError(`PostgreSQL in ${cluster.name} was started on another port. Restart the API server.`);
    }
    restarts = restarts.filter((at) => performance.now() - at < restartWindowMs);
    if (restarts.length === maxRestarts) {
      const log = path.join(cluster.name, 'postgres.log');
      throw (
        failure ??
        new ClusterError(
          `PostgreSQL in ${cluster.name} exits repeatedly. See its log ${log}, and start the server again.`,
        )
      );
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

/** Connects to PostgreSQL. If PostgreSQL isn't running, starts it first. */
async function connectOrStart(cluster: Cluster, holder: Holder): Promise<pg.Client> {
  const startedAt = Date.now();
  for (;;) {
    let failure: unknown = new Error('it is starting');
    const port = await runningPort(cluster);
    try {
      if (port !== undefined) return await connect(cluster, holder, port);
    } catch (error) {
      if (error instanceof ClusterError) throw error;
      failure = error;
    }
    // If no process listens on the port (ECONNREFUSED), the process in postmaster.pid may be another program that now
    // has PostgreSQL's old process id. `startCluster` detects whether PostgreSQL is running.
    const absent = port === undefined || errorCode(failure) === 'ECONNREFUSED';
    if (absent && (await startCluster(cluster))) continue;
    const maxWaitMs = errorCode(failure) === CANNOT_CONNECT_NOW ? maxRecoveryMs : maxStartMs;
    if (Date.now() - startedAt > maxWaitMs) {
      const log = path.join(cluster.name, 'postgres.log');
      const reason = failure instanceof Error ? failure.message : String(failure);
      throw new ClusterError(`PostgreSQL in ${cluster.name} can't be used: ${reason}. See ${log}.`, { cause: failure });
    }
    await sleep(50);
  }
}

/**
 * Connects to PostgreSQL and acquires the holder's locks.
 * @throws ClusterError for permanent errors, or another error if the caller should retry
 */
async function connect(cluster: Cluster, holder: Holder, port: number): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: buildUrl(cluster, port, 'postgres'),
    application_name: toApplicationName(holder),
    connectionTimeoutMillis: 5000,
    keepAlive: true,
  });
  // Without a listener, a connection error would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    if (errorCode(error) !== INVALID_PASSWORD) throw error;
    const file = path.join(cluster.name, 'postgres-password');
    throw new ClusterError(`PostgreSQL rejects the password in ${file}. Restore the original file.`);
  }
  try {
    if (holder.type === 'server' && !(await tryLock(client, 'pg_try_advisory_lock', SERVER))) {
      throw await serverInUse(client, cluster);
    }
    if (!(await tryLock(client, 'pg_try_advisory_lock_shared', EVERYONE))) throw new Error('it is being stopped');
    await createDatabase(client);
    return client;
  } catch (error) {
    await leave(cluster, client);
    throw error;
  }
}

/** Releases the holder's locks. If no other process uses PostgreSQL, stops it. */
async function leave(cluster: Cluster, client: pg.Client): Promise<void> {
  try {
    await client.query(`SELECT pg_advisory_unlock_shared(${EVERYONE})`);
    // Another process that connects now can't acquire its lock on EVERYONE. That process waits until PostgreSQL has
    // stopped, and then starts it again.
    if (await tryLock(client, 'pg_try_advisory_lock', EVERYONE)) await stopCluster(cluster);
  } catch (error) {
    // If the connection is lost, PostgreSQL has already released the locks, so the error is ignored.
    if (error instanceof ClusterError) throw error;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function tryLock(client: pg.Client, how: string, lock: string): Promise<boolean> {
  const { rows } = await client.query<{ acquired: boolean }>(`SELECT ${how}(${lock}) AS acquired`);
  return rows[0]?.acquired === true;
}

/**
 * Returns the process id and the address of the server that uses the folder. The server's `application_name` contains
 * both values.
 */
async function findServer(client: pg.Client): Promise<{ pid?: string | undefined; address?: string | undefined }> {
  const { rows } = await client.query<{ application_name: string }>(
    `SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'advisory' AND granted AND (classid, objid) = (${SERVER}) AND objsubid = 2`,
  );
  const [, pid, address] = rows[0]?.application_name.split(' ') ?? [];
  return { pid, address };
}

/**
 * Returns the origin of the server that uses the folder. Returns undefined if no server uses it, or if the server has
 * no public port.
 */
async function findOrigin(client: pg.Client): Promise<string | undefined> {
  const { address = '' } = await findServer(client);
  return URL.canParse(address) ? address : undefined;
}

/**
 * Returns the error for a folder that another server uses. If the server's process is alive, the error is permanent
 * (`ClusterError`).
 */
async function serverInUse(client: pg.Client, { name }: Cluster): Promise<Error> {
  const { pid = 'unknown', address = 'unknown' } = await findServer(client);
  const message = `DATA_DIR ${name} is in use by process ${pid} (${address}). Stop it, or set DATA_DIR to another folder.`;
  return isAlive(Number(pid)) ? new ClusterError(message) : new Error(message);
}

/** Returns the `application_name` of a holder. PostgreSQL limits this name to 63 bytes. */
function toApplicationName(holder: Holder): string {
  return `itsm ${process.pid} ${holder.type === 'server' ? holder.address : 'command'}`.slice(0, 63);
}

async function createDatabase(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query("SELECT FROM pg_database WHERE datname = 'itsm'");
  if (rowCount === 1) return;
  await client.query('CREATE DATABASE itsm').catch((error: unknown) => {
    // Ignores the error if another process has created the database in the meantime.
    if (!DUPLICATES.includes(errorCode(error) ?? '')) throw error;
  });
}

function buildUrl({ password }: Cluster, port: number, database: string): string {
  return `postgresql://postgres:${password}@127.0.0.1:${port}/${database}`;
}
