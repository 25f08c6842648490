import { randomUUID } from 'node:crypto';
import { deliverySchedule } from '@itsm-api/contract';
import type { SystemClient } from '../../database/client/prisma.ts';
import { jsonRows, type Parameter, sql } from '../../database/client/sql.ts';
import { allTenants } from '../../database/client/statements.ts';
import { notInMaintenance } from '../../database/tenant-maintenance.ts';
import type { TenantId } from '../../shared/tenant-id.ts';
import { refKey, type SubscriptionRef } from '../subscription-ref.ts';
import { getCircuit } from './circuit-breaker.ts';
import { claimLease, type RetrySchedule } from './retry-schedule.ts';

/** A delivery that this process has claimed and can attempt now. */
export interface ClaimedDelivery extends SubscriptionRef {
  id: bigint;
  /**
   * The claim token. A worker can record a result only with the delivery's current token. If another worker claims the
   * delivery later, this token is no longer current.
   */
  claim: string;
  /**
   * When this process claimed the delivery, according to the clock of the database server. The attempt starts at this
   * time.
   */
  claimedAt: Date;
  /** When the delivery became due, as a value of `performance.now()` in this process. */
  dueSince: number;
  /** The number of this attempt, starting at 1. */
  attempt: number;
  /** How many earlier attempts have no result because their worker stopped. */
  lost: number;
  /** Whether the attempt is the probe, the only attempt that a half-open circuit allows. */
  probe: boolean;
  url: string;
  /** The encrypted signing secret. */
  secret: Uint8Array;
  /** The encrypted previous secret. Null if the server no longer signs with it. */
  previousSecret: Uint8Array | null;
  eventId: string;
  eventType: string;
  body: string;
  /** The trace context of the event (W3C `traceparent`), or null if tracing was off. */
  traceParent: string | null;
}

/** A subscription and the maximum number of its deliveries to claim. */
export interface ClaimRequest extends SubscriptionRef {
  slots: number;
}

/** Returns how many of the requested slots the target host's limits allow. */
export type Grant = (request: ClaimRequest, url: string) => number;

/** The subscription columns that are necessary to claim deliveries. */
interface Subscription extends SubscriptionRef {
  url: string;
  secret: Uint8Array;
  previousSecret: Uint8Array | null;
  openUntil: Date | null;
  /** Whether the subscription's URL has never responded with 2xx. */
  unproven: boolean;
  now: Date;
}

/** A due delivery that `lockDue` has claimed. */
type ClaimedRow = SubscriptionRef &
  Pick<ClaimedDelivery, 'id' | 'attempt' | 'lost' | 'eventId' | 'eventType' | 'body' | 'traceParent'> & {
    dueAt: Date;
    /** When an earlier worker claimed the delivery, if that worker recorded no result. Otherwise null. */
    lostAt: Date | null;
  };

/**
 * Claims due deliveries in one short transaction. A claim lasts for `claimLease`. The maximum number of deliveries per
 * subscription is:
 * - 0 if the subscription or its tenant is inactive, if the tenant is in maintenance, or if the circuit is open;
 * - 1 if the circuit is half-open;
 * - otherwise, the number of slots that `grant` returns.
 *
 * If a subscription's URL has never responded with 2xx, all workers together claim at most `maxTrialsPerMinute` of its
 * deliveries per minute. If an earlier claim of a delivery expired without a result, records the attempt of that claim
 * as lost.
 * @param grant called once for each subscription that can receive deliveries, even if no delivery is due
 */
