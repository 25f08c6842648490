import type { FastifyBaseLogger } from 'fastify';
import type { Prisma } from '../../../generated/prisma/client.ts';
import type { PrismaClient } from '../../database/client/prisma.ts';
import { notInMaintenanceSql } from '../../database/tenant-maintenance.ts';
import { type TenantId, tenantIdToJson } from '../../shared/tenant-id.ts';

/*
 * Enforces the maximum number of pending deliveries per tenant
 * (docs/decisions/webhook-deliveries.md#limit-of-pending-deliveries). Workers count the deliveries and pause
 * subscriptions. `emit` only reads whether a subscription is paused.
 */

/** How many milliseconds each worker waits between two counts of the pending deliveries. */
export const quotaInterval = 5000;

export interface QuotaOptions {
  prisma: PrismaClient;
  logger: Pick<FastifyBaseLogger, 'warn'>;
  /** The maximum number of pending deliveries per tenant. */
  maxPendingDeliveries: number;
}

/** Counts the pending deliveries of tenants near the limit, and pauses or resumes their subscriptions. */
export async function enforceQuota(options: QuotaOptions): Promise<void> {
  for (const { tenantId } of await findCandidates(options)) await enforceForTenant(options, tenantId);
}

/**
 * Finds the tenants whose pending deliveries the worker must count: tenants with a subscription that the quota has
 * paused, and tenants that may have reached the limit.
 *
 * To find the latter, compares the limit with the difference between the highest and the lowest id of the tenant's
 * pending deliveries, plus one. This number is never smaller than the count, but needs only two index lookups.
 */
function findCandidates({ prisma, maxPendingDeliveries }: QuotaOptions): Promise<{ tenantId: TenantId }[]> {
  return prisma.$queryRaw`
    SELECT s.tenant_id AS "tenantId" FROM webhook_subscriptions s JOIN tenants t ON t.id = s.tenant_id AND ${notInMaintenanceSql}
    GROUP BY s.tenant_id
    HAVING bool_or(s.quota_reached_at IS NOT NULL) OR (
      SELECT max(id) - min(id) + 1 FROM deliveries d WHERE d.tenant_id = s.tenant_id AND d.state = 'PENDING'
    ) >= ${maxPendingDeliveries}::int`;
}

interface Subscription {
  id: bigint;
  active: boolean;
  quotaReachedAt: Date | null;
  quotaPending: number | null;
  /** Whether transactions that began before the pause can still add deliveries. */
  isSettling: boolean | null;
  pending: number;
}

function enforceForTenant(options: QuotaOptions, tenantId: TenantId): Promise<void> {
  const { prisma, maxPendingDeliveries } = options;
  return prisma.$transaction(
    async (tx) => {
      if (!(await tryLock(tx, tenantId))) return;
      const subscriptions = await countPending(tx, tenantId);
      const pending = subscriptions.reduce((sum, each) => sum + each.pending, 0);
      const paused = subscriptions.filter(({ quotaReachedAt }) => quotaReachedAt !== null);
      const latest = paused.toSorted((a, b) => Number(b.quotaReachedAt) - Number(a.quotaReachedAt))[0];

      if (pending < maxPendingDeliveries / 2) {
        if (latest !== undefined) await resumeAll(tx, options, { tenantId, pending });
      } else if (pending >= maxPendingDeliveries && latest?.isSettling !== true) {
        // Transactions that began before the pause can still add deliveries. Therefore, the baseline is the count after
        // these transactions. Another subscription is paused only if the count exceeds the baseline.
        if (latest?.quotaPending === null) await storeBaseline(tx, { tenantId, id: latest.id, pending });
        else if (latest === undefined || pending > latest.quotaPending) {
          const growing = subscriptions.filter(({ active, quotaReachedAt }) => active && quotaReachedAt === null);
          const [largest] = growing.toSorted((a, b) => b.pending - a.pending);
          if (largest !== undefined) await pause(tx, options, { tenantId, id: largest.id, pending });
        }
      }
    },
    // Counting many millions of rows takes longer than Prisma's default timeout for a transaction, which is 5 seconds.
    // STATEMENT_TIMEOUT_MS still limits each statement.
    { timeout: 60_000 },
  );
}

/**
 * Tries to acquire a tenant's advisory lock, so only one worker at a time counts the tenant's deliveries. Doesn't wait
 * for the lock. Returns true if the transaction now has the lock.
 */
async function tryLock(tx: Prisma.TransactionClient, tenantId: TenantId): Promise<boolean> {
  const [row] = await tx.$queryRaw<{ taken: boolean }[]>`
    SELECT pg_try_advisory_xact_lock(hashtextextended(${`webhookQuota:${tenantId}`}, 0)) AS taken`;
  return row?.taken === true;
}

/** Returns no subscriptions if maintenance of the tenant has begun since `findCandidates`. */
function countPending(tx: Prisma.TransactionClient, tenantId: TenantId): Promise<Subscription[]> {
  return tx.$queryRaw`
    SELECT s.id, s.active, s.quota_reached_at AS "quotaReachedAt", s.quota_pending AS "quotaPending",
      s.quota_reached_at > now() - ${quotaInterval}::int * interval '1 millisecond' AS "isSettling",
      (SELECT count(*)::int FROM deliveries d
       WHERE d.tenant_id = ${tenantId} AND d.subscription_id = s.id AND d.state = 'PENDING') AS pending
    FROM webhook_subscriptions s JOIN tenants t ON t.id = s.tenant_id AND ${notInMaintenanceSql}
    WHERE s.tenant_id = ${tenantId}`;
}

interface Reached {
  tenantId: TenantId;
  pending: number;
}

async function pause(
  tx: Prisma.TransactionClient,
  { logger, maxPendingDeliveries }: QuotaOptions,
  { tenantId, id, pending }: Reached & { id: bigint },
): Promise<void> {
  await tx.$executeRaw`
    UPDATE webhook_subscriptions SET quota_reached_at = now(), quota_pending = NULL
    WHERE tenant_id = ${tenantId} AND id = ${id}`;
  logger.warn(
    { tenantId: tenantIdToJson(tenantId), subscriptionId: String(id), pending, maxPendingDeliveries },
    'a workspace has too many pending deliveries: this webhook subscription gets no new deliveries until fewer than ' +
      'half of the limit are pending. The receiver can read missed changes from the change feed.',
  );
}

async function storeBaseline(tx: Prisma.TransactionClient, { tenantId, id, pending }: Reached & { id: bigint }) {
  await tx.$executeRaw`
    UPDATE webhook_subscriptions SET quota_pending = ${pending}::int WHERE tenant_id = ${tenantId} AND id = ${id}`;
}

async function resumeAll(
  tx: Prisma.TransactionClient,
  { logger, maxPendingDeliveries }: QuotaOptions,
  { tenantId, pending }: Reached,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE webhook_subscriptions SET quota_reached_at = NULL, quota_pending = NULL
    WHERE tenant_id = ${tenantId} AND quota_reached_at IS NOT NULL`;
  logger.warn(
    { tenantId: tenantIdToJson(tenantId), pending, maxPendingDeliveries },
    'a workspace has fewer pending deliveries than half of the limit: its webhook subscriptions get new ones again',
  );
}
