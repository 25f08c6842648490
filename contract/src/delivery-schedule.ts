const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/**
 * When the server sends, retries and gives up deliveries, in milliseconds unless the name says otherwise. Every document
 * that states one of these figures is generated from them (docs/decisions/webhook-deliveries.md).
 */
export const deliverySchedule = {
  /** Timeout of an attempt, including the connection. */
  attemptTimeout: 15 * second,
  connectTimeout: 5 * second,
  /** Delays after the first, second, … failed attempt. The attempt after the last delay is the final one. */
  waits: [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour],
  /** Maximum relative deviation from a delay, so that deliveries that failed together are not retried together. */
  jitter: 0.2,
  /** Maximum delay that the server accepts from `Retry-After`. */
  maxRetryAfter: 24 * hour,
  /** Maximum deliveries per minute to a subscription until its URL first responds with 2xx. */
  maxTrialsPerMinute: 10,
  /**
   * The circuit breaker of a subscription opens after this many consecutive failures, so that a failing endpoint neither
   * delays others nor uses up the attempts of its pending deliveries. Each further opening takes twice as long.
   */
  breaker: { failures: 5, firstOpening: 5 * second, maxOpening: 5 * minute },
  /** A subscription is paused after this long without a success, or after a 410. */
  pauseAfter: 5 * day,
  /** Interval between the trials of a paused subscription. */
  pausedOpening: hour,
} as const;

const units = { day, hour, minute, second };

/** Formats a duration in the largest unit that divides it, such as `5 minutes`. */
export function inWords(milliseconds: number): string {
  const [unit, length] = Object.entries(units).find(([, each]) => milliseconds % each === 0) ?? ['millisecond', 1];
  const count = milliseconds / length;
  return count === 1 ? `1 ${unit}` : `${count} ${unit}s`;
}
