import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { codeOf } from '../error-code.ts';
import { BlockerWatch } from './blocker-watch.ts';
import { describe, ending, type Session } from './sessions.ts';

/*
 * A migration that waits for a lock has everybody wait who comes after it, for as long as the oldest transaction lasts.
 * So it waits for a moment only, goes back, lets pass who has waited, and tries again.
 */

/** What happens meanwhile, for people who wait. */
export type Progress = (message: string) => void;

/**
 * How long one statement waits for a lock, in milliseconds. A request that comes behind it waits as long and hardly
 * notices. Less than `deadlock_timeout` (one second by default): of two who wait for each other it is the migration
 * that goes back, before PostgreSQL picks one.
 */
const lockTimeout = 200;

/** The pause after a first failure, and the longest. Both several times as long as others have waited. Milliseconds. */
const shortestPause = 1000;
const longestPause = 10_000;

/** For how long it is tried after the first failure, unless told otherwise. Milliseconds. */
export const defaultPatience = 600_000;

/** How often it is said who is waited for. Milliseconds. */
export const sayEveryMs = 60_000;

/** Codes of PostgreSQL: a lock that wasn't to be had in time, and two transactions that waited for each other. */
const LOCKED = ['55P03', '40P01'];

/** Whether others hold what it wanted. */
export function isLocked(error: unknown): boolean {
  return LOCKED.includes(codeOf(error) ?? '');
}

/**
 * Tries again while others hold what it wants, after pauses that grow.
 * @param onLocked told of each time that they did
 * @throws what it threw last, when it has been tried for so long since the first failure
 */
export async function whileLocked<Result>(
  work: () => Promise<Result>,
  { patienceMs = defaultPatience, onLocked = () => {} }: { patienceMs?: number; onLocked?: () => void } = {},
): Promise<Result> {
  let deadline: number | undefined;
  for (let pause = shortestPause; ; pause = Math.min(1.5 * pause, longestPause)) {
    try {
      return await work();
    } catch (error) {
      if (!isLocked(error)) throw error;
      deadline ??= performance.now() + patienceMs;
      if (performance.now() > deadline) throw error;
    }
    onLocked();
    // By chance, so that what comes at regular times isn't met each time.
    await sleep(pause * (0.75 + Math.random() / 2));
  }
}

interface LockPatienceOptions {
  databaseUrl: string;
  patienceMs?: number | undefined;
  onProgress?: Progress | undefined;
}

/** Runs what takes locks, on one connection, and knows who keeps it waiting. */
export class LockPatience {
  readonly #client: pg.ClientBase;
  readonly #patienceMs: number;
  readonly #onProgress: Progress | undefined;
  readonly #watch: BlockerWatch;
  /** Workers of autovacuum that were waited for until PostgreSQL ended them. */
  readonly #outwaited = new Set<number>();
  #said = Number.NEGATIVE_INFINITY;

  private constructor(client: pg.ClientBase, pid: number, options: LockPatienceOptions) {
    this.#client = client;
    this.#patienceMs = options.patienceMs ?? defaultPatience;
    this.#onProgress = options.onProgress;
    this.#watch = new BlockerWatch(options.databaseUrl, pid, (blockers) => this.#say(blockers));
  }

  static async open(client: pg.ClientBase, options: LockPatienceOptions): Promise<LockPatience> {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    return new LockPatience(client, rows[0]?.pid as number, options);
  }

  /**
   * Does the work, again and again until it has its locks.
   * @param waitsAlone whether nobody waits behind it, as behind what is done CONCURRENTLY: then it waits without bound
   * @throws what the work throws; when its patience ends, LockedError
   */
  async run<Result>(work: () => Promise<Result>, { waitsAlone = false } = {}): Promise<Result> {
    let blockers: Session[] = [];
    const attempt = async () => {
      await this.#client.query(`SET lock_timeout = ${waitsAlone ? 0 : await this.#lockTimeoutFor(blockers)}`);
      try {
        return await this.#watch.during(work);
      } finally {
        blockers = this.#watch.seen;
      }
    };
    try {
      return await whileLocked(attempt, { patienceMs: this.#patienceMs, onLocked: () => this.#say(blockers) });
    } catch (error) {
      throw isLocked(error) ? new LockedError(blockers, this.#patienceMs, { cause: error }) : error;
    }
  }

  close(): void {
    this.#watch.close();
  }

  /**
   * PostgreSQL ends autovacuum for whoever has waited for it for `deadlock_timeout`: so one that stands in the way is
   * waited for that long, once. One that guards against wraparound is never ended.
   */
  async #lockTimeoutFor(blockers: Session[]): Promise<number> {
    const vacuums = blockers.filter(({ pid, isAutovacuum }) => isAutovacuum && !this.#outwaited.has(pid));
    if (vacuums.length === 0) return lockTimeout;
    for (const { pid } of vacuums) this.#outwaited.add(pid);
    const { rows } = await this.#client.query<{ ms: number }>(
      "SELECT setting::int AS ms FROM pg_settings WHERE name = 'deadlock_timeout'",
    );
    return lockTimeout + (rows[0]?.ms ?? 0);
  }

  #say(blockers: Session[]): void {
    if (blockers.length === 0 || performance.now() < this.#said + sayEveryMs) return;
    this.#said = performance.now();
    this.#onProgress?.(`Waiting for ${blockers.map(describe).join(' and ')} …`);
  }
}

/** Others held for too long what was wanted. The message says who, and what to do. */
class LockedError extends Error {
  override name = 'LockedError';

  constructor(blockers: Session[], patienceMs: number, options: ErrorOptions) {
    const time = `${Math.round(patienceMs / 1000)} seconds`;
    super(
      blockers.length === 0
        ? `what it has to lock was in use for ${time}. See in pg_stat_activity who uses it, and migrate again`
        : `what it has to lock was in use for ${time}, at last by ${blockers.map(describe).join(' and ')}. ` +
            `Let that end, or end it (${ending(blockers)}), and migrate again`,
      options,
    );
  }
}
