import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { errorCode, LOCK_NOT_AVAILABLE } from '../../shared/error-codes.ts';

/** Reports migration progress to the administrator. */
export type Progress = (message: string) => void;

/** The two keys of the advisory lock that a session holds while it migrates the database. */
const [first, second] = [1769239405, 3];

const reportEveryMs = 60_000;

/**
 * Acquires the migration lock of the database, so only one process migrates the database at a time. PostgreSQL releases
 * the lock when the connection ends.
 *
 * Polls for the lock, because a statement that waits for the lock holds a snapshot. CREATE INDEX CONCURRENTLY in the
 * other process would wait for this snapshot forever.
 */
export async function acquireMigrationLock(client: pg.ClientBase, onProgress?: Progress): Promise<void> {
  await endWithProcess(client);
  let reportedAt = Number.NEGATIVE_INFINITY;
  for (let pause = 100; ; pause = Math.min(1.2 * pause, 1000)) {
    const { rows } = await client.query<{ acquired: boolean; pid: number | null }>(
      `SELECT pg_try_advisory_lock(${first}, ${second}) AS acquired, (SELECT pid FROM pg_locks
         WHERE locktype = 'advisory' AND classid = ${first} AND objid = ${second} AND granted
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) LIMIT 1) AS pid`,
    );
    if (rows[0]?.acquired === true) return;
    if (performance.now() > reportedAt + reportEveryMs) {
      reportedAt = performance.now();
      onProgress?.(`Another process is migrating this database (pid ${rows[0]?.pid} of PostgreSQL): waiting …`);
    }
    await sleep(pause);
  }
}

/**
 * If the client process exits or the network fails, makes PostgreSQL end the session and release its locks within a
 * minute.
 */
async function endWithProcess(client: pg.ClientBase): Promise<void> {
  const settings = {
    client_connection_check_interval: 1000,
    tcp_keepalives_idle: 20,
    tcp_keepalives_interval: 10,
    tcp_keepalives_count: 3,
    tcp_user_timeout: 50_000,
  };
  for (const [name, value] of Object.entries(settings)) {
    // Ignores errors, because some operating systems don't support all of the settings.
    await client.query(`SET ${name} = ${value}`).catch(() => undefined);
  }
}

const DEADLOCK_DETECTED = '40P01';

/** Default of `RetryOptions.maxWaitMs`. */
const maxWaitMs = 600_000;

/**
 * The short and the long lock timeout of an attempt, in milliseconds. Most attempts use the short timeout, because
 * requests queue behind a statement that waits for a lock. Every fifth attempt waits longer than `deadlock_timeout`.
 * PostgreSQL then cancels an autovacuum that holds the lock.
 */
const [lockTimeoutMs, longLockTimeoutMs] = [200, 1200];

interface RetryOptions {
  /** Maximum number of milliseconds for retries after the first failed attempt. */
  maxWaitMs?: number | undefined;
  onProgress?: Progress | undefined;
}

/**
 * Runs work that needs locks. While other sessions hold the locks, retries the work. Pauses before each retry to let
 * queued requests run.
 * @throws the error of `work`; after the maximum wait, an error that names the oldest transactions
 */
export async function retryWhileLocked<Result>(
  client: pg.ClientBase,
  work: () => Promise<Result>,
  options: RetryOptions = {},
): Promise<Result> {
  let deadline: number | undefined;
  let reportedAt = Number.NEGATIVE_INFINITY;
  for (let attempt = 1, pause = 1000; ; attempt++, pause = Math.min(1.5 * pause, 10_000)) {
    try {
      await client.query(`SET lock_timeout = ${attempt % 5 === 0 ? longLockTimeoutMs : lockTimeoutMs}`);
      return await work();
    } catch (error) {
      if (![LOCK_NOT_AVAILABLE, DEADLOCK_DETECTED].includes(errorCode(error) ?? '')) throw error;
      const now = performance.now();
      deadline ??= now + (options.maxWaitMs ?? maxWaitMs);
      if (now > reportedAt + reportEveryMs || now > deadline) {
        reportedAt = now;
        const held = `another transaction holds a lock. The oldest transactions: ${await describeOldest(client)}`;
        if (now > deadline) throw new Error(`${held}. Wait until they end, or terminate them`, { cause: error });
        options.onProgress?.(`Waiting: ${held}`);
      }
    }
    await sleep(pause * (0.75 + Math.random() / 2));
  }
}

/**
 * Describes the three oldest transactions in the database. One of them probably holds the lock that the migration is
 * waiting for.
 */
async function describeOldest(client: pg.ClientBase): Promise<string> {
  const { rows } = await client.query<{ description: string }>(
    `SELECT format('pid %s ("%s", %s since %s)', pid, application_name, state, xact_start) AS description
     FROM pg_stat_activity WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()
     ORDER BY xact_start LIMIT 3`,
  );
  return rows.map(({ description }) => description).join(', ') || 'none that is open now';
}
