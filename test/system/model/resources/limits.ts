/* Models the rate limits of an API key (spec §8, docs/decisions/rate-and-concurrency-limits.md). */

export const perKey = 60;
export const perGroup = 30;

/**
 * Returns how many requests of a new key succeed. The order of the requests doesn't matter, because a rejected request
 * counts in no window.
 * @param byGroup the number of requests per endpoint group
 */
export function countAccepted(byGroup: readonly number[]): number {
  const ofGroups = byGroup.reduce((sum, count) => sum + Math.min(count, perGroup), 0);
  return Math.min(perKey, ofGroups);
}
