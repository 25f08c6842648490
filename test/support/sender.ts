import { createLogger } from '@itsm-api/server/http/logging/logger.ts';
import { toTenantId } from '@itsm-api/server/shared/tenant-id.ts';
import { startWebhooks, type WebhooksOptions } from '@itsm-api/server/webhooks/start-webhooks.ts';
import type { Logger } from 'pino';
import { expect, vi } from 'vitest';
import type { Prisma } from '../../server/generated/prisma/client.ts';
import { type Api, startApi } from './api.ts';
import { cloneDatabase, execute } from './database.ts';
import { createWorkspace, type Workspace } from './workspace.ts';

/** A delivery with its attempts, oldest first. */
type SentDelivery = Prisma.DeliveryGetPayload<{ include: { history: true } }>;

/** An API with its own database and workers. Tests can move the stored times back to simulate elapsed time. */
export interface Sender {
  api: Api;
  workspace: Workspace;
  /** Starts a worker. Options can replace its clock, its logger and its maximum number of pending deliveries. */
  startWorker(options?: { now?: () => Date; logger?: Logger; maxPendingDeliveries?: number }): Promise<void>;
  /** Stops the workers after all attempts in progress have ended. */
  stopWorkers(): Promise<void>;
  /** Simulates elapsed time: moves the stored times of subscriptions, events and deliveries back. */
  age(milliseconds: number): Promise<void>;
  /**
   * Moves the stored times back, adds a dispatch job for every subscription, and waits until the workers have processed
   * the jobs.
   */
  advance(milliseconds: number): Promise<void>;
  /**
   * Waits until no attempt is in progress. Returns the deliveries of the subscription, in the order of their events.
   */
  settled(subscriptionId: number): Promise<SentDelivery[]>;
  /** Returns a subscription in the format of GET /webhooks. */
  health(subscriptionId: number, owner?: Workspace): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

interface SenderOptions {
  /** Whether the server allows private targets. True by default, because test receivers use loopback addresses. */
  allowPrivateTargets?: boolean;
  connection?: WebhooksOptions['connection'];
  /** Additional environment variables of the server. */
  env?: Record<string, string>;
}

export async function startSender(options: SenderOptions = {}): Promise<Sender> {
  const { allowPrivateTargets = true, connection, env } = options;
  const database = await cloneDatabase();
  const api = await startApi({
    databaseUrl: database.url,
    env: { WEBHOOK_ALLOW_PRIVATE_TARGETS: String(allowPrivateTargets), ...env },
  });
  const { prisma, services } = api;
  const workspace = await createWorkspace(api);
  const stops: (() => Promise<void>)[] = [];
  const age = (milliseconds: number) => execute(database.url, agedBy(milliseconds));
  const stopWorkers = async () => {
    await Promise.all(stops.splice(0).map((stop) => stop()));
  };

  return {
    api,
    workspace,
    async startWorker({ now = services.now, logger = createLogger('error'), maxPendingDeliveries } = {}) {
      const workerOptions = { ...api, services: { ...services, now }, logger, maxPendingDeliveries };
      stops.push(await startWebhooks({ ...workerOptions, ...(connection && { connection }) }));
    },
    stopWorkers,
    age,
    async advance(milliseconds) {
      await age(milliseconds);
      const subscriptions = await prisma.webhookSubscription.findMany({ select: { tenantId: true, id: true } });
      await services.dispatchJobs.add(
        subscriptions.map(({ tenantId, id }) => ({ tenantId: toTenantId(tenantId), subscriptionId: id })),
      );
      services.wakeWorkers();
      // A worker deletes a job only after it has claimed the due deliveries of the job's subscription.
      await eventually(async () => {
        const [jobs] = await prisma.$queryRaw<[{ count: bigint }]>`
          SELECT count(*) FROM pgboss.job WHERE name = 'webhook-dispatch'`;
        expect(jobs.count).toBe(0n);
      });
    },
    settled: (subscriptionId) =>
      eventually(async () => {
        const query = {
          where: { subscriptionId },
          include: { history: { orderBy: { id: 'asc' } } },
          orderBy: { id: 'asc' },
        } as const;
        // Prisma loads the attempts with a second SQL statement. The transaction gives both statements the same
        // snapshot.
        const deliveries = await api.owner.prisma.$transaction((tx) => tx.delivery.findMany(query), {
          isolationLevel: 'RepeatableRead',
        });
        expect(deliveries.filter(({ state, claim }) => state === 'PENDING' && claim !== null)).toEqual([]);
        return deliveries;
      }),
    async health(subscriptionId, owner = workspace) {
      const { body } = await owner.call('GET', '/webhooks?perPage=100');
      return body.data.find(({ id }: { id: number }) => id === subscriptionId);
    },
    async close() {
      await stopWorkers();
      await api.close();
      await database.drop();
    },
  };
}

/** The timestamp columns that `age` moves back, by table. */
const moments = {
  webhook_subscriptions: [
    'last_success_at',
    'last_failure_at',
    'failing_since',
    'open_until',
    'paused_at',
    'quota_reached_at',
    'created_at',
    'updated_at',
  ],
  events: ['created_at'],
  deliveries: ['next_attempt_at', 'created_at', 'settled_at'],
  delivery_attempts: ['started_at'],
};

function agedBy(milliseconds: number): string {
  const updates = Object.entries(moments).map(([table, columns]) => {
    const aged = columns.map((column) => `${column} = ${column} - interval '${milliseconds} milliseconds'`);
    return `UPDATE ${table} SET ${aged.join(', ')}`;
  });
  const trials = `SELECT began - interval '${milliseconds} milliseconds' FROM unnest(trial_attempts) AS began`;
  return [...updates, `UPDATE webhook_subscriptions SET trial_attempts = ARRAY(${trials})`].join(';');
}

/**
 * Waits until `check` succeeds, and then returns the result of `check`. The default timeout allows for slow machines.
 */
export function eventually<Result>(check: () => Result | Promise<Result>, timeout = 60_000): Promise<Result> {
  return vi.waitFor(check, { timeout, interval: 20 });
}
