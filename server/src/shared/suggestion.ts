import { closest, distance } from 'fastest-levenshtein';

/** The maximum length of a name that `nearestName` compares. Comparing longer names would take too much time. */
const maxLength = 200;

/**
 * Returns the known name that is most similar to a misspelled name. Returns undefined if more than about a third of the
 * characters differ.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (known.length === 0 || name.length > maxLength) return undefined;
  const nearest = closest(name, known);
  return distance(name, nearest) <= Math.max(1, Math.round(name.length / 3)) ? nearest : undefined;
}
