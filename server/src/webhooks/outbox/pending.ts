import type { SystemClient } from '../../database/client/prisma.ts';
import { type Sql, sql, tenant } from '../../database/client/sql.ts';
import { allTenants, command, type None } from '../../database/client/statements.ts';
import { notInMaintenance } from '../../database/tenant-maintenance.ts';
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
export const pendingSubscriptions = sql`
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
export const maySend = sql`t.active AND ${notInMaintenance} AND s.active AND (s.open_until IS NULL OR s.open_until <= now())`;

/**
 * Returns an SQL expression for the time from which workers can send a delivery of the subscription `s`. This is the
 * time when the delivery became due or when the circuit became half-open, whichever is later.
 * @param nextAttemptAt SQL expression for the time when the delivery became due
 */
export function sendableSince(nextAttemptAt: Sql): Sql {
  return sql`greatest(${nextAttemptAt}, s.open_until)`;
}

const selectPending = allTenants.rows<None, SubscriptionRef & { active: boolean }>(
  () => sql`
    WITH RECURSIVE ${pendingSubscriptions}
    SELECT s.tenant_id AS "tenantId", s.id AS "subscriptionId", s.active
    FROM pending
    JOIN tenants t ON t.id = pending.tenant_id
    JOIN webhook_subscriptions s ON s.tenant_id = pending.tenant_id AND s.id = pending.subscription_id
    WHERE NOT s.active AND ${notInMaintenance} OR ${maySend} AND EXISTS (
      SELECT FROM deliveries d WHERE d.tenant_id = s.tenant_id AND d.subscription_id = s.id
        AND d.state = 'PENDING' AND d.next_attempt_at <= now()
      -- Without OFFSET 0, PostgreSQL might merge the subquery into the query and read all due deliveries first.
      OFFSET 0)
    ORDER BY s.tenant_id, s.id`,
);

/**
 * Finds the subscriptions with due deliveries, and the inactive subscriptions with pending deliveries.
 * @param except subscriptions to exclude from `due`
 */
export async function findPending(system: SystemClient, except: SubscriptionRef[]): Promise<PendingWork> {
  const rows = await system.$sql(selectPending);
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

const selectOldestDue = allTenants.rows<None, OldestDue>(
  () => sql`
    SELECT s.tenant_id AS "tenantId", s.id AS "subscriptionId",
      extract(epoch FROM now() - ${sendableSince(sql`d.next_attempt_at`)})::float8 AS seconds
    FROM webhook_subscriptions s
    JOIN tenants t ON t.id = s.tenant_id
    CROSS JOIN LATERAL (
      SELECT next_attempt_at FROM deliveries
      WHERE tenant_id = s.tenant_id AND subscription_id = s.id AND state = 'PENDING' AND next_attempt_at <= now()
      ORDER BY next_attempt_at LIMIT 1
    ) d
    WHERE ${maySend}
    ORDER BY seconds DESC LIMIT 1`,
);

/**
 * Returns the subscription with the due delivery that has been waiting the longest. Returns undefined if no delivery is
 * due. Excludes the time while the circuit was open.
 */
export async function findOldestDue(system: SystemClient): Promise<OldestDue | undefined> {
  return (await system.$sql(selectOldestDue))[0];
}

const selectActive = (condition: Sql) =>
  allTenants.rows<None, SubscriptionRef>(
    () => sql`
      SELECT s.tenant_id AS "tenantId", s.id AS "subscriptionId"
      FROM webhook_subscriptions s JOIN tenants t ON t.id = s.tenant_id AND t.active
      WHERE s.active AND ${condition} ORDER BY s.tenant_id, s.id`,
  );
const selectOpenCircuits = selectActive(sql`NOT s.held AND s.open_until IS NOT NULL`);
const selectOverQuota = selectActive(sql`s.quota_reached_at IS NOT NULL`);

/** Returns the active subscriptions with an open or half-open circuit, except subscriptions that a user has paused. */
export function findOpenCircuits(system: SystemClient): Promise<SubscriptionRef[]> {
  return system.$sql(selectOpenCircuits);
}

/**
 * Returns the active subscriptions that get no new deliveries because their tenant has reached its limit of pending
 * deliveries.
 */
export function findOverQuota(system: SystemClient): Promise<SubscriptionRef[]> {
  return system.$sql(selectOverQuota);
}

const cancel = command<{ subscriptionId: bigint; maxCount: number }>(
  ({ subscriptionId, maxCount }) => sql`
    UPDATE deliveries SET state = 'CANCELLED', claim = NULL, settled_at = now()
    WHERE tenant_id = ${tenant} AND EXISTS (
      SELECT FROM webhook_subscriptions s JOIN tenants t ON t.id = s.tenant_id AND ${notInMaintenance}
      WHERE s.tenant_id = ${tenant} AND s.id = ${subscriptionId} AND NOT s.active
    ) AND id = ANY (ARRAY(
      SELECT id FROM deliveries WHERE tenant_id = ${tenant} AND subscription_id = ${subscriptionId} AND state = 'PENDING'
      ORDER BY next_attempt_at LIMIT ${maxCount} FOR NO KEY UPDATE SKIP LOCKED))`,
);

/**
 * Cancels up to `maxCount` pending deliveries of an inactive subscription, including deliveries in flight. If the
 * subscription is active again or its tenant is in maintenance, does nothing. Skips rows that another transaction has
 * locked.
 *
 * Reads the rows in index order. In any other order, each batch would scan all rows that earlier batches have canceled.
 * @returns the number of canceled deliveries
 */
export function cancelPending(system: SystemClient, ref: SubscriptionRef, maxCount: number): Promise<number> {
  const { tenantId, subscriptionId } = ref;
  return system.$tenant(tenantId).$sql(cancel, { subscriptionId, maxCount });
}
