import { randomUUID } from 'node:crypto';
import { deliverySchedule } from '@itsm-api/contract';
import type { Prisma } from '../../../generated/prisma/client.ts';
import type { PrismaClient } from '../../database/client/prisma.ts';
import { refKey, type SubscriptionRef } from '../subscription-ref.ts';
import { circuitOf } from './circuit-breaker.ts';
import { jsonRows } from './json-rows.ts';
import { claimLease } from './retry-schedule.ts';

/** A delivery that this process may attempt now, and nobody else. */
export interface ClaimedDelivery extends SubscriptionRef {
  id: bigint;
  /** What settling it must present: another worker's claim has another. */
  claim: string;
  /** When it was claimed, by the clock of the database: that is when its attempt counts as begun. */
  claimedAt: Date;
  /** Since when it was due, by `performance.now()` of this process. */
  dueSince: number;
  /** Which attempt this is, from 1. */
  attempt: number;
  /** How many of those before ended with their worker. */
  lost: number;
  /** Whether it is the one that is tried while the circuit is half-open. */
  probe: boolean;
  url: string;
  /** Encrypted. */
  secret: Uint8Array;
  /** The one before, while it signs, too. */
  previousSecret: Uint8Array | null;
  eventId: string;
  eventType: string;
  body: string;
  /** What its event was written in, as a `traceparent`; null where nobody traced. */
  traceParent: string | null;
}

/** A subscription and how many deliveries to it may be taken. */
export interface Wanted extends SubscriptionRef {
  slots: number;
}

/** Reduces the slots of a subscription to what its target allows. */
export type Grant = (wanted: Wanted, url: string) => number;

const { maxTrialsPerMinute } = deliverySchedule;

/** What a claim has to know of a subscription. */
interface Subscription extends SubscriptionRef {
  url: string;
  secret: Uint8Array;
  previousSecret: Uint8Array | null;
  openUntil: Date | null;
  /** Whether its URL has never responded with 2xx. */
  unproven: boolean;
  now: Date;
}

/** A due delivery as it is taken. */
type Taken = SubscriptionRef &
  Pick<ClaimedDelivery, 'id' | 'attempt' | 'lost' | 'eventId' | 'eventType' | 'body' | 'traceParent'> & {
    dueAt: Date;
    /** When it had been taken before, where the worker that had it never settled it. */
    lostAt: Date | null;
  };

/**
 * Takes due deliveries, at most so many to each subscription, for `claimLease` and in one short transaction: none where
 * subscription or tenant is inactive or the circuit is open, and one to be the probe where it is half-open.
 * An attempt that was begun and never settled is recorded as lost here.
 * A subscription whose URL has never responded with 2xx gets at most 10 a minute, over all workers.
 * @param grant is called once for each subscription that may be sent to, also if the result of this claim is 0
 */
export function claimDue(
  prisma: PrismaClient,
  wanted: Wanted[],
  grant: Grant = ({ slots }) => slots,
): Promise<ClaimedDelivery[]> {
  const claim = randomUUID();
  const asked = performance.now();
  return prisma.$transaction(async (tx) => {
    const subscriptions = new Map((await readActive(tx, wanted)).map((row) => [refKey(row), row]));
    const circuitAt = (ref: SubscriptionRef) => {
      const found = subscriptions.get(refKey(ref));
      return found && circuitOf(found, found.now);
    };
    const isUnproven = (ref: SubscriptionRef) => subscriptions.get(refKey(ref))?.unproven === true;
    const trials = await countTrials(
      tx,
      wanted.filter((each) => isUnproven(each) && circuitAt(each) !== 'open'),
    );
    const granted = wanted.flatMap((each) => {
      const { url } = subscriptions.get(refKey(each)) ?? {};
      const most = circuitAt(each) === 'half-open' ? 1 : each.slots;
      // Another transaction may hold the row just now: the subscription gets none, and stays in turn.
      const trialsLeft = isUnproven(each) ? (trials.get(refKey(each)) ?? 0) : most;
      if (url === undefined || circuitAt(each) === 'open' || trials.get(refKey(each)) === 0) return [];
      const slots = grant({ ...each, slots: Math.min(most, trialsLeft) }, url);
      return slots > 0 ? [{ ...each, slots }] : [];
    });
    const probed = await lockHalfOpen(
      tx,
      granted.filter((each) => circuitAt(each) === 'half-open'),
    );
    const taken = await takeDue(tx, claim, [
      ...granted.filter((each) => circuitAt(each) === 'closed'),
      ...probed.map((each) => ({ ...each, slots: 1 })),
    ]);

    const probes = new Set(probed.map(refKey));
    await holdOpen(
      tx,
      probed.filter((each) => taken.some((delivery) => refKey(delivery) === refKey(each))),
    );
    await recordTrials(tx, taken.filter(isUnproven));
    await recordLost(tx, taken);
    return taken.flatMap(({ lostAt: _, dueAt, ...delivery }) => {
      const found = subscriptions.get(refKey(delivery));
      if (found === undefined) return [];
      const { url, secret, previousSecret, now } = found;
      const dueSince = asked - (now.getTime() - dueAt.getTime());
      const probe = probes.has(refKey(delivery));
      return [{ ...delivery, claim, claimedAt: now, dueSince, probe, url, secret, previousSecret }];
    });
  });
}

