const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/**
 * Determines when the server sends deliveries, retries them and gives up. Durations are in milliseconds. All
 * documents with these figures are generated from this object (docs/decisions/webhook-deliveries.md).
 */
export const deliverySchedule = {
  /** Timeout of a delivery attempt, including the time to connect. */
  attemptTimeout: 15 * second,
  connectTimeout: 5 * second,
  /** Delays after the first, second, … failed attempt. After the last delay, the server makes one final attempt. */
  waits: [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour],
  /**
   * Maximum random deviation from a delay, as a share of it. It spreads the retries of deliveries that failed together.
   */
  jitter: 0.2,
  /** Maximum delay that the server accepts from `Retry-After`. */
  maxRetryAfter: 24 * hour,
  /** Maximum deliveries per minute to a subscription until its URL first responds with 2xx. */
  maxTrialsPerMinute: 10,
  /**
   * The circuit breaker of a subscription opens after this many consecutive failures, so that a failing endpoint
   * neither delays others nor uses up the attempts of its pending deliveries. Each time it opens again, it stays open
   * twice as long.
   */
  breaker: { failures: 5, firstOpening: 5 * second, maxOpening: 5 * minute },
  /**
   * The server pauses a subscription after this time without a successful delivery. It also pauses the subscription
   * when the receiver responds with 410.
   */
  pauseAfter: 5 * day,
  /** Interval between the trial deliveries of a paused subscription. */
  pausedOpening: hour,
} as const;

const units = { day, hour, minute, second };

/** Formats a duration in the largest unit that divides it, such as `5 minutes`. */
export function inWords(milliseconds: number): string {
  const [unit, length] = Object.entries(units).find(([, each]) => milliseconds % each === 0) ?? ['millisecond', 1];
  const count = milliseconds / length;
  return count === 1 ? `1 ${unit}` : `${count} ${unit}s`;
}
