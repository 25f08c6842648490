import { Prisma } from '../../../generated/prisma/client.ts';
import type { PrismaClient } from '../../database/client/prisma.ts';
import { refKey, type SubscriptionRef } from '../subscription-ref.ts';

/** What there is to do about the subscriptions that have deliveries pending. */
export interface PendingWork {
  /** Something is due, and may be sent. */
  due: SubscriptionRef[];
  /** They are inactive: what is pending is to be cancelled. */
  inactive: SubscriptionRef[];
}

/**
 * Steps from one subscription with something pending to the next, on the index of what is pending, so that it costs what
 * there are subscriptions, not what waits for them. To stand behind `WITH RECURSIVE`.
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

/** Whether deliveries to the subscription `s` of the tenant `t` may be sent now, as SQL. */
export const maySend = 't.active AND s.active AND (s.open_until IS NULL OR s.open_until <= now())';

/**
 * Since when what is due first to the subscription `s` might have been sent, as SQL: not while its circuit was open.
 * @param nextAttemptAt as SQL
 */
export function sendableSince(nextAttemptAt: string): string {
  return `greatest(${nextAttemptAt}, s.open_until)`;
}

/**
 * Looks through all subscriptions with something pending.
 * @param except those whose due deliveries need not be told
 */
export async function findPending(prisma: PrismaClient, except: SubscriptionRef[]): Promise<PendingWork> {
  const rows = await prisma.$queryRaw<(SubscriptionRef & { active: boolean })[]>`
    WITH RECURSIVE ${Prisma.raw(pendingSubscriptions)}
    SELECT s.tenant_id AS "tenantId", s.id AS "subscriptionId", s.active
    FROM pending
    JOIN tenants t ON t.id = pending.tenant_id
    JOIN webhook_subscriptions s ON s.tenant_id = pending.tenant_id AND s.id = pending.subscription_id
    WHERE NOT s.active OR ${Prisma.raw(maySend)} AND EXISTS (
      SELECT FROM deliveries d WHERE d.tenant_id = s.tenant_id AND d.subscription_id = s.id
        AND d.state = 'PENDING' AND d.next_attempt_at <= now()
      -- Each looked up by itself: PostgreSQL may take it to be cheaper to read all that is due first.
      OFFSET 0)
    ORDER BY s.tenant_id, s.id`;
  const known = new Set(except.map(refKey));
  return {
    due: rows.filter((row) => row.active && !known.has(refKey(row))),
    inactive: rows.filter((row) => !row.active),
  };
}

/** What is due to a subscription that may be sent to, and for how long it has been. */
export interface OldestDue extends SubscriptionRef {
  seconds: number;
}

/** The delivery that might have been attempted for longest, and is not; undefined when none is due. */
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

/** The active subscriptions whose circuits the breaker has opened, and no success has closed yet. */
export function findOpenCircuits(prisma: PrismaClient): Promise<SubscriptionRef[]> {
  return prisma.$queryRaw`
    SELECT s.tenant_id AS "tenantId", s.id AS "subscriptionId"
    FROM webhook_subscriptions s JOIN tenants t ON t.id = s.tenant_id AND t.active
    WHERE s.active AND NOT s.held AND s.open_until IS NOT NULL
    ORDER BY s.tenant_id, s.id`;
}

/** The active subscriptions that get no new deliveries, because their tenant has reached its limit of pending ones. */
export function findOverQuota(prisma: PrismaClient): Promise<SubscriptionRef[]> {
  return prisma.$queryRaw`
    SELECT s.tenant_id AS "tenantId", s.id AS "subscriptionId"
    FROM webhook_subscriptions s JOIN tenants t ON t.id = s.tenant_id AND t.active
    WHERE s.active AND s.quota_reached_at IS NOT NULL
    ORDER BY s.tenant_id, s.id`;
}

/**
 * Cancels deliveries to an inactive subscription, at most so many and in a transaction of their own: what is in flight too,
 * but not what is being settled just now, and none once it is active again. In the order of their index, without which the last batches would look through
 * all that were cancelled before. Resolves to how many there were.
 */
export function cancelPending(prisma: PrismaClient, ref: SubscriptionRef, atMost: number): Promise<number> {
  const { tenantId, subscriptionId } = ref;
  return prisma.$executeRaw`
    UPDATE deliveries SET state = 'CANCELLED', claim = NULL, settled_at = now()
    WHERE tenant_id = ${tenantId} AND EXISTS (
      SELECT FROM webhook_subscriptions WHERE tenant_id = ${tenantId} AND id = ${subscriptionId} AND NOT active
    ) AND id = ANY (ARRAY(
      SELECT id FROM deliveries WHERE tenant_id = ${tenantId} AND subscription_id = ${subscriptionId} AND state = 'PENDING'
      ORDER BY next_attempt_at LIMIT ${atMost} FOR NO KEY UPDATE SKIP LOCKED))`;
}