/** The active ones of active tenants, as they are now. */
function readActive(tx: Prisma.TransactionClient, refs: SubscriptionRef[]): Promise<Subscription[]> {
  return tx.$queryRaw`
    SELECT s.tenant_id AS "tenantId", s.id AS "subscriptionId", s.url, s.secret,
      CASE WHEN s.previous_secret_until > now() THEN s.previous_secret END AS "previousSecret",
      s.open_until AS "openUntil", s.first_succeeded_at IS NULL AS unproven, now() AS now
    FROM json_to_recordset(${jsonRows(refs)}::text::json) AS w ("tenantId" bigint, "subscriptionId" bigint)
    JOIN webhook_subscriptions s ON s.tenant_id = w."tenantId" AND s.id = w."subscriptionId" AND s.active
    JOIN tenants t ON t.id = s.tenant_id AND t.active`;
}

/** How many more deliveries a minute allows to each; locks the rows, and leaves out those that are locked. */
async function countTrials(tx: Prisma.TransactionClient, refs: SubscriptionRef[]): Promise<Map<string, number>> {
  if (refs.length === 0) return new Map();
  const rows = await tx.$queryRaw<(SubscriptionRef & { left: number })[]>`
    SELECT s.tenant_id AS "tenantId", s.id AS "subscriptionId", ${maxTrialsPerMinute}::int - (
      SELECT count(*) FROM unnest(s.trial_attempts) AS began WHERE began > now() - interval '1 minute')::int AS left
    FROM json_to_recordset(${jsonRows(refs)}::text::json) AS w ("tenantId" bigint, "subscriptionId" bigint)
    JOIN webhook_subscriptions s ON s.tenant_id = w."tenantId" AND s.id = w."subscriptionId"
    FOR NO KEY UPDATE OF s SKIP LOCKED`;
  return new Map(rows.map((row) => [refKey(row), row.left]));
}

/** Notes when attempts began, for `countTrials`. */
async function recordTrials(tx: Prisma.TransactionClient, taken: SubscriptionRef[]): Promise<void> {
  if (taken.length === 0) return;
  const rows = taken.map(({ tenantId, subscriptionId }) => ({ tenantId, subscriptionId }));
  await tx.$executeRaw`
    UPDATE webhook_subscriptions s
    SET trial_attempts = array_fill(now(), ARRAY[w.count])
      || ARRAY(SELECT began FROM unnest(s.trial_attempts) AS began WHERE began > now() - interval '1 minute')
    FROM (
      SELECT "tenantId", "subscriptionId", count(*)::int AS count
      FROM json_to_recordset(${jsonRows(rows)}::text::json) AS g ("tenantId" bigint, "subscriptionId" bigint)
      GROUP BY 1, 2
    ) w
    WHERE s.tenant_id = w."tenantId" AND s.id = w."subscriptionId"`;
}

