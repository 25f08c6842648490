import { deliverySchedule, inWords, type WebhookHealth } from '@itsm-api/contract';
import { sql, tenant } from '../../database/client/sql.ts';
import { command } from '../../database/client/statements.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import type { RetrySchedule } from './retry-schedule.ts';

/*
 * Computes the health of a subscription: whether its circuit is closed, open or half-open, and whether it is paused.
 * Also makes open circuits half-open (docs/decisions/webhook-deliveries.md).
 */

/** The columns that store a subscription's health. */
export interface Health {
  lastSuccessAt: Date | null;
  lastFailureAt: Date | null;
  /** The number of failed attempts since the last success. `failingSince` is the time of the first of them. */
  failures: number;
  failingSince: Date | null;
  /** When the open circuit becomes half-open, or null if the circuit is closed. */
  openUntil: Date | null;
  /** How often the circuit has opened since the last success. */
  openings: number;
  pausedAt: Date | null;
  pausedReason: string | null;
}

/** The part of an attempt's outcome that affects the subscription's health. */
export interface HealthSignal {
  delivered: boolean;
  /** Whether the receiver responded with 410 Gone. */
  gone: boolean;
  /** Whether the attempt was the probe, the only attempt that a half-open circuit allows. */
  probe: boolean;
}

/**
 * The state of the circuit. Workers send all deliveries if it is closed, and none if it is open. If the circuit is
 * half-open, a worker sends one delivery, and the outcome of this delivery closes or opens the circuit.
 */
export type Circuit = 'closed' | 'open' | 'half-open';

export function getCircuit({ openUntil }: Pick<Health, 'openUntil'>, now: Date): Circuit {
  if (openUntil === null) return 'closed';
  return openUntil > now ? 'open' : 'half-open';
}

/** A subscription's health as the API, the developer area and the command line show it. */
export interface PresentedHealth {
  health: WebhookHealth;
  /** A text for users that explains why the subscription isn't healthy. Null if `health` needs no explanation. */
  healthReason: string | null;
  /**
   * When the circuit breaker allows the next attempt. Null if the circuit isn't open, or if a user has paused the
   * subscription.
   */
  nextAttemptAt: Date | null;
  pausedAt: Date | null;
  /**
   * Why the subscription is paused, or null. `QUOTA` takes precedence over other reasons, because only the quota stops
   * the server from queueing new events.
   */
  pausedReason: string | null;
}

const quotaReason =
  'The workspace has reached its limit of pending deliveries. The server still sends them, but queues no new events. ' +
  'To catch up, read the change feeds.';

type HealthRow = Health & { active: boolean; held: boolean; quotaReachedAt: Date | null };

/** Serializes a subscription's health at the time `now`. */
export function presentHealth(row: HealthRow, now: Date): PresentedHealth {
  const { active, held, failures, openUntil, pausedAt, pausedReason, quotaReachedAt } = row;
  const pause = { pausedAt, pausedReason };
  if (!active) return { health: 'INACTIVE', healthReason: null, nextAttemptAt: null, ...pause };
  const nextAttemptAt = !held && openUntil !== null && openUntil > now ? openUntil : null;
  if (quotaReachedAt !== null) {
    const healthReason = pausedReason === null ? quotaReason : `${pausedReason} ${quotaReason}`;
    return { health: 'PAUSED', healthReason, nextAttemptAt, pausedAt: quotaReachedAt, pausedReason: 'QUOTA' };
  }
  if (pausedAt !== null) return { health: 'PAUSED', healthReason: pausedReason, nextAttemptAt, ...pause };
  if (failures === 0) return { health: 'HEALTHY', healthReason: null, nextAttemptAt, ...pause };
  const healthReason = failures === 1 ? 'The last attempt failed.' : `The last ${failures} attempts failed.`;
  return { health: nextAttemptAt === null ? 'RETRYING' : 'CIRCUIT_OPEN', healthReason, nextAttemptAt, ...pause };
}