export function claimDue(
  system: SystemClient,
  requests: ClaimRequest[],
  grant: Grant = ({ slots }) => slots,
  { maxTrialsPerMinute }: Pick<RetrySchedule, 'maxTrialsPerMinute'> = deliverySchedule,
): Promise<ClaimedDelivery[]> {
  const claim = randomUUID();
  const requestedAt = performance.now();
  return system.$transaction(async () => {
    const subscriptions = new Map((await system.$sql(readActive, refsOf(requests))).map((row) => [refKey(row), row]));
    const circuitAt = (ref: SubscriptionRef) => {
      const found = subscriptions.get(refKey(ref));
      return found && getCircuit(found, found.now);
    };
    const isUnproven = (ref: SubscriptionRef) => subscriptions.get(refKey(ref))?.unproven === true;
    const trials = await countTrials(
      system,
      requests.filter((each) => isUnproven(each) && circuitAt(each) !== 'open'),
      maxTrialsPerMinute,
    );
    const maxSlotsOf = (each: ClaimRequest) => {
      if (circuitAt(each) === 'open') return 0;
      const slots = circuitAt(each) === 'half-open' ? 1 : each.slots;
      // `countTrials` omits subscriptions that another transaction has locked. A locked subscription gets no slots and
      // stays in the queue.
      return isUnproven(each) ? Math.min(slots, trials.get(refKey(each)) ?? 0) : slots;
    };
    const granted = requests.flatMap((each) => {
      const { url } = subscriptions.get(refKey(each)) ?? {};
      const maxSlots = maxSlotsOf(each);
      if (url === undefined || maxSlots <= 0) return [];
      const slots = grant({ ...each, slots: maxSlots }, url);
      return slots > 0 ? [{ ...each, slots }] : [];
    });
    const probed = await lockHalfOpen(
      system,
      granted.filter((each) => circuitAt(each) === 'half-open'),
    );
    const taken = await lockDue(system, claim, [
      ...granted.filter((each) => circuitAt(each) === 'closed'),
      ...probed.map((each) => ({ ...each, slots: 1 })),
    ]);

    const probes = new Set(probed.map(refKey));
    await keepOpen(
      system,
      probed.filter((each) => taken.some((delivery) => refKey(delivery) === refKey(each))),
    );
    await recordTrials(system, taken.filter(isUnproven));
    await recordLost(system, taken);
    return taken.flatMap(({ lostAt: _, dueAt, ...delivery }) => {
      const found = subscriptions.get(refKey(delivery));
      if (found === undefined) return [];
      const { url, secret, previousSecret, now } = found;
      const dueSince = requestedAt - (now.getTime() - dueAt.getTime());
      const probe = probes.has(refKey(delivery));
      return [{ ...delivery, claim, claimedAt: now, dueSince, probe, url, secret, previousSecret }];
    });
  });
}

/** The subscriptions to which a statement refers, as two lists of equal length. */
interface Refs {
  tenantIds: TenantId[];
  subscriptionIds: bigint[];
}

function refsOf(refs: readonly SubscriptionRef[]): Refs {
  return {
    tenantIds: refs.map(({ tenantId }) => tenantId),
    subscriptionIds: refs.map(({ subscriptionId }) => subscriptionId),
  };
}

/** Builds SQL that selects the subscriptions to which a statement refers. */
const wanted = ({ tenantIds, subscriptionIds }: Record<keyof Refs, Parameter>) =>
  sql`unnest(${tenantIds}::bigint[], ${subscriptionIds}::bigint[]) AS w (tenant_id, subscription_id)`;

/** Selects the subscriptions that are active and belong to an active tenant that isn't in maintenance. */
const readActive = allTenants.rows<Refs, Subscription>(
  (given) => sql`
    SELECT s.tenant_id AS "tenantId", s.id AS "subscriptionId", s.url, s.secret,
      CASE WHEN s.previous_secret_until > now() THEN s.previous_secret END AS "previousSecret",
      s.open_until AS "openUntil", s.first_succeeded_at IS NULL AS unproven, now() AS now
    FROM ${wanted(given)}
    JOIN webhook_subscriptions s ON s.tenant_id = w.tenant_id AND s.id = w.subscription_id AND s.active
    JOIN tenants t ON t.id = s.tenant_id AND t.active AND ${notInMaintenance}`,
);

const countLeft = allTenants.rows<Refs & { maxTrials: number }, SubscriptionRef & { left: number }>(
  (given) => sql`
    SELECT s.tenant_id AS "tenantId", s.id AS "subscriptionId", ${given.maxTrials}::int - (
      SELECT count(*) FROM unnest(s.trial_attempts) AS began WHERE began > now() - interval '1 minute')::int AS left
    FROM ${wanted(given)}
    JOIN webhook_subscriptions s ON s.tenant_id = w.tenant_id AND s.id = w.subscription_id
    FOR NO KEY UPDATE OF s SKIP LOCKED`,
);

/**
 * Locks the subscriptions and returns how many more trial deliveries `maxTrialsPerMinute` allows for each of them.
 * Omits subscriptions that another transaction has locked.
 */
async function countTrials(
  system: SystemClient,
  refs: SubscriptionRef[],
  maxTrials: number,
): Promise<Map<string, number>> {
  if (refs.length === 0) return new Map();
  const found = await system.$sql(countLeft, { ...refsOf(refs), maxTrials });
  return new Map(found.map((row) => [refKey(row), row.left]));
}

const addTrials = allTenants.command<Refs>(
  (given) => sql`
    UPDATE webhook_subscriptions s
    SET trial_attempts = array_fill(now(), ARRAY[w.count])
      || ARRAY(SELECT began FROM unnest(s.trial_attempts) AS began WHERE began > now() - interval '1 minute')
    FROM (SELECT tenant_id, subscription_id, count(*)::int AS count FROM ${wanted(given)} GROUP BY 1, 2) w
    WHERE s.tenant_id = w.tenant_id AND s.id = w.subscription_id`,
);

/** Stores the start times of trial attempts. `countTrials` counts them. */
async function recordTrials(system: SystemClient, taken: SubscriptionRef[]): Promise<void> {
  if (taken.length > 0) await system.$sql(addTrials, refsOf(taken));
}

