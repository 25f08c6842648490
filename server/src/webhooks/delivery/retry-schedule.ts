import { deliverySchedule } from '@itsm-api/contract';

/*
 * Computes the retry schedule of deliveries. All functions are pure.
 */
const { attemptTimeout, jitter, maxRetryAfter } = deliverySchedule;

/** The part of the delivery schedule that a server for tests can shorten. The production values are the default. */
export interface RetrySchedule {
  waits: readonly number[];
  breaker: { failures: number; firstOpening: number; maxOpening: number };
  pauseAfter: number;
  pausedOpening: number;
  maxTrialsPerMinute: number;
}

/**
 * Returns the schedule with other delays between the attempts, in milliseconds. The times of the circuit breaker, of the
 * pause and of trials change in the same proportion as the sum of the delays. A circuit stays open for at least the
 * first delay.
 */
export function scaleSchedule(waits: readonly [number, ...number[]]): RetrySchedule {
  const { breaker, pauseAfter, pausedOpening, maxTrialsPerMinute } = deliverySchedule;
  const factor = sum(waits) / sum(deliverySchedule.waits);
  const openingOf = (milliseconds: number) => Math.max(Math.round(milliseconds * factor), waits[0]);
  return {
    waits,
    breaker: {
      failures: breaker.failures,
      firstOpening: openingOf(breaker.firstOpening),
      maxOpening: openingOf(breaker.maxOpening),
    },
    pauseAfter: Math.round(pauseAfter * factor),
    pausedOpening: openingOf(pausedOpening),
    maxTrialsPerMinute: Math.ceil(maxTrialsPerMinute / factor),
  };
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** How long a claim lasts, in milliseconds. After a claim has expired, another worker can claim the delivery. */
export const claimLease = 2 * attemptTimeout;

interface FailedAttempt {
  /** The number of the failed attempt, starting at 1. */
  attempt: number;
  /**
   * How many earlier attempts were lost because their worker stopped. The receiver didn't cause lost attempts, so they
   * don't count in the schedule.
   */
  lost?: number;
  /** The wait that the receiver requested with `Retry-After`, in milliseconds. */
  retryAfter?: number | undefined;
}

/** Returns the wait before the next attempt in milliseconds. Returns undefined after the last attempt. */
export function nextWait(
  { attempt, lost = 0, retryAfter = 0 }: FailedAttempt,
  { waits }: Pick<RetrySchedule, 'waits'> = deliverySchedule,
  random = Math.random,
): number | undefined {
  const wait = waits[attempt - lost - 1];
  if (wait === undefined) return undefined;
  return Math.round(Math.max(wait * (1 - jitter + 2 * jitter * random()), retryAfter));
}

/**
 * Parses a `Retry-After` header that contains seconds or an HTTP date (RFC 9110 §10.2.3). Returns the wait in
 * milliseconds, at most 24 hours. Returns undefined if the header is missing or has another format.
 */
export function parseRetryAfter(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const wait = /^\d+$/.test(text)
    ? Number(text) * 1000
    : /^[A-Za-z]{3}/.test(text)
      ? Date.parse(/GMT$/.test(text) ? text : `${text} GMT`) - now.getTime()
      : NaN;
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), maxRetryAfter);
}
