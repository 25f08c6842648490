import type { FastifyBaseLogger } from 'fastify';
import type { SystemClient } from '../../database/client/prisma.ts';
import { sql, tenant } from '../../database/client/sql.ts';
import { allTenants, command, type None, rows } from '../../database/client/statements.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { notInMaintenance } from '../../database/tenant-maintenance.ts';
import { type TenantId, tenantIdToJson } from '../../shared/tenant-id.ts';

/*
 * Enforces the maximum number of pending deliveries per tenant
 * (docs/decisions/webhook-deliveries.md#limit-of-pending-deliveries). Workers count the deliveries and pause
 * subscriptions. `emit` only reads whether a subscription is paused.
 */

/** How many milliseconds each worker waits between two counts of the pending deliveries. */
export const quotaInterval = 5000;

export interface QuotaOptions {
  prisma: SystemClient;
  logger: Pick<FastifyBaseLogger, 'warn'>;
  /** The maximum number of pending deliveries per tenant. */
  maxPendingDeliveries: number;
}

/** Counts the pending deliveries of tenants near the limit, and pauses or resumes their subscriptions. */
export async function enforceQuota(options: QuotaOptions): Promise<void> {
  const { prisma, maxPendingDeliveries: maxPending } = options;
  for (const { tenantId } of await prisma.$sql(selectCandidates, { maxPending }))
    await enforceForTenant(options, tenantId);
}

/**
 * Selects the tenants whose pending deliveries the worker must count: tenants with a subscription that the quota has
 * paused, and tenants that may have reached the limit.
 *
 * To find the latter, compares the limit with the difference between the highest and the lowest id of the tenant's
 * pending deliveries, plus one. This number is never smaller than the count, but needs only two index lookups.
 */
const selectCandidates = allTenants.rows<{ maxPending: number }, { tenantId: TenantId }>(
  ({ maxPending }) => sql`
    SELECT s.tenant_id AS "tenantId" FROM webhook_subscriptions s JOIN tenants t ON t.id = s.tenant_id AND ${notInMaintenance}
    GROUP BY s.tenant_id
    HAVING bool_or(s.quota_reached_at IS NOT NULL) OR (
      SELECT max(id) - min(id) + 1 FROM deliveries d WHERE d.tenant_id = s.tenant_id AND d.state = 'PENDING'
    ) >= ${maxPending}::int`,
);

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
  return prisma.$transaction(async () => {
    const db = prisma.$tenant(tenantId);
    const [lock] = await db.$sql(tryLock);
    if (lock?.taken !== true) return;
    const subscriptions = await db.$sql(countPending);
    const pending = subscriptions.reduce((sum, each) => sum + each.pending, 0);
    const paused = subscriptions.filter(({ quotaReachedAt }) => quotaReachedAt !== null);
    const latest = paused.toSorted((a, b) => Number(b.quotaReachedAt) - Number(a.quotaReachedAt))[0];

    if (pending < maxPendingDeliveries / 2) {
      if (latest !== undefined) await resumeAll(db, options, { tenantId, pending });
    } else if (pending >= maxPendingDeliveries && latest?.isSettling !== true) {
      // Transactions that began before the pause can still add deliveries. Therefore, the baseline is the count after
      // these transactions. Another subscription is paused only if the count exceeds the baseline.
      if (latest?.quotaPending === null) await db.$sql(storeBaseline, { id: latest.id, pending });
      else if (latest === undefined || pending > latest.quotaPending) {
        const growing = subscriptions.filter(({ active, quotaReachedAt }) => active && quotaReachedAt === null);
        const [largest] = growing.toSorted((a, b) => b.pending - a.pending);
        if (largest !== undefined) await pause(db, options, { tenantId, id: largest.id, pending });
      }
    }
  });
}

/**
 * Tries to acquire a tenant's advisory lock, so only one worker at a time counts the tenant's deliveries. Doesn't wait
 * for the lock. Returns true if the transaction now has the lock.
 */
const tryLock = rows<None, { taken: boolean }>(
  () => sql`SELECT pg_try_advisory_xact_lock(hashtextextended('webhookQuota:' || ${tenant}::bigint, 0)) AS taken`,
);

/** Selects no subscriptions if maintenance of the tenant has begun since `selectCandidates`. */
const countPending = rows<None, Subscription>(
  () => sql`
    SELECT s.id, s.active, s.quota_reached_at AS "quotaReachedAt", s.quota_pending AS "quotaPending",
      s.quota_reached_at > now() - ${quotaInterval}::int * interval '1 millisecond' AS "isSettling",
      (SELECT count(*)::int FROM deliveries d
       WHERE d.tenant_id = ${tenant} AND d.subscription_id = s.id AND d.state = 'PENDING') AS pending
    FROM webhook_subscriptions s JOIN tenants t ON t.id = s.tenant_id AND ${notInMaintenance}
    WHERE s.tenant_id = ${tenant}`,
);

interface TenantBacklog {
  tenantId: TenantId;
  pending: number;
}

const setReached = command<{ id: bigint }>(
  ({ id }) => sql`
    UPDATE webhook_subscriptions SET quota_reached_at = now(), quota_pending = NULL
    WHERE tenant_id = ${tenant} AND id = ${id}`,
);

async function pause(
  db: TenantClient,
  { logger, maxPendingDeliveries }: QuotaOptions,
  { tenantId, id, pending }: TenantBacklog & { id: bigint },
): Promise<void> {
  await db.$sql(setReached, { id });
  logger.warn(
    { tenantId: tenantIdToJson(tenantId), subscriptionId: String(id), pending, maxPendingDeliveries },
    'a workspace has too many pending deliveries: this webhook subscription gets no new deliveries until fewer than ' +
      'half of the limit are pending. The receiver can read missed changes from the change feed.',
  );
}

const storeBaseline = command<{ id: bigint; pending: number }>(
  ({ id, pending }) => sql`
    UPDATE webhook_subscriptions SET quota_pending = ${pending}::int WHERE tenant_id = ${tenant} AND id = ${id}`,
);

const clearReached = command(
  () => sql`
    UPDATE webhook_subscriptions SET quota_reached_at = NULL, quota_pending = NULL
    WHERE tenant_id = ${tenant} AND quota_reached_at IS NOT NULL`,
);

async function resumeAll(
  db: TenantClient,
  { logger, maxPendingDeliveries }: QuotaOptions,
  { tenantId, pending }: TenantBacklog,
): Promise<void> {
  await db.$sql(clearReached);
  logger.warn(
    { tenantId: tenantIdToJson(tenantId), pending, maxPendingDeliveries },
    'a workspace has fewer pending deliveries than half of the limit: its webhook subscriptions get new ones again',
  );
}
