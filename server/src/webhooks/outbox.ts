import { randomUUID } from 'node:crypto';
import { Prisma } from '../database/generated/client.ts';
import type { PrismaClient } from '../database/prisma.ts';
import { type Lane, laneKey } from './lanes.ts';
import { breaker, claimLease, nextAttempt, pauseAfter, pausedRest } from './schedule.ts';
import type { Outcome } from './send.ts';

/** A delivery that this process may attempt now, and nobody else. */
export interface ClaimedDelivery extends Lane {
  id: bigint;
  /** What settling it must present: another worker's claim has another. */
  claim: string;
  /** Which attempt this is, from 1. */
  attempt: number;
  /** Whether it is the one that is tried after a rest. */
  trial: boolean;
  url: string;
  /** Sealed. */
  secret: Uint8Array;
  eventId: string;
  eventType: string;
  body: string;
}

export interface Settlement {
  delivery: ClaimedDelivery;
  outcome: Outcome;
}

/** A lane and how many deliveries may be taken from it. */
export interface LaneSlots extends Lane {
  slots: number;
}

/**
 * Takes due deliveries out of lanes, at most so many of each, for `claimLease`. A lane that rests, or whose
 * subscription or tenant is inactive, gives none; one that has just rested gives one, to be tried.
 * An attempt that was begun and never settled is recorded as lost here.
 */
export async function claimDue(prisma: PrismaClient, lanes: LaneSlots[], now: Date): Promise<ClaimedDelivery[]> {
  const claim = randomUUID();
  const at = moment(now);
  const leaseEnd = moment(now, claimLease);
  const wanted = JSON.stringify(
    lanes.map((lane) => ({ t: String(lane.tenantId), s: String(lane.subscriptionId), n: lane.slots })),
  );
  const rows = await prisma.$queryRaw<Omit<ClaimedDelivery, 'claim'>[]>`
    WITH wanted AS (
      SELECT w.* FROM json_to_recordset(${wanted}::text::json) AS w (t bigint, s bigint, n int)
      JOIN tenants t ON t.id = w.t AND t.active
    ), trial AS (
      UPDATE webhook_subscriptions s SET rest_until = ${leaseEnd}
      FROM (
        SELECT r.tenant_id, r.id FROM webhook_subscriptions r JOIN wanted w ON r.tenant_id = w.t AND r.id = w.s
        WHERE r.active AND r.rest_until <= ${at} AND EXISTS (
          SELECT FROM deliveries WHERE tenant_id = w.t AND subscription_id = w.s
            AND state = 'PENDING' AND next_attempt_at <= ${at})
        FOR NO KEY UPDATE OF r SKIP LOCKED
      ) rested
      WHERE s.tenant_id = rested.tenant_id AND s.id = rested.id
      RETURNING s.tenant_id, s.id
    ), due AS (
      SELECT d.*, s.url, s.secret, trial.id IS NOT NULL AS trial
      FROM wanted w
      JOIN webhook_subscriptions s ON s.tenant_id = w.t AND s.id = w.s AND s.active
      LEFT JOIN trial ON trial.tenant_id = w.t AND trial.id = w.s
      CROSS JOIN LATERAL (
        SELECT tenant_id, id, subscription_id, attempts, claim, next_attempt_at FROM deliveries
        WHERE tenant_id = w.t AND subscription_id = w.s AND state = 'PENDING' AND next_attempt_at <= ${at}
        ORDER BY next_attempt_at
        LIMIT CASE WHEN s.rest_until IS NULL THEN w.n WHEN trial.id IS NOT NULL THEN 1 ELSE 0 END
        FOR NO KEY UPDATE SKIP LOCKED
      ) d
    ), lost AS (
      INSERT INTO delivery_attempts (tenant_id, delivery_id, number, started_at, duration_ms, error)
      SELECT tenant_id, id, attempts, next_attempt_at - ${interval(claimLease)}, ${claimLease}, 'the worker was lost'
      FROM due WHERE claim IS NOT NULL
    )
    UPDATE deliveries d
    SET attempts = d.attempts + 1, claim = ${claim}::uuid, next_attempt_at = ${leaseEnd}
    FROM due JOIN deliveries c ON c.tenant_id = due.tenant_id AND c.id = due.id
      JOIN events e ON e.tenant_id = c.tenant_id AND e.id = c.event_id
    WHERE d.tenant_id = due.tenant_id AND d.id = due.id
    RETURNING d.tenant_id AS "tenantId", d.id, d.subscription_id AS "subscriptionId", d.attempts AS attempt,
      due.trial, due.url, due.secret, e.public_id AS "eventId", e.type AS "eventType", e.body`;
  return rows.map((row) => ({ ...row, claim }));
}

