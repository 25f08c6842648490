import { deliverySchedule } from '@itsm-api/contract';

/*
 * Computes the retry schedule of deliveries. All functions are pure.
 */
const { attemptTimeout, waits, jitter, maxRetryAfter } = deliverySchedule;

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
