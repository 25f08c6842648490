import { deliverySchedule, inWords, type WebhookHealth } from '@itsm-api/contract';

/*
 * The health of a subscription, as functions of what was and what happened: when its circuit is closed, open or
 * half-open, and when it pauses (docs/decisions/webhook-deliveries.md).
 */
const { breaker, pauseAfter, pausedOpening } = deliverySchedule;

/** How a subscription does; these are columns of its row. */
export interface Health {
  lastSuccessAt: Date | null;
  lastFailureAt: Date | null;
  /** Attempts that have failed since the last success, and since when. */
  failures: number;
  failingSince: Date | null;
  /** Until when the circuit is open; when that has passed it is half-open. Null while it is closed. */
  openUntil: Date | null;
  /** How often it has opened since the last success. */
  openings: number;
  pausedAt: Date | null;
  pausedReason: string | null;
}

/** What an attempt tells of the subscription. */
export interface HealthSignal {
  delivered: boolean;
  /** Whether the answer was 410. */
  gone: boolean;
  /** Whether it was the one attempt of a half-open circuit. */
  probe: boolean;
}

/** Closed: deliveries are made. Open: none is. Half-open: one is, and decides. */
export type Circuit = 'closed' | 'open' | 'half-open';

export function circuitOf({ openUntil }: Pick<Health, 'openUntil'>, now: Date): Circuit {
  if (openUntil === null) return 'closed';
  return openUntil > now ? 'open' : 'half-open';
}

/** The health of a subscription as the API, the developer area and the command line show it. */
export interface PresentedHealth {
  health: WebhookHealth;
  /** Why it isn't healthy, in a sentence; null if there is nothing to add. */
  healthReason: string | null;
  /** When the circuit breaker next allows an attempt; null if it holds nothing back, or if the owner paused it. */
  nextAttemptAt: Date | null;
  pausedAt: Date | null;
  /** `QUOTA` takes precedence: it is the one pause in which events are not queued. */
  pausedReason: string | null;
}

const quotaReason =
  'The workspace has reached its limit of pending deliveries. The server still sends them, but queues no new events. ' +
  'To catch up, read the change feeds.';

type HealthRow = Health & { active: boolean; held: boolean; quotaReachedAt: Date | null };

/** Presents the health that a row holds, at a moment. */
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

/** The health after one more attempt. */
export function afterAttempt(health: Health, sign: HealthSignal, now: Date): Health {
  return sign.delivered ? afterSuccess(health, now) : afterFailure(health, sign, now);
}

/** One success ends it all. */
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

function afterFailure(health: Health, { gone, probe }: HealthSignal, now: Date): Health {
  const failures = health.failures + 1;
  const failingSince = health.failingSince ?? now;
  const pausedReason = health.pausedReason ?? reasonToPause({ gone, failingSince, now });
  const failed: Health = {
    ...health,
    lastFailureAt: now,
    failures,
    failingSince,
    pausedAt: pausedReason === null ? null : (health.pausedAt ?? now),
    pausedReason,
  };

  // What was under way when the circuit opened says nothing new when it fails, too.
  const isLate = circuitOf(health, now) === 'open' && !probe;
  const pausesNow = pausedReason !== null && health.pausedReason === null;
  const opens = pausedReason !== null || failures >= breaker.failures;
  if (!opens || (isLate && !pausesNow)) return failed;
  const opening = pausedReason === null ? openingOf(health.openings) : pausedOpening;
  return { ...failed, openUntil: new Date(now.getTime() + opening), openings: health.openings + 1 };
}

function reasonToPause({ gone, failingSince, now }: { gone: boolean; failingSince: Date; now: Date }): string | null {
  if (gone) return 'The endpoint returned 410 Gone.';
  if (now.getTime() - failingSince.getTime() < pauseAfter) return null;
  return `Every attempt failed for ${inWords(pauseAfter)}.`;
}

/** For how long the circuit opens that has opened so often before. Milliseconds. */
function openingOf(before: number): number {
  return Math.min(breaker.firstOpening * 2 ** before, breaker.longestOpening);
}