/** Those that are half-open still, each for one worker at a time. */
async function lockHalfOpen(tx: Prisma.TransactionClient, refs: SubscriptionRef[]): Promise<SubscriptionRef[]> {
  if (refs.length === 0) return [];
  return tx.$queryRaw`
    SELECT s.tenant_id AS "tenantId", s.id AS "subscriptionId"
    FROM json_to_recordset(${jsonRows(refs)}::text::json) AS w ("tenantId" bigint, "subscriptionId" bigint)
    JOIN webhook_subscriptions s ON s.tenant_id = w."tenantId" AND s.id = w."subscriptionId"
    WHERE s.active AND s.open_until <= now()
    FOR NO KEY UPDATE OF s SKIP LOCKED`;
}

/**
 * What has been due for longest, as far as nobody else is taking it. The limit over all leaves nothing out: PostgreSQL
 * takes those of each, which it can't know beforehand, for a tenth of all that waits, and would read the whole table.
 */
async function takeDue(tx: Prisma.TransactionClient, claim: string, wanted: Wanted[]): Promise<Taken[]> {
  if (wanted.length === 0) return [];
  return tx.$queryRaw`
    WITH due AS MATERIALIZED (
      SELECT d.*
      FROM json_to_recordset(${jsonRows(wanted)}::text::json) AS w ("tenantId" bigint, "subscriptionId" bigint, slots int)
      CROSS JOIN LATERAL (
        SELECT tenant_id, id, event_id, next_attempt_at AS due_at,
          CASE WHEN claim IS NOT NULL THEN next_attempt_at END AS lease_end FROM deliveries
        WHERE tenant_id = w."tenantId" AND subscription_id = w."subscriptionId"
          AND state = 'PENDING' AND next_attempt_at <= now()
        ORDER BY next_attempt_at LIMIT w.slots
        FOR NO KEY UPDATE SKIP LOCKED
      ) d
      LIMIT ${wanted.reduce((sum, { slots }) => sum + slots, 0)}
    )
    UPDATE deliveries d
    SET attempts = d.attempts + 1, lost = d.lost + (due.lease_end IS NOT NULL)::int,
      claim = ${claim}::uuid, next_attempt_at = now() + ${claimLease}::int * interval '1 millisecond'
    FROM due JOIN events e ON e.tenant_id = due.tenant_id AND e.id = due.event_id
    WHERE d.tenant_id = due.tenant_id AND d.id = due.id
    RETURNING d.tenant_id AS "tenantId", d.id, d.subscription_id AS "subscriptionId", d.attempts AS attempt, d.lost,
      e.public_id AS "eventId", e.type AS "eventType", e.body,
      e.trace_parent AS "traceParent", due.due_at AS "dueAt",
      due.lease_end - ${claimLease}::int * interval '1 millisecond' AS "lostAt"`;
}

/** Keeps the circuit open for all others while the probe is under way, and no longer if it is lost. */
async function holdOpen(tx: Prisma.TransactionClient, refs: SubscriptionRef[]): Promise<void> {
  if (refs.length === 0) return;
  await tx.$executeRaw`
    UPDATE webhook_subscriptions s SET open_until = now() + ${claimLease}::int * interval '1 millisecond'
    FROM json_to_recordset(${jsonRows(refs)}::text::json) AS w ("tenantId" bigint, "subscriptionId" bigint)
    WHERE s.tenant_id = w."tenantId" AND s.id = w."subscriptionId"`;
}

async function recordLost(tx: Prisma.TransactionClient, taken: Taken[]): Promise<void> {
  const lost = taken.flatMap(({ tenantId, id, attempt, lostAt }) =>
    lostAt === null ? [] : [{ tenantId, id, number: attempt - 1, startedAt: lostAt }],
  );
  if (lost.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO delivery_attempts (tenant_id, delivery_id, number, started_at, duration_ms, error)
    SELECT "tenantId", id, number, "startedAt", ${claimLease}, 'the worker was lost'
    FROM json_to_recordset(${jsonRows(lost)}::text::json)
      AS l ("tenantId" bigint, id bigint, number int, "startedAt" timestamptz)`;
}
