import type { Job, PgBoss } from 'pg-boss';
import type { SystemClient } from '../../database/client/prisma.ts';
import { sql } from '../../database/client/sql.ts';
import { allTenants, type None } from '../../database/client/statements.ts';
import { jobsInTransaction } from '../../database/jobs/job-queue.ts';
import type { Queue } from '../../database/jobs/job-schema.ts';
import { tenantIdToJson, toTenantId } from '../../shared/tenant-id.ts';
import { refKey, type SubscriptionRef } from '../subscription-ref.ts';

/** The JSON data of a dispatch job. It identifies a subscription. */
interface JobData {
  tenantId: string;
  subscriptionId: string;
}

/**
 * The queue of jobs for subscriptions that have due deliveries (docs/decisions/webhook-deliveries.md). Workers take
 * jobs from the queue. A subscription has at most one waiting job.
 */
export interface DispatchJobs {
  /** Adds jobs in the current transaction. Skips subscriptions that already have a waiting job. */
  addWithin(subscriptions: SubscriptionRef[]): Promise<void>;
  add(subscriptions: SubscriptionRef[]): Promise<void>;
  /** Takes waiting jobs. The caller must claim deliveries of the jobs' subscriptions and then remove the jobs. */
  take(count: number): Promise<{ subscription: SubscriptionRef; job: Job<JobData> }[]>;
  remove(jobs: Job<JobData>[]): Promise<void>;
}

/**
 * The queue of dispatch jobs. The policy `short` allows one waiting job per key, even while workers process other jobs
 * with that key. If a worker stops and doesn't remove its jobs, they expire after 60 seconds.
 */
export const dispatchQueue: Queue = {
  name: 'webhook-dispatch',
  policy: 'short',
  options: { expireInSeconds: 60, retryLimit: 0, deleteAfterSeconds: 60 },
};
const queue = dispatchQueue.name;

/**
 * Opens the queue. A job represents a subscription, not a delivery, so 100,000 pending deliveries to a failing endpoint
 * need only one job. The table `deliveries` contains the deliveries themselves. If a job is lost, the next sweep of a
 * worker finds the due deliveries of its subscription.
 * @param openBoss called for each operation; opens pg-boss on the first call
 */
export function openDispatchJobs(openBoss: () => Promise<PgBoss>): DispatchJobs {
  return {
    addWithin: async (subscriptions) => {
      // Sorts the jobs, because two transactions could deadlock if they add jobs for the same subscriptions in
      // different orders.
      const inOrder = subscriptions.toSorted((a, b) => Number(a.subscriptionId - b.subscriptionId));
      const boss = await openBoss();
      await boss.insert(queue, inOrder.map(toJob), { db: jobsInTransaction });
    },
    add: async (subscriptions) => {
      if (subscriptions.length > 0) await (await openBoss()).insert(queue, subscriptions.map(toJob));
    },
    take: async (count) => {
      const jobs = await (await openBoss()).fetch<JobData>(queue, { batchSize: count });
      return jobs.map((job) => ({ subscription: toRef(job.data), job }));
    },
    remove: async (jobs) => {
      if (jobs.length === 0) return;
      const ids = jobs.map(({ id }) => id);
      await (await openBoss()).deleteJob(queue, ids);
    },
  };
}

function toJob(subscription: SubscriptionRef): { singletonKey: string; data: JobData } {
  const { tenantId, subscriptionId } = subscription;
  const data = { tenantId: tenantIdToJson(tenantId), subscriptionId: String(subscriptionId) };
  return { singletonKey: refKey(subscription), data };
}

function toRef({ tenantId, subscriptionId }: JobData): SubscriptionRef {
  return { tenantId: toTenantId(tenantId), subscriptionId: BigInt(subscriptionId) };
}

/** The PostgreSQL notification channel that wakes workers. */
export const wakeChannel = 'webhook_dispatch';

const notify = allTenants.rows<None, object>(() => sql`SELECT pg_notify(${wakeChannel}, '')`);

/** Notifies the workers of all processes that there are new jobs. */
export interface Waker {
  wake(): void;
  /**
   * Sends the pending notification, if there is one, and waits until it is sent. After this call, `wake` does nothing.
   */
  close(): Promise<void>;
}

/**
 * Creates a waker that sends at most one notification per `batchWindowMs`. The waker doesn't notify within the
 * transactions that write events, because PostgreSQL serializes the commits of transactions that notify.
 */
export function createWaker(system: SystemClient, batchWindowMs = 10): Waker {
  let pending: NodeJS.Timeout | undefined;
  let sending: Promise<unknown> | undefined;
  let closed = false;
  const send = () => {
    pending = undefined;
    // If a notification is lost, the worker finds the deliveries at its next poll.
    sending = system.$sql(notify).catch(() => undefined);
  };
  return {
    wake() {
      if (!closed) pending ??= setTimeout(send, batchWindowMs);
    },
    async close() {
      closed = true;
      clearTimeout(pending);
      if (pending !== undefined) send();
      await sending;
    },
  };
}
