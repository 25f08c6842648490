const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/**
 * When deliveries are made, made again and given up. The server goes by these figures, and every document that names
 * one is made from them (docs/decisions/webhook-deliveries.md). Milliseconds, where nothing else is said.
 */
export const deliverySchedule = {
  /** How long one attempt may take, the connection being part of it. */
  attemptTimeout: 15 * second,
  connectTimeout: 5 * second,
  /** How long is waited after the first, second, … failed attempt. After one more there is no next. */
  waits: [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour],
  /** How far a wait may be from that, as a share, so that what failed together is not repeated together. */
  jitter: 0.2,
  /** A receiver may ask for a longer wait, but for no longer than this. */
  longestRetryAfter: 24 * hour,
  /** Deliveries per minute to a subscription until its URL has responded with 2xx for the first time. */
  maxTrialsPerMinute: 10,
  /**
   * The circuit of a subscription opens after so many failures in a row, so that it neither holds up others nor uses up
   * the attempts of what waits behind it. The first opening is doubled for each that follows.
   */
  breaker: { failures: 5, firstOpening: 5 * second, longestOpening: 5 * minute },
  /** A subscription pauses when nothing has got through for this long, or after a 410. */
  pauseAfter: 5 * day,
  /** How long the circuit of a paused subscription is open between two probes. */
  pausedOpening: hour,
} as const;

const units = { day, hour, minute, second };

/** A length of time in the largest unit of which it is a whole number, as `5 minutes`. */
export function inWords(milliseconds: number): string {
  const [unit, length] = Object.entries(units).find(([, each]) => milliseconds % each === 0) ?? ['millisecond', 1];
  const count = milliseconds / length;
  return count === 1 ? `1 ${unit}` : `${count} ${unit}s`;
}
