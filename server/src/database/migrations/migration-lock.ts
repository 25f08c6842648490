import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { errorCode, LOCK_NOT_AVAILABLE } from '../../shared/pg-errors.ts';

/** Reports progress to people who wait. */
export type Progress = (message: string) => void;

/** The advisory lock of the session that migrates. */
const [first, second] = [1769239405, 3];

const reportEveryMs = 60_000;

/**
 * Acquires the lock of the database's one migrating process; the end of the connection releases it. Polls: a statement
 * that waited would hold a snapshot, and CREATE INDEX CONCURRENTLY in the other process would wait for it forever.
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

/** Makes PostgreSQL end the session, and release its locks, within a minute after its process or network has gone. */
async function endWithProcess(client: pg.ClientBase): Promise<void> {
  const settings = {
    client_connection_check_interval: 1000,
    tcp_keepalives_idle: 20,
    tcp_keepalives_interval: 10,
    tcp_keepalives_count: 3,
    tcp_user_timeout: 50_000,
  };
  for (const [name, value] of Object.entries(settings)) {
    // Some operating systems lack one.
    await client.query(`SET ${name} = ${value}`).catch(() => undefined);
  }
}

const DEADLOCK_DETECTED = '40P01';

/** How long to retry after the first failure, unless the caller sets another time. */
const maxWaitMs = 600_000;

/**
 * How long one statement waits for a lock. Requests queue behind it, and hardly notice. Every fifth attempt waits for more
 * than `deadlock_timeout`, after which PostgreSQL cancels an autovacuum that holds the lock.
 */
const [lockTimeoutMs, longLockTimeoutMs] = [200, 1200];

interface RetryOptions {
  maxWaitMs?: number | undefined;
  onProgress?: Progress | undefined;
}

/**
 * Does work that needs locks, and repeats it after a pause while other sessions hold them, so that requests that have
 * queued behind it can pass.
 * @throws what the work throws; after the maximum wait, an error that names the oldest transactions
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
        const held = `a lock is held by another transaction. The oldest: ${await describeOldest(client)}`;
        if (now > deadline)
          throw new Error(`${held}. Wait for its end or terminate it, and migrate again`, { cause: error });
        options.onProgress?.(`Waiting: ${held}`);
      }
    }
    await sleep(pause * (0.75 + Math.random() / 2));
  }
}

/** Describes the oldest transactions of the database, for a person who looks for the one that holds a lock. */
async function describeOldest(client: pg.ClientBase): Promise<string> {
  const { rows } = await client.query<{ description: string }>(
    `SELECT format('pid %s ("%s", %s since %s)', pid, application_name, state, xact_start) AS description
     FROM pg_stat_activity WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()
     ORDER BY xact_start LIMIT 3`,
  );
  return rows.map(({ description }) => description).join(', ') || 'none that is open now';
}
