import { Prisma } from '../../../generated/prisma/client.ts';
import type { PrismaClient } from '../../database/client/prisma.ts';
import { notInMaintenance, notInMaintenanceSql } from '../../database/tenant-maintenance.ts';
import { refKey, type SubscriptionRef } from '../subscription-ref.ts';

/** The subscriptions for which a worker must send or cancel pending deliveries. */
export interface PendingWork {
  /** Subscriptions with a due delivery that a worker can send now. */
  due: SubscriptionRef[];
  /** Inactive subscriptions with pending deliveries, which a worker must cancel. */
  inactive: SubscriptionRef[];
}

/**
 * A CTE that returns the subscriptions with pending deliveries. Use it after `WITH RECURSIVE`. The CTE is a loose index
 * scan of the partial index, with one lookup per subscription. Its cost doesn't depend on the number of deliveries.
 */
export const pendingSubscriptions = `
  pending AS (
    (SELECT tenant_id, subscription_id FROM deliveries WHERE state = 'PENDING'
     ORDER BY tenant_id, subscription_id LIMIT 1)
    UNION ALL
    SELECT d.tenant_id, d.subscription_id FROM pending CROSS JOIN LATERAL (
      SELECT tenant_id, subscription_id FROM deliveries
      WHERE state = 'PENDING' AND (tenant_id, subscription_id) > (pending.tenant_id, pending.subscription_id)
      ORDER BY tenant_id, subscription_id LIMIT 1
    ) d
  )`;

/** The SQL condition for a subscription `s` of a tenant `t` to which workers can send deliveries now. */
export const maySend = `t.active AND ${notInMaintenance} AND s.active AND (s.open_until IS NULL OR s.open_until <= now())`;

/**
 * Returns an SQL expression for the time from which workers can send a delivery of the subscription `s`. This is the
 * time when the delivery became due or when the circuit became half-open, whichever is later.
 * @param nextAttemptAt SQL expression for the time when the delivery became due
 */
export function sendableSince(nextAttemptAt: string): string {
  return `greatest(${nextAttemptAt}, s.open_until)`;
}

/**
 * Finds the subscriptions with due deliveries, and the inactive subscriptions with pending deliveries.
 * @param except subscriptions to exclude from `due`
 */
export async function findPending(prisma: PrismaClient, except: SubscriptionRef[]): Promise<PendingWork> {
  const rows = await prisma.$queryRaw<(SubscriptionRef & { active: boolean })[]>`
    WITH RECURSIVE ${Prisma.raw(pendingSubscriptions)}
    SELECT s.tenant_id AS "tenantId", s.id AS "subscriptionId", s.active
    FROM pending
    JOIN tenants t ON t.id = pending.tenant_id
    JOIN webhook_subscriptions s ON s.tenant_id = pending.tenant_id AND s.id = pending.subscription_id
    WHERE NOT s.active AND ${notInMaintenanceSql} OR ${Prisma.raw(maySend)} AND EXISTS (
      SELECT FROM deliveries d WHERE d.tenant_id = s.tenant_id AND d.subscription_id = s.id
        AND d.state = 'PENDING' AND d.next_attempt_at <= now()
      -- Without OFFSET 0, PostgreSQL might merge the subquery into the query and read all due deliveries first.
      OFFSET 0)
    ORDER BY s.tenant_id, s.id`;
  const known = new Set(except.map(refKey));
  return {
    due: rows.filter((row) => row.active && !known.has(refKey(row))),
    inactive: rows.filter((row) => !row.active),
  };
}

/** A subscription with a due delivery, and how many seconds the delivery has been waiting. */
export interface OldestDue extends SubscriptionRef {
  seconds: number;
}

/**
 * Returns the subscription with the due delivery that has been waiting the longest. Returns undefined if no delivery is
 * due. Excludes the time while the circuit was open.
 */
export async function findOldestDue(prisma: PrismaClient): Promise<OldestDue | undefined> {
  const [oldest] = await prisma.$queryRaw<OldestDue[]>`
    SELECT s.tenant_id AS "tenantId", s.id AS "subscriptionId",
      extract(epoch FROM now() - ${Prisma.raw(sendableSince('d.next_attempt_at'))})::float8 AS seconds
    FROM webhook_subscriptions s
    JOIN tenants t ON t.id = s.tenant_id
    CROSS JOIN LATERAL (
      SELECT next_attempt_at FROM deliveries
      WHERE tenant_id = s.tenant_id AND subscription_id = s.id AND state = 'PENDING' AND next_attempt_at <= now()
      ORDER BY next_attempt_at LIMIT 1
    ) d
    WHERE ${Prisma.raw(maySend)}
    ORDER BY seconds DESC LIMIT 1`;
  return oldest;
}

/** Returns the active subscriptions with an open or half-open circuit, except subscriptions that a user has paused. */
export function findOpenCircuits(prisma: PrismaClient): Promise<SubscriptionRef[]> {
  return prisma.$queryRaw`
    SELECT s.tenant_id AS "tenantId", s.id AS "subscriptionId"
    FROM webhook_subscriptions s JOIN tenants t ON t.id = s.tenant_id AND t.active
    WHERE s.active AND NOT s.held AND s.open_until IS NOT NULL
    ORDER BY s.tenant_id, s.id`;
}

/**
 * Returns the active subscriptions that get no new deliveries because their tenant has reached its limit of pending
 * deliveries.
 */
export function findOverQuota(prisma: PrismaClient): Promise<SubscriptionRef[]> {
  return prisma.$queryRaw`
    SELECT s.tenant_id AS "tenantId", s.id AS "subscriptionId"
    FROM webhook_subscriptions s JOIN tenants t ON t.id = s.tenant_id AND t.active
    WHERE s.active AND s.quota_reached_at IS NOT NULL
    ORDER BY s.tenant_id, s.id`;
}

/**
 * Cancels up to `maxCount` pending deliveries of an inactive subscription, including deliveries in flight. If the
 * subscription is active again or its tenant is in maintenance, does nothing. Skips rows that another transaction has
 * locked.
 *
 * Reads the rows in index order. In any other order, each batch would scan all rows that earlier batches have canceled.
 * @returns the number of canceled deliveries
 */
export function cancelPending(prisma: PrismaClient, ref: SubscriptionRef, maxCount: number): Promise<number> {
  const { tenantId, subscriptionId } = ref;
  return prisma.$executeRaw`
    UPDATE deliveries SET state = 'CANCELLED', claim = NULL, settled_at = now()
    WHERE tenant_id = ${tenantId} AND EXISTS (
      SELECT FROM webhook_subscriptions s JOIN tenants t ON t.id = s.tenant_id AND ${notInMaintenanceSql}
      WHERE s.tenant_id = ${tenantId} AND s.id = ${subscriptionId} AND NOT s.active
    ) AND id = ANY (ARRAY(
      SELECT id FROM deliveries WHERE tenant_id = ${tenantId} AND subscription_id = ${subscriptionId} AND state = 'PENDING'
      ORDER BY next_attempt_at LIMIT ${maxCount} FOR NO KEY UPDATE SKIP LOCKED))`;
}
