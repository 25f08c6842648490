import type { Clock, Db, PgBoss } from 'pg-boss';
import type { Pool } from '../client/pool.ts';
import { queryInTransaction } from '../client/transaction.ts';

export interface JobsOptions {
  /** The pool with the system role. */
  pool: Pool;
  /** Whether this process also maintains the queues and runs scheduled jobs. */
  worker: boolean;
  onError: (error: Error) => void;
}

/** The error of a failed scheduled job. */
export class JobFailed extends Error {
  override name = 'JobFailed';
}

/**
 * Opens pg-boss. pg-boss stores jobs in the schema `pgboss` of the application's database. job-schema.ts migrates this
 * schema.
 */
export async function openJobs({ pool, worker, onError }: JobsOptions): Promise<PgBoss> {
  // Loads pg-boss on demand, because it loads slowly and commands that add no jobs don't need it.
  const { PgBoss, systemClock } = await import('pg-boss');
  const boss = new PgBoss({
    db: { executeSql: (text, values) => pool.query(text, values) },
    clock: withLimitedTimers(systemClock),
    supervise: worker,
    schedule: worker,
    migrate: false,
  });
  boss.on('error', onError);
  await boss.start();
  return boss;
}

/** Maximum duration of a Node.js timer in milliseconds. A timer with a longer duration fires after 1 ms. */
const maxTimerMs = 2 ** 31 - 1;

/**
 * Returns a clock that limits timers to `maxTimerMs`. If the system clock jumps back by weeks, the limit prevents an
 * endless loop of timers in pg-boss.
 */
function withLimitedTimers(clock: Clock): Clock {
  return { ...clock, setTimeout: (run, ms) => clock.setTimeout(run, Math.min(ms, maxTimerMs)) };
}

/** Lets pg-boss write in the current transaction. A job is created only if the transaction commits. */
export const jobsInTransaction: Db = { executeSql: queryInTransaction };

/** Runs a job at the times in `cron` (UTC). Only one worker runs the job, from the queue with its name. */
export async function scheduleJob(
  boss: PgBoss,
  { name, cron, run }: { name: string; cron: string; run: () => Promise<unknown> },
): Promise<void> {
  await boss.work(name, async () => {
    await run().catch((error: Error) => {
      // Emits the error for the log. pg-boss itself only stores the error in the job's row.
      boss.emit('error', new JobFailed(`The job ${name} failed: ${error.message}`, { cause: error }));
      throw error;
    });
  });
  await boss.schedule(name, cron);
}