const lockIfHalfOpen = allTenants.rows<Refs, SubscriptionRef>(
  (given) => sql`
    SELECT s.tenant_id AS "tenantId", s.id AS "subscriptionId"
    FROM ${wanted(given)}
    JOIN webhook_subscriptions s ON s.tenant_id = w.tenant_id AND s.id = w.subscription_id
    WHERE s.active AND s.open_until <= now()
    FOR NO KEY UPDATE OF s SKIP LOCKED`,
);

/**
 * Locks and returns the subscriptions that still have a half-open circuit. Because of the lock, only one worker sends a
 * probe to a subscription.
 */
async function lockHalfOpen(system: SystemClient, refs: SubscriptionRef[]): Promise<SubscriptionRef[]> {
  return refs.length === 0 ? [] : system.$sql(lockIfHalfOpen, refsOf(refs));
}

/**
 * Claims the deliveries that have been due the longest. Skips rows that another worker has locked.
 *
 * The outer LIMIT never removes rows, but gives the query planner a maximum number of rows. Without this maximum,
 * PostgreSQL expects to update a tenth of all pending rows and scans the whole table.
 */
const claimOldest = allTenants.rows<Refs & { slots: number[]; allSlots: number; claim: string }, ClaimedRow>(
  ({ tenantIds, subscriptionIds, slots, allSlots, claim }) => sql`
    WITH due AS MATERIALIZED (
      SELECT d.*
      FROM unnest(${tenantIds}::bigint[], ${subscriptionIds}::bigint[], ${slots}::int[])
        AS w (tenant_id, subscription_id, slots)
      CROSS JOIN LATERAL (
        SELECT tenant_id, id, event_id, next_attempt_at AS due_at,
          CASE WHEN claim IS NOT NULL THEN next_attempt_at END AS lease_end FROM deliveries
        WHERE tenant_id = w.tenant_id AND subscription_id = w.subscription_id
          AND state = 'PENDING' AND next_attempt_at <= now()
        ORDER BY next_attempt_at LIMIT w.slots
        FOR NO KEY UPDATE SKIP LOCKED
      ) d
      LIMIT ${allSlots}
    )
    UPDATE deliveries d
    SET attempts = d.attempts + 1, lost = d.lost + (due.lease_end IS NOT NULL)::int,
      claim = ${claim}::uuid, next_attempt_at = now() + ${claimLease}::int * interval '1 millisecond'
    FROM due JOIN events e ON e.tenant_id = due.tenant_id AND e.id = due.event_id
    WHERE d.tenant_id = due.tenant_id AND d.id = due.id
    RETURNING d.tenant_id AS "tenantId", d.id, d.subscription_id AS "subscriptionId", d.attempts AS attempt, d.lost,
      e.public_id AS "eventId", e.type AS "eventType", e.body,
      e.trace_parent AS "traceParent", due.due_at AS "dueAt",
      due.lease_end - ${claimLease}::int * interval '1 millisecond' AS "lostAt"`,
);

async function lockDue(system: SystemClient, claim: string, requests: ClaimRequest[]): Promise<ClaimedRow[]> {
  if (requests.length === 0) return [];
  const slots = requests.map((each) => each.slots);
  const allSlots = slots.reduce((sum, each) => sum + each, 0);
  return system.$sql(claimOldest, { ...refsOf(requests), slots, allSlots, claim });
}

const extendOpening = allTenants.command<Refs>(
  (given) => sql`
    UPDATE webhook_subscriptions s SET open_until = now() + ${claimLease}::int * interval '1 millisecond'
    FROM ${wanted(given)} WHERE s.tenant_id = w.tenant_id AND s.id = w.subscription_id`,
);

/**
 * Opens the circuits until the claim expires, so other workers send nothing while this worker sends the probes. If this
 * worker stops, the circuits become half-open again when the claim expires.
 */
async function keepOpen(system: SystemClient, refs: SubscriptionRef[]): Promise<void> {
  if (refs.length > 0) await system.$sql(extendOpening, refsOf(refs));
}

const insertLost = allTenants.command<{ lost: string }>(
  ({ lost }) => sql`
    INSERT INTO delivery_attempts (tenant_id, delivery_id, number, started_at, duration_ms, error)
    SELECT "tenantId", id, number, "startedAt", ${claimLease}, 'the worker was lost'
    FROM json_to_recordset(${lost}::json)
      AS l ("tenantId" bigint, id bigint, number int, "startedAt" timestamptz)`,
);

async function recordLost(system: SystemClient, taken: ClaimedRow[]): Promise<void> {
  const lost = taken.flatMap(({ tenantId, id, attempt, lostAt }) =>
    lostAt === null ? [] : [{ tenantId, id, number: attempt - 1, startedAt: lostAt }],
  );
  if (lost.length > 0) await system.$sql(insertLost, { lost: jsonRows(lost) });
}
