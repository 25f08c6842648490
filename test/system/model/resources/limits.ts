/* Models the rate limits of an API key (spec §8, docs/decisions/rate-and-concurrency-limits.md). */

export const perKey = 60;
export const perGroup = 30;

/**
 * Returns how many requests with a new API key succeed. The order of the requests doesn't matter, because rejected
 * requests don't count toward the limits.
 * @param byGroup the number of requests per endpoint group
 */
export function countAccepted(byGroup: readonly number[]): number {
  const ofGroups = byGroup.reduce((sum, count) => sum + Math.min(count, perGroup), 0);
  return Math.min(perKey, ofGroups);
}