/**
 * Records what came of attempts, many at once: each attempt, the delivery's next state, the subscription's health.
 * A delivery whose claim is no longer this one was taken over, and is left alone, attempt and all; of one that was
 * cancelled meanwhile the attempt is recorded.
 */
export async function settle(prisma: PrismaClient, settlements: Settlement[], now: Date): Promise<void> {
  const rows = JSON.stringify(settlements.map((settlement) => settlementRow(settlement, now)));
  const at = moment(now);
  await prisma.$executeRaw`
    WITH given AS (
      SELECT * FROM json_to_recordset(${rows}::text::json) AS g (
        t bigint, s bigint, id bigint, claim uuid, number int, state text, next timestamptz, delivered boolean, gone boolean, trial boolean,
        started timestamptz, duration int, status int, error text, answer text)
    ), locked AS MATERIALIZED (
      SELECT * FROM webhook_subscriptions WHERE (tenant_id, id) IN (SELECT t, s FROM given)
      ORDER BY tenant_id, id FOR NO KEY UPDATE
    ), settled AS (
      UPDATE deliveries d
      SET state = g.state, claim = NULL, next_attempt_at = COALESCE(g.next, d.next_attempt_at),
        settled_at = CASE WHEN g.state = 'PENDING' THEN NULL ELSE ${at} END
      FROM given g JOIN locked l ON l.tenant_id = g.t AND l.id = g.s
      WHERE d.tenant_id = g.t AND d.id = g.id AND d.claim = g.claim AND d.state = 'PENDING'
      RETURNING g.*
    ), attempt AS (
      INSERT INTO delivery_attempts (tenant_id, delivery_id, number, started_at, duration_ms, status, error, answer)
      SELECT t, id, number, started, duration, status, error, answer FROM settled
      UNION ALL
      SELECT g.t, g.id, number, started, duration, status, error, answer FROM given g
      JOIN deliveries d ON d.tenant_id = g.t AND d.id = g.id AND d.state = 'CANCELLED'
    ), health AS (
      SELECT t, s, bool_or(delivered) AS success, bool_or(gone) AS gone, bool_or(trial) AS trial,
        count(*) FILTER (WHERE NOT delivered) AS failures
      FROM settled GROUP BY t, s
    ), next AS (
      SELECT w.tenant_id, w.id, h.success, h.failures > 0 AS failure, h.gone,
        CASE WHEN h.success THEN 0 ELSE w.failures + h.failures END AS failures,
        CASE WHEN h.success THEN NULL ELSE COALESCE(w.failing_since, ${at}) END AS failing_since,
        COALESCE(w.rest_until > ${at}, false) AND NOT h.trial AS resting, w.rests, w.paused_at, w.paused_reason
      FROM health h JOIN locked w ON w.tenant_id = h.t AND w.id = h.s
    ), judged AS (
      SELECT *, NOT success AND (failures >= ${breaker.failures} OR paused_at IS NOT NULL OR gone) AS rest,
        CASE WHEN success THEN NULL WHEN paused_at IS NOT NULL THEN paused_reason
          WHEN gone THEN 'The endpoint answered 410 Gone.'
          WHEN failing_since <= ${moment(now, -pauseAfter)} THEN 'Every attempt has failed for 5 days.' END AS reason
      FROM next
    )
    UPDATE webhook_subscriptions w
    SET last_success_at = CASE WHEN j.success THEN ${at} ELSE w.last_success_at END,
      last_failure_at = CASE WHEN j.failure THEN ${at} ELSE w.last_failure_at END,
      failures = j.failures, failing_since = j.failing_since,
      rests = CASE WHEN j.success THEN 0 WHEN j.rest AND NOT j.resting THEN j.rests + 1 ELSE j.rests END,
      rest_until = CASE
        WHEN j.success THEN NULL
        WHEN j.reason IS NOT NULL THEN ${moment(now, pausedRest)}
        WHEN j.resting OR NOT j.rest THEN w.rest_until
        ELSE ${at} + least(${interval(breaker.firstRest)} * (2 ^ least(j.rests, 20)), ${interval(breaker.longestRest)})
      END,
      paused_at = CASE WHEN j.reason IS NULL THEN NULL ELSE COALESCE(j.paused_at, ${at}) END,
      paused_reason = j.reason
    FROM judged j
    WHERE w.tenant_id = j.tenant_id AND w.id = j.id`;
}

