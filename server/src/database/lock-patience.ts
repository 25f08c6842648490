import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { codeOf } from '../error-code.ts';

/*
 * A migration that waits for a lock has everybody wait who comes after it, for as long as the oldest transaction lasts.
 * So it waits for a moment only, goes back, and tries again.
 */

/** How long one statement waits for a lock, and how long a migration is tried. Milliseconds. */
const lockTimeout = 1000;
const patience = 600_000;

/** Codes of PostgreSQL: a lock that wasn't to be had in time, and two transactions that waited for each other. */
const LOCKED = ['55P03', '40P01'];

/**
 * Bounds how long what comes next waits for locks.
 * @param statement where it may be one that works CONCURRENTLY: it waits for others, and nobody waits for it
 */
export async function boundLocks(client: pg.ClientBase, statement = ''): Promise<void> {
  await client.query(`SET lock_timeout = ${/\bCONCURRENTLY\b/i.test(statement) ? 0 : lockTimeout}`);
}

/** Whether others hold what it wanted. */
export function isLocked(error: unknown): boolean {
  return LOCKED.includes(codeOf(error) ?? '');
}

/** Tries again while others hold what it wants; after ten minutes it throws what it threw last. */
export async function whileLocked<Result>(work: () => Promise<Result>): Promise<Result> {
  for (const deadline = Date.now() + patience; ; await sleep(500 + 1000 * Math.random())) {
    try {
      return await work();
    } catch (error) {
      if (!isLocked(error) || Date.now() > deadline) throw error;
    }
  }
}
