const firstMs = 250;
const longestMs = 2000;

/**
 * How long to wait before something is tried again that has failed so often: twice as long each time up to two seconds,
 * less up to a half of it by chance, so that not everybody comes back at once. Milliseconds.
 */
export function backoffMs(failures: number): number {
  return Math.min(longestMs, firstMs * 2 ** failures) * (0.5 + Math.random() / 2);
}
