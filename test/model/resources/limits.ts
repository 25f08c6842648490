/*
 * The limits of a key (spec §8, docs/decisions/rate-and-concurrency-limits.md).
 */

export const perKey = 60;
export const perGroup = 30;

/**
 * How many of the requests of a new key are let through, in whatever order they come: a request that is refused takes from
 * neither window.
 * @param byGroup how many there are of each group
 */
export function letThrough(byGroup: readonly number[]): number {
  const ofGroups = byGroup.reduce((sum, count) => sum + Math.min(count, perGroup), 0);
  return Math.min(perKey, ofGroups);
}
