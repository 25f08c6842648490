import { deliverySchedule } from '@itsm-api/contract';

/*
 * When a delivery is tried again, as functions of time alone.
 */
const { attemptTimeout, waits, jitter, longestRetryAfter } = deliverySchedule;

/** After this a delivery whose worker has not settled it may be taken by another. Milliseconds. */
export const claimLease = 2 * attemptTimeout;

interface FailedAttempt {
  /** Which attempt failed, from 1. */
  attempt: number;
  /** How many of those before ended with their worker: they tell nothing of the receiver, and use up no wait. */
  lost?: number;
  /** What the receiver asked to wait, in milliseconds. */
  retryAfter?: number | undefined;
}

/** How long to wait until the next attempt, in milliseconds, or undefined when it was the last one. */
export function nextWait(
  { attempt, lost = 0, retryAfter = 0 }: FailedAttempt,
  random = Math.random,
): number | undefined {
  const wait = waits[attempt - lost - 1];
  if (wait === undefined) return undefined;
  return Math.round(Math.max(wait * (1 - jitter + 2 * jitter * random()), retryAfter));
}

/**
 * The wait that a `Retry-After` header asks for, in milliseconds: seconds or an HTTP date, at most a day; undefined
 * when it is neither (RFC 9110 §10.2.3).
 */
export function parseRetryAfter(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const wait = /^\d+$/.test(text)
    ? Number(text) * 1000
    : /^[A-Za-z]{3}/.test(text)
      ? Date.parse(/GMT$/.test(text) ? text : `${text} GMT`) - now.getTime()
      : NaN;
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), longestRetryAfter);
}
