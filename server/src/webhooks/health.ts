import { deliverySchedule, inWords } from '@itsm-api/contract';

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
export interface Sign {
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

/** How a subscription does, for people. */
export interface HealthInWords {
  /** `resting` while its circuit is open; `retrying` when it has failed of late, and is tried. */
  state: 'healthy' | 'retrying' | 'resting' | 'paused' | 'inactive';
  /** Why it isn't healthy; null where there is nothing to say. */
  because: string | null;
  /** When it is tried next; null where that isn't kept from it, or nothing is tried until somebody resumes it. */
  until: Date | null;
}

/** What is told of the health that a row says, at a moment. */
export function inHealthWords(row: Health & { active: boolean; held: boolean }, now: Date): HealthInWords {
  const { active, held, failures, openUntil, pausedAt, pausedReason } = row;
  if (!active) return { state: 'inactive', because: null, until: null };
  const until = !held && openUntil !== null && openUntil > now ? openUntil : null;
  if (pausedAt !== null) return { state: 'paused', because: pausedReason, until };
  if (failures === 0) return { state: 'healthy', because: null, until };
  const because = failures === 1 ? 'The last attempt failed.' : `The last ${failures} attempts failed.`;
  return { state: until === null ? 'retrying' : 'resting', because, until };
}

/** The health after one more attempt. */
export function afterAttempt(health: Health, sign: Sign, now: Date): Health {
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

function afterFailure(health: Health, { gone, probe }: Sign, now: Date): Health {
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
  if (gone) return 'The endpoint answered 410 Gone.';
  if (now.getTime() - failingSince.getTime() < pauseAfter) return null;
  return `Every attempt has failed for ${inWords(pauseAfter)}.`;
}

/** For how long the circuit opens that has opened so often before. Milliseconds. */
function openingOf(before: number): number {
  return Math.min(breaker.firstOpening * 2 ** before, breaker.longestOpening);
}