/** Returns a subscription's health after one more attempt. */
export function afterAttempt(
  health: Health,
  signal: HealthSignal,
  now: Date,
  schedule: RetrySchedule = deliverySchedule,
): Health {
  return signal.delivered ? afterSuccess(health, now) : afterFailure(health, { ...signal, ...schedule, now });
}

/** Returns the health after a success. One success closes the circuit and resumes the subscription. */
function afterSuccess({ lastFailureAt }: Health, now: Date): Health {
  return {
    lastSuccessAt: now,
    lastFailureAt,
    failures: 0,
    failingSince: null,
    openUntil: null,
    openings: 0,
    pausedAt: null,
    pausedReason: null,
  };
}

type Failure = Omit<HealthSignal, 'delivered'> & RetrySchedule & { now: Date };

function afterFailure(health: Health, failure: Failure): Health {
  const { probe, breaker, pausedOpening, now } = failure;
  const failures = health.failures + 1;
  const failingSince = health.failingSince ?? now;
  const pausedReason = health.pausedReason ?? findPauseReason(failure, failingSince);
  const failed: Health = {
    ...health,
    lastFailureAt: now,
    failures,
    failingSince,
    pausedAt: pausedReason === null ? null : (health.pausedAt ?? now),
    pausedReason,
  };

  // An attempt may fail that was already in flight when the circuit opened. Unless this failure pauses the
  // subscription, the circuit must not stay open for longer.
  const isLate = getCircuit(health, now) === 'open' && !probe;
  const pausesNow = pausedReason !== null && health.pausedReason === null;
  const opens = pausedReason !== null || failures >= breaker.failures;
  if (!opens || (isLate && !pausesNow)) return failed;
  const opening = pausedReason === null ? getOpeningMs(breaker, health.openings) : pausedOpening;
  return { ...failed, openUntil: new Date(now.getTime() + opening), openings: health.openings + 1 };
}

function findPauseReason({ gone, pauseAfter, now }: Failure, failingSince: Date): string | null {
  if (gone) return 'The endpoint returned 410 Gone.';
  if (now.getTime() - failingSince.getTime() < pauseAfter) return null;
  return `Every attempt failed for ${inWords(pauseAfter)}.`;
}

/**
 * Returns how long the circuit stays open, in milliseconds.
 * @param before how often the circuit has opened since the last success
 */
function getOpeningMs(breaker: RetrySchedule['breaker'], before: number): number {
  return Math.min(breaker.firstOpening * 2 ** before, breaker.maxOpening);
}

const shortenOpening = command<{ ids: bigint[] }>(
  ({ ids }) => sql`UPDATE webhook_subscriptions SET open_until = least(open_until, now())
    WHERE tenant_id = ${tenant} AND id = ANY (${ids}::bigint[]) AND open_until IS NOT NULL AND NOT held`,
);

/**
 * Makes open circuits half-open, so a worker sends the next attempt immediately. Skips closed circuits, and circuits
 * that are open because a user set `paused: true`. Doesn't change `updatedAt`. Resolves to true if any of the circuits
 * is now half-open.
 */
export async function halfOpen(db: Pick<TenantClient, '$sql'>, subscriptionIds: bigint[]): Promise<boolean> {
  return (await db.$sql(shortenOpening, { ids: subscriptionIds })) > 0;
}

const makeFirst = command<{ id: bigint }>(
  ({ id }) => sql`UPDATE deliveries d SET next_attempt_at = least(now(), (
      SELECT min(next_attempt_at) - interval '1 millisecond' FROM deliveries
      WHERE tenant_id = ${tenant} AND subscription_id = d.subscription_id AND state = 'PENDING'))
    WHERE tenant_id = ${tenant} AND id = ${id} AND state = 'PENDING' AND claim IS NULL`,
);

/**
 * Moves a pending delivery to the front of its subscription's queue. The delivery then becomes the probe of a half-open
 * circuit.
 */
export async function moveToFront(db: Pick<TenantClient, '$sql'>, id: bigint): Promise<void> {
  await db.$sql(makeFirst, { id });
}
