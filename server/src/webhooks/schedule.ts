/*
 * When what is sent, as functions of time alone (docs/decisions/webhook-deliveries.md).
 */
const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** How long is waited after the first, second, … failed attempt. After one more there is no next. Milliseconds. */
const waits = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];

/** How far a wait may be from the schedule, so that what failed together is not repeated together. */
const jitter = 0.2;

/** A receiver may ask for a longer wait, but for no longer than this. */
const longestRetryAfter = 24 * hour;

/** Attempts before a delivery is given up. */
export const maxAttempts = waits.length + 1;

interface FailedAttempt {
  /** Which attempt failed, from 1. */
  attempt: number;
  at: Date;
  /** What the receiver asked to wait, in milliseconds. */
  retryAfter?: number | undefined;
}

/** When to try again, or undefined when it was the last attempt. */
export function nextAttempt({ attempt, at, retryAfter = 0 }: FailedAttempt, random = Math.random): Date | undefined {
  const wait = waits[attempt - 1];
  if (wait === undefined) return undefined;
  const spread = wait * (1 - jitter + 2 * jitter * random());
  return new Date(at.getTime() + Math.max(spread, retryAfter));
}

/**
 * The wait that a `Retry-After` header asks for, in milliseconds: seconds or an HTTP date, at most a day; undefined
 * when it is neither (RFC 9110 §10.2.3).
 */
export function parseRetryAfter(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const wait = /^\d+$/.test(text)
    ? Number(text) * second
    : /^[A-Za-z]{3}/.test(text)
      ? Date.parse(/GMT$/.test(text) ? text : `${text} GMT`) - now.getTime()
      : NaN;
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), longestRetryAfter);
}

/**
 * An endpoint that fails this often in a row rests, so that it neither holds up others nor uses up the attempts of
 * what waits behind it. After a rest one delivery is tried; a success ends it all.
 */
export const breaker = {
  failures: 5,
  /** The first rest, doubled for each that follows. Milliseconds. */
  firstRest: 5 * second,
  longestRest: 5 * minute,
} as const;

/** A subscription pauses when nothing has got through for this long, or after a 410. Milliseconds. */
export const pauseAfter = 5 * 24 * hour;

/** How long a paused subscription rests between two tries. Milliseconds. */
export const pausedRest = hour;

/** How long one attempt may take, the connection being part of it. Milliseconds. */
export const attemptTimeout = 15 * second;
export const connectTimeout = 5 * second;

/** After this a delivery whose worker has not settled it may be taken by another. Milliseconds. */
export const claimLease = 2 * attemptTimeout;

/** How often due deliveries without a job are looked for, in milliseconds. */
export const sweepInterval = second;