/**
 * The lanes that have something due, but for those given. Steps from lane to lane on the index of what is pending, so
 * that it costs what there are lanes, not what waits in them.
 */
export async function findDueLanes(prisma: PrismaClient, except: Lane[], now: Date): Promise<Lane[]> {
  const at = moment(now);
  return prisma.$queryRaw<Lane[]>`
    WITH RECURSIVE lane AS (
      (SELECT tenant_id, subscription_id FROM deliveries WHERE state = 'PENDING'
       ORDER BY tenant_id, subscription_id LIMIT 1)
      UNION ALL
      SELECT d.tenant_id, d.subscription_id FROM lane CROSS JOIN LATERAL (
        SELECT tenant_id, subscription_id FROM deliveries
        WHERE state = 'PENDING' AND (tenant_id, subscription_id) > (lane.tenant_id, lane.subscription_id)
        ORDER BY tenant_id, subscription_id LIMIT 1
      ) d
    )
    SELECT lane.tenant_id AS "tenantId", lane.subscription_id AS "subscriptionId" FROM lane
    JOIN tenants t ON t.id = lane.tenant_id AND t.active
    JOIN webhook_subscriptions s ON s.tenant_id = lane.tenant_id AND s.id = lane.subscription_id AND s.active
      AND (s.rest_until IS NULL OR s.rest_until <= ${at})
    WHERE lane.tenant_id || ':' || lane.subscription_id <> ALL (${except.map(laneKey)})
      AND EXISTS (
        SELECT FROM deliveries d WHERE d.tenant_id = lane.tenant_id AND d.subscription_id = lane.subscription_id
          AND d.state = 'PENDING' AND d.next_attempt_at <= ${at})
    ORDER BY lane.tenant_id, lane.subscription_id`;
}

function settlementRow({ delivery, outcome }: Settlement, now: Date) {
  const { delivered, status, retryAfter } = outcome;
  const next = delivered ? undefined : nextAttempt({ attempt: delivery.attempt, at: now, retryAfter });
  return {
    t: String(delivery.tenantId),
    s: String(delivery.subscriptionId),
    id: String(delivery.id),
    claim: delivery.claim,
    number: delivery.attempt,
    state: delivered ? 'DELIVERED' : next === undefined ? 'EXHAUSTED' : 'PENDING',
    next: next?.toISOString() ?? null,
    delivered,
    gone: status === 410,
    trial: delivery.trial,
    started: outcome.startedAt.toISOString(),
    duration: outcome.durationMs,
    status,
    error: outcome.error,
    answer: outcome.answer,
  };
}

function interval(milliseconds: number): Prisma.Sql {
  return Prisma.sql`(${milliseconds}::float8 * interval '1 millisecond')`;
}

/** A moment, so many milliseconds from another. */
function moment(from: Date, milliseconds = 0): Prisma.Sql {
  return Prisma.sql`${new Date(from.getTime() + milliseconds)}::timestamptz`;
}
