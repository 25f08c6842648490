import type { Job, PgBoss } from 'pg-boss';
import type { Queue } from '../database/job-schema.ts';
import { jobsWithin } from '../database/jobs.ts';
import type { PrismaClient } from '../database/prisma.ts';
import type { TenantClient } from '../database/tenant-client.ts';

/** Where deliveries wait for one subscription. A lane has at most one job waiting, however much is due in it. */
export interface Lane {
  tenantId: bigint;
  subscriptionId: bigint;
}

/** A lane as JSON carries it, and its name. */
interface LaneData {
  tenantId: string;
  subscriptionId: string;
}

/** The jobs that tell workers which lanes have something due (docs/decisions/webhook-deliveries.md). */
export interface LaneJobs {
  /** Puts lanes in, in the transaction of `db`; a lane that waits already is left as it is. */
  addWithin(db: TenantClient, lanes: Lane[]): Promise<void>;
  add(lanes: Lane[]): Promise<void>;
  /** Takes waiting lanes out; their jobs are to be removed when they have been looked at. */
  take(count: number): Promise<{ lane: Lane; job: Job<LaneData> }[]>;
  remove(jobs: Job<LaneData>[]): Promise<void>;
}

/**
 * `short`: one job may wait per key, while others of the same key are being worked on. A job that was taken and not
 * removed, because its worker is gone, counts as failed after a minute.
 */
export const laneQueue: Queue = {
  name: 'webhook-lanes',
  policy: 'short',
  options: { expireInSeconds: 60, retryLimit: 0, deleteAfterSeconds: 60 },
};
const queue = laneQueue.name;

/**
 * One job per lane with something due, never one per delivery: 100,000 deliveries that wait for a dead endpoint are
 * one job. What is to be sent is in our own tables, so a job that is lost costs a sweep, not a delivery.
 */
export function openLaneJobs(boss: PgBoss): LaneJobs {
  return {
    addWithin: async (db, lanes) => {
      await boss.insert(queue, lanes.map(jobOf), { db: jobsWithin(db) });
    },
    add: async (lanes) => {
      if (lanes.length > 0) await boss.insert(queue, lanes.map(jobOf));
    },
    take: async (count) => {
      const jobs = await boss.fetch<LaneData>(queue, { batchSize: count });
      return jobs.map((job) => ({ lane: laneOf(job.data), job }));
    },
    remove: async (jobs) => {
      if (jobs.length > 0)
        await boss.deleteJob(
          queue,
          jobs.map(({ id }) => id),
        );
    },
  };
}

/** The name of a lane, the same in every process. */
export function laneKey({ tenantId, subscriptionId }: Lane): string {
  return `${tenantId}:${subscriptionId}`;
}

function jobOf(lane: Lane): { singletonKey: string; data: LaneData } {
  const data = { tenantId: String(lane.tenantId), subscriptionId: String(lane.subscriptionId) };
  return { singletonKey: laneKey(lane), data };
}

function laneOf({ tenantId, subscriptionId }: LaneData): Lane {
  return { tenantId: BigInt(tenantId), subscriptionId: BigInt(subscriptionId) };
}

/** The channel on which workers are woken. */
export const wakeChannel = 'webhook_lanes';

/**
 * Wakes the workers of every process, at most once in `gatherFor` milliseconds however often it is called. Outside of
 * the transactions that have something to deliver: notifying within them would have all of them commit one by one.
 */
export function createWaker(prisma: PrismaClient, gatherFor = 10): () => void {
  let gathering = false;
  return () => {
    if (gathering) return;
    gathering = true;
    setTimeout(() => {
      gathering = false;
      // A wake-up that is lost costs the time to the worker's next poll.
      prisma.$executeRaw`SELECT pg_notify(${wakeChannel}, '')`.catch(() => undefined);
    }, gatherFor);
  };
}
