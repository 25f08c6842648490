import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { defaultPatience, type Progress, sayEveryMs } from './lock-patience.ts';
import { MigrationError } from './migrations.ts';
import { describe, ending, findLockHolder, type Session } from './sessions.ts';

/** Held while migrating, by the session that does. */
const [first, second] = [1769239405, 3];

/** How often it is asked for: often at first, since most migrate for a moment. Milliseconds. */
const shortestPause = 100;
const longestPause = 1000;

interface TurnOptions {
  /** Where the other one is. */
  findNext(): Promise<string | undefined>;
  /** How long the other one may do nothing. Milliseconds. */
  patienceMs?: number | undefined;
  onProgress?: Progress | undefined;
}

/**
 * Waits until no other process migrates, and keeps others from it until the connection ends. However long the other one
 * takes: one that is gone loses its connection (`watchPeer`), and with it its turn.
 *
 * Asks again and again instead of waiting in the database: a waiting statement holds a snapshot, and
 * CREATE INDEX CONCURRENTLY in the process that migrates would wait for it for ever.
 * @throws MigrationError when the other one has done nothing for ten minutes
 */
export async function takeTurn(client: pg.ClientBase, options: TurnOptions): Promise<void> {
  const { findNext, patienceMs = defaultPatience, onProgress } = options;
  let said = Number.NEGATIVE_INFINITY;
  for (let pause = shortestPause; ; pause = Math.min(1.2 * pause, longestPause)) {
    const { rows } = await client.query<{ taken: boolean }>(
      `SELECT pg_try_advisory_lock(${first}, ${second}) AS taken`,
    );
    if (rows[0]?.taken === true) return;
    const other = await findLockHolder(client, first, second);
    if (other !== undefined) refuseIdle(other, patienceMs);
    if (other !== undefined && performance.now() > said + sayEveryMs) {
      said = performance.now();
      const next = await findNext();
      const where = next === undefined ? '' : `, ${next} next`;
      onProgress?.(`Another process is migrating this database${where}, as ${describe(other)}: waiting …`);
    }
    await sleep(pause);
  }
}

/** @throws MigrationError */
function refuseIdle(other: Session, patienceMs: number): void {
  if (other.state === null || other.state === 'active' || (other.inStateMs ?? 0) < patienceMs) return;
  const time = `${Math.round(patienceMs / 1000)} seconds`;
  throw new MigrationError(
    `Another process is migrating this database, but has done nothing for ${time}: ${describe(other)}. ` +
      `End that process, or its session (${ending([other])}), and start again.`,
  );
}
