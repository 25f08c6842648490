const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/**
 * The schedule of webhook deliveries: timeouts, retries, the circuit breaker and pauses. Durations are in milliseconds.
 * `pnpm generate` writes these values into the documentation (docs/decisions/webhook-deliveries.md).
 */
export const deliverySchedule = {
  /** Timeout of a delivery attempt, including the time to connect. */
  attemptTimeout: 15 * second,
  connectTimeout: 5 * second,
  /** Delays between the attempts of a delivery. After the last delay, the server makes one final attempt. */
  waits: [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour],
  /**
   * Maximum random deviation from a delay, as a fraction of the delay. Jitter spreads the retries of deliveries that
   * failed at the same time.
   */
  jitter: 0.2,
  /** Maximum delay that the server accepts from a receiver's `Retry-After` header. */
  maxRetryAfter: 24 * hour,
  /**
   * Maximum number of deliveries per minute to a new subscription. The limit ends when the URL of the subscription
   * first responds with 2xx.
   */
  maxTrialsPerMinute: 10,
  /**
   * The circuit breaker of a subscription opens after `failures` consecutive failures. While the circuit is open, the
   * failing endpoint doesn't delay other endpoints, and its pending deliveries don't use up their attempts. Each time
   * the circuit opens again, it stays open twice as long as before, up to `maxOpening`.
   */
  breaker: { failures: 5, firstOpening: 5 * second, maxOpening: 5 * minute },
  /**
   * How long all attempts must fail before the server pauses a subscription. A 410 response pauses the subscription
   * immediately.
   */
  pauseAfter: 5 * day,
  /** Interval between the trial deliveries of a paused subscription. */
  pausedOpening: hour,
} as const;

const units = { day, hour, minute, second };

/** Formats a duration, for example as `5 minutes`. Uses the largest unit that gives a whole number. */
export function inWords(milliseconds: number): string {
  const [unit, length] = Object.entries(units).find(([, each]) => milliseconds % each === 0) ?? ['millisecond', 1];
  const count = milliseconds / length;
  return count === 1 ? `1 ${unit}` : `${count} ${unit}s`;
}
