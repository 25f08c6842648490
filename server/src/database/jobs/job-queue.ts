import type { Clock, Db, PgBoss } from 'pg-boss';
import type { Pool } from '../client/pool.ts';
import { connectionsOf, type TenantClient } from '../client/tenant-client.ts';
import type { Queue } from './job-schema.ts';

export interface JobsOptions {
  /** Over all tenants. */
  pool: Pool;
  /** Whether this process also keeps the queues in order and runs what is scheduled. */
  worker: boolean;
  onError: (error: Error) => void;
}

/** A job that is done every night, or every hour, has failed. */
export class JobFailed extends Error {
  override name = 'JobFailed';
}

/** Opens pg-boss, which keeps its jobs in the schema `pgboss` of the same database. It is migrated already (schema.ts). */
export async function openJobs({ pool, worker, onError }: JobsOptions): Promise<PgBoss> {
  // Takes a while to load: a command that puts no jobs in does without.
  const { PgBoss, systemClock } = await import('pg-boss');
  const boss = new PgBoss({
    db: on(pool),
    clock: withLimitedTimers(systemClock),
    supervise: worker,
    schedule: worker,
    migrate: false,
  });
  boss.on('error', onError);
  await boss.start();
  return boss;
}

/** The longest wait of a timer of Node.js: a longer one ends after 1 ms. Milliseconds. */
const maxTimerMs = 2 ** 31 - 1;

/** Returns a clock for which pg-boss, when the clock has jumped back by weeks, doesn't set one timer after the other. */
function withLimitedTimers(clock: Clock): Clock {
  return { ...clock, setTimeout: (run, ms) => clock.setTimeout(run, Math.min(ms, maxTimerMs)) };
}

/** Lets pg-boss write within a transaction of ours: what it puts in is committed with the change, or not at all. */
export function jobsWithin(db: TenantClient): Db {
  return on(connectionsOf(db));
}

function on(pool: Pool): Db {
  return { executeSql: (text, values) => pool.query(text, values) };
}

/** Has the one job of a queue done every night, by one worker of all. */
export function scheduleNightly(boss: PgBoss, queue: Queue, work: () => Promise<unknown>): Promise<void> {
  return schedule(boss, queue, '17 3 * * *', work);
}

/** The same every hour. */
export function scheduleHourly(boss: PgBoss, queue: Queue, work: () => Promise<unknown>): Promise<void> {
  return schedule(boss, queue, '43 * * * *', work);
}

async function schedule(boss: PgBoss, { name }: Queue, cron: string, work: () => Promise<unknown>): Promise<void> {
  await boss.work(name, async () => {
    await work().catch((error: Error) => {
      // pg-boss writes it to the job's row, where nobody looks.
      boss.emit('error', new JobFailed(`The job ${name} failed: ${error.message}`, { cause: error }));
      throw error;
    });
  });
  await boss.schedule(name, cron);
}
