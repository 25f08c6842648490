import { closest, distance } from 'fastest-levenshtein';

/** Maximum length of a name that is compared: comparing takes time in proportion to it. */
const maxLength = 200;

/** Returns the known name that a misspelled one probably means: about a third of its characters may differ. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (known.length === 0 || name.length > maxLength) return undefined;
  const nearest = closest(name, known);
  return distance(name, nearest) <= Math.max(1, Math.round(name.length / 3)) ? nearest : undefined;
}
