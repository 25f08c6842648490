import type { Job, PgBoss } from 'pg-boss';
import type { PrismaClient } from '../../database/client/prisma.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { jobsWithin } from '../../database/jobs/job-queue.ts';
import type { Queue } from '../../database/jobs/job-schema.ts';
import { tenantIdToJson, toTenantId } from '../../shared/tenant-id.ts';
import { refKey, type SubscriptionRef } from '../subscription-ref.ts';

/** A subscription as JSON carries it. */
interface JobData {
  tenantId: string;
  subscriptionId: string;
}

/**
 * The jobs that tell workers which subscriptions have something due (docs/decisions/webhook-deliveries.md). A
 * subscription has at most one job waiting, however much is due to it.
 */
export interface DispatchJobs {
  /** Puts jobs in, in the transaction of `db`; a subscription that waits already is left as it is. */
  addWithin(db: TenantClient, subscriptions: SubscriptionRef[]): Promise<void>;
  add(subscriptions: SubscriptionRef[]): Promise<void>;
  /** Takes waiting jobs out; they are to be removed when their subscriptions have been looked at. */
  take(count: number): Promise<{ subscription: SubscriptionRef; job: Job<JobData> }[]>;
  remove(jobs: Job<JobData>[]): Promise<void>;
}

/**
 * `short`: one job may wait per key, while others of the same key are being worked on. A job that was taken and not
 * removed, because its worker is gone, counts as failed after a minute.
 */
export const dispatchQueue: Queue = {
  name: 'webhook-dispatch',
  policy: 'short',
  options: { expireInSeconds: 60, retryLimit: 0, deleteAfterSeconds: 60 },
};
const queue = dispatchQueue.name;

/**
 * One job per subscription with something due, never one per delivery: 100,000 deliveries that wait for a dead endpoint
 * are one job. What is to be sent is in our own tables, so a job that is lost costs a sweep, not a delivery.
 * @param openBoss is asked each time, and has opened it the first time
 */
export function openDispatchJobs(openBoss: () => Promise<PgBoss>): DispatchJobs {
  return {
    addWithin: async (db, subscriptions) => {
      // In one order: transactions that add jobs of the same subscriptions wait for each other.
      const inOrder = subscriptions.toSorted((a, b) => Number(a.subscriptionId - b.subscriptionId));
      const boss = await openBoss();
      await boss.insert(queue, inOrder.map(jobOf), { db: jobsWithin(db) });
    },
    add: async (subscriptions) => {
      if (subscriptions.length > 0) await (await openBoss()).insert(queue, subscriptions.map(jobOf));
    },
    take: async (count) => {
      const jobs = await (await openBoss()).fetch<JobData>(queue, { batchSize: count });
      return jobs.map((job) => ({ subscription: refOf(job.data), job }));
    },
    remove: async (jobs) => {
      if (jobs.length === 0) return;
      const ids = jobs.map(({ id }) => id);
      await (await openBoss()).deleteJob(queue, ids);
    },
  };
}

function jobOf(subscription: SubscriptionRef): { singletonKey: string; data: JobData } {
  const { tenantId, subscriptionId } = subscription;
  const data = { tenantId: tenantIdToJson(tenantId), subscriptionId: String(subscriptionId) };
  return { singletonKey: refKey(subscription), data };
}

function refOf({ tenantId, subscriptionId }: JobData): SubscriptionRef {
  return { tenantId: toTenantId(tenantId), subscriptionId: BigInt(subscriptionId) };
}

/** The channel on which workers are woken. */
export const wakeChannel = 'webhook_dispatch';

/** Wakes the workers of every process. */
export interface Waker {
  wake(): void;
  /** Sends the wake-up that is still pending, and waits for the last one to end. Nothing is sent after that. */
  close(): Promise<void>;
}

/**
 * Wakes at most once in `gatherFor` milliseconds, however often it is called. Outside of the transactions that have
 * something to deliver: notifying within them would have all of them commit one by one.
 */
export function createWaker(prisma: PrismaClient, gatherFor = 10): Waker {
  let pending: NodeJS.Timeout | undefined;
  let sending: Promise<unknown> | undefined;
  let closed = false;
  const send = () => {
    pending = undefined;
    // A wake-up that is lost costs the time to the worker's next poll.
    sending = prisma.$executeRaw`SELECT pg_notify(${wakeChannel}, '')`.catch(() => undefined);
  };
  return {
    wake() {
      if (!closed) pending ??= setTimeout(send, gatherFor);
    },
    async close() {
      closed = true;
      clearTimeout(pending);
      if (pending !== undefined) send();
      await sending;
    },
  };
}
