const initialDelayMs = 250;
const maxDelayMs = 2000;

/**
 * Returns the number of milliseconds to wait before the next attempt. The delay grows exponentially from 250 ms to 2
 * seconds. Jitter reduces it by up to half, so that different processes don't retry at the same time.
 */
export function backoffMs(failures: number): number {
  return Math.min(maxDelayMs, initialDelayMs * 2 ** failures) * (0.5 + Math.random() / 2);
}
