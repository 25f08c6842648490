import type { SystemClient } from '../../database/client/prisma.ts';
import { jsonRows, sql } from '../../database/client/sql.ts';
import { allTenants } from '../../database/client/statements.ts';
import type { TenantId } from '../../shared/tenant-id.ts';
import type { ClaimedDelivery } from './claim.ts';
import { recordHealth, type SubscriptionSignal } from './record-health.ts';
import { nextWait, type RetrySchedule } from './retry-schedule.ts';
import type { Outcome } from './send.ts';

/** A delivery and the outcome of its attempt. */
export interface DeliveryResult {
  delivery: ClaimedDelivery;
  outcome: Outcome;
}

/** The stored result of an attempt. */
export interface RecordedResults extends DeliveryResult {
  /** The delivery's status after the attempt. CANCELLED if the delivery was canceled during the attempt. */
  state: 'PENDING' | 'DELIVERED' | 'EXHAUSTED' | 'CANCELLED';
  /** When the next attempt is due, or null if the delivery isn't PENDING. */
  nextAttemptAt: Date | null;
  settledAt: Date | null;
}

/** The recorded results, and the health signals that were not recorded because their subscriptions were locked. */
export interface RecordedBatch {
  settled: RecordedResults[];
  unrecorded: SubscriptionSignal[];
}

/**
 * Records the results of attempts in one short transaction: each attempt, the delivery's new status, and the
 * subscription's health. Skips deliveries that another worker has claimed in the meantime. For a canceled delivery,
 * records only the attempt.
 *
 * Doesn't wait for subscriptions that another transaction has locked. Instead, returns their signals (the outcomes that
 * affect the health), which the caller passes to the next call as `unrecorded`.
 */
export function recordResults(
  system: SystemClient,
  results: DeliveryResult[],
  unrecorded: SubscriptionSignal[] = [],
  schedule?: RetrySchedule,
): Promise<RecordedBatch> {
  return system.$transaction(async () => {
    const ids = results.map(({ delivery: { tenantId, id } }) => ({ tenantId, id }));
    const settled = toRecordedResults(results, await system.$sql(lockDeliveries, { ids: jsonRows(ids) }), schedule);
    const changed = settled.filter(({ state }) => state !== 'CANCELLED');
    await updateDeliveries(system, changed);
    await insertAttempts(system, settled);
    return { settled, unrecorded: await recordHealth(system, [...unrecorded, ...changed.map(toSignal)], schedule) };
  });
}

interface LockedDelivery {
  tenantId: TenantId;
  id: bigint;
  state: RecordedResults['state'];
  claim: string | null;
  now: Date;
}

/**
 * Locks the deliveries in the order of their ids. The fixed order prevents deadlocks between batches with the same
 * rows.
 */
const lockDeliveries = allTenants.rows<{ ids: string }, LockedDelivery>(
  ({ ids }) => sql`
    SELECT d.tenant_id AS "tenantId", d.id, d.state, d.claim, now() AS now
    FROM deliveries d JOIN json_to_recordset(${ids}::json) AS g ("tenantId" bigint, id bigint)
      ON d.tenant_id = g."tenantId" AND d.id = g.id
    ORDER BY d.tenant_id, d.id
    FOR NO KEY UPDATE OF d`,
);

/** Returns the map key of a delivery. The key includes the tenant, because ids are unique only within a tenant. */
const deliveryKey = ({ tenantId, id }: { tenantId: TenantId; id: bigint }) => `${tenantId}:${id}`;

/** Returns the results to record. Each result contains the delivery's new status. */
function toRecordedResults(
  results: DeliveryResult[],
  locked: LockedDelivery[],
  schedule: RetrySchedule | undefined,
): RecordedResults[] {
  const rows = new Map(locked.map((row) => [deliveryKey(row), row]));
  return results.flatMap((result): RecordedResults[] => {
    const row = rows.get(deliveryKey(result.delivery));
    if (row === undefined) return [];
    const settledAs = (state: RecordedResults['state']) => [
      { ...result, state, nextAttemptAt: null, settledAt: row.now },
    ];
    if (row.state === 'CANCELLED') return settledAs('CANCELLED');
    if (row.state !== 'PENDING' || row.claim !== result.delivery.claim) return [];
    const { delivery, outcome } = result;
    const { delivered, retryAfter } = outcome;
    if (delivered) return settledAs('DELIVERED');
    const wait = nextWait({ attempt: delivery.attempt, lost: delivery.lost, retryAfter }, schedule);
    if (wait === undefined) return settledAs('EXHAUSTED');
    return [{ ...result, state: 'PENDING', nextAttemptAt: new Date(row.now.getTime() + wait), settledAt: null }];
  });
}

const updateSettled = allTenants.command<{ settled: string }>(
  ({ settled }) => sql`
    UPDATE deliveries d
    SET state = g.state, claim = NULL, next_attempt_at = COALESCE(g.next_attempt_at, d.next_attempt_at),
      settled_at = g.settled_at
    FROM json_populate_recordset(NULL::deliveries, ${settled}::json) g
    WHERE d.tenant_id = g.tenant_id AND d.id = g.id`,
);

async function updateDeliveries(system: SystemClient, results: RecordedResults[]): Promise<void> {
  if (results.length === 0) return;
  const settled = results.map(({ delivery, state, nextAttemptAt, settledAt }) => {
    const { tenantId, id } = delivery;
    return { tenant_id: tenantId, id, state, next_attempt_at: nextAttemptAt, settled_at: settledAt };
  });
  await system.$sql(updateSettled, { settled: jsonRows(settled) });
}

const insertGiven = allTenants.command<{ attempts: string }>(
  ({ attempts }) => sql`
    INSERT INTO delivery_attempts (
      tenant_id, delivery_id, number, started_at, duration_ms, status, error, answer, public_answer)
    SELECT * FROM json_to_recordset(${attempts}::json) AS g (
      "tenantId" bigint, id bigint, number int, "startedAt" timestamptz, "durationMs" int, status int, error text,
      answer text, "publicAnswer" text)`,
);

async function insertAttempts(system: SystemClient, settled: RecordedResults[]): Promise<void> {
  if (settled.length === 0) return;
  const attempts = settled.map(({ delivery: { tenantId, id, attempt, claimedAt }, outcome }) => {
    const { durationMs, status, error, answer, publicAnswer } = outcome;
    return { tenantId, id, number: attempt, startedAt: claimedAt, durationMs, status, error, answer, publicAnswer };
  });
  await system.$sql(insertGiven, { attempts: jsonRows(attempts) });
}

function toSignal({ delivery, outcome }: DeliveryResult): SubscriptionSignal {
  const { tenantId, subscriptionId, url, probe } = delivery;
  return { tenantId, subscriptionId, url, probe, delivered: outcome.delivered, gone: outcome.status === 410 };
}
