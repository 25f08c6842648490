import type { SystemClient } from '../../database/client/prisma.ts';
import { jsonRows, sql } from '../../database/client/sql.ts';
import { allTenants } from '../../database/client/statements.ts';
import { refKey, type SubscriptionRef } from '../subscription-ref.ts';
import { afterAttempt, type Health, type HealthSignal } from './circuit-breaker.ts';
import type { RetrySchedule } from './retry-schedule.ts';

/** The part of an attempt's outcome that affects the health, with the subscription and the URL of the request. */
export type SubscriptionSignal = SubscriptionRef & HealthSignal & { url: string };

/** The health to store for a subscription, and whether one of the attempts succeeded. */
type HealthUpdate = SubscriptionRef & Health & { delivered: boolean };

type HealthRow = SubscriptionRef & Health & { url: string; now: Date };

/**
 * Updates the health of subscriptions from the outcomes of attempts (see circuit-breaker.ts). If a subscription's URL
 * has changed, ignores attempts that used the previous URL. Skips subscriptions that another transaction has locked.
 * @returns the signals of the skipped subscriptions
 */
export async function recordHealth(
  system: SystemClient,
  signals: SubscriptionSignal[],
  schedule?: RetrySchedule,
): Promise<SubscriptionSignal[]> {
  if (signals.length === 0) return [];
  const bySubscription = Map.groupBy(signals, refKey);
  const refs = [...bySubscription.values()].map(([first]) => first as SubscriptionSignal);
  const rows = await system.$sql(lockHealth, { refs: jsonRows(refs) });
  const updates = rows.map(({ now, url, tenantId, subscriptionId, ...before }): HealthUpdate => {
    const all = bySubscription.get(refKey({ tenantId, subscriptionId })) ?? [];
    const current = all.filter((signal) => signal.url === url);
    const health = current.reduce((health: Health, signal) => afterAttempt(health, signal, now, schedule), before);
    return { ...health, tenantId, subscriptionId, delivered: current.some(({ delivered }) => delivered) };
  });
  if (updates.length > 0) await system.$sql(writeHealth, { health: jsonRows(updates) });
  for (const row of rows) bySubscription.delete(refKey(row));
  return [...bySubscription.values()].flat();
}

const lockHealth = allTenants.rows<{ refs: string }, HealthRow>(
  ({ refs }) => sql`
    SELECT s.tenant_id AS "tenantId", s.id AS "subscriptionId", s.url, s.last_success_at AS "lastSuccessAt",
      s.last_failure_at AS "lastFailureAt", s.failures, s.failing_since AS "failingSince", s.open_until AS "openUntil",
      s.openings, s.paused_at AS "pausedAt", s.paused_reason AS "pausedReason", now() AS now
    FROM webhook_subscriptions s
    JOIN json_to_recordset(${refs}::json) AS w ("tenantId" bigint, "subscriptionId" bigint)
      ON s.tenant_id = w."tenantId" AND s.id = w."subscriptionId"
    FOR NO KEY UPDATE OF s SKIP LOCKED`,
);

const writeHealth = allTenants.command<{ health: string }>(
  ({ health }) => sql`
    UPDATE webhook_subscriptions s
    SET last_success_at = h."lastSuccessAt", last_failure_at = h."lastFailureAt", failures = h.failures,
      failing_since = h."failingSince", open_until = h."openUntil", openings = h.openings,
      paused_at = h."pausedAt", paused_reason = h."pausedReason",
      first_succeeded_at = CASE WHEN h.delivered THEN COALESCE(s.first_succeeded_at, now()) ELSE s.first_succeeded_at END
    FROM json_to_recordset(${health}::json) AS h (
      "tenantId" bigint, "subscriptionId" bigint, "lastSuccessAt" timestamptz, "lastFailureAt" timestamptz,
      failures int, "failingSince" timestamptz, "openUntil" timestamptz, openings int, "pausedAt" timestamptz,
      "pausedReason" text, delivered boolean)
    WHERE s.tenant_id = h."tenantId" AND s.id = h."subscriptionId"`,
);
