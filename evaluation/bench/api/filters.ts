import type { Data } from './data.ts';
import type { Measured } from './servers.ts';
import { requestsOf, shoot } from './shots.ts';

/** The latency of a filtered list, measured with one request at a time and no other load. */
export interface FilterResult {
  query: string;
  p50Ms: number;
  p99Ms: number;
}

/** Two values for each filter: a single common value, and a list of common values. */
export const filterValues = {
  status: ['OPEN', 'OPEN,PENDING,RESOLVED'],
  priority: ['LOW', 'LOW,HIGH'],
  type: ['INCIDENT', 'INCIDENT,CHANGE'],
  category: ['NETWORK', 'NETWORK,EMAIL'],
  assigneeId: ['5', '5,6,7'],
} as const;

/** Filters that match no ticket of the tenant. */
const withoutMatch: Record<string, string>[] = [
  { assigneeId: '999999999' },
  { status: 'CANCELLED', priority: 'CRITICAL' },
];

/**
 * Measures ticket lists with every combination of filters. For each combination, measures the lists with one value per
 * filter, with several values per filter, and with values that match no ticket. Also measures page 2,000 of the list
 * with one value per filter.
 */
export async function measureFilters(
  server: Measured,
  { data, onProgress }: { data: Data; onProgress: (text: string) => void },
): Promise<FilterResult[]> {
  const results: FilterResult[] = [];
  const queries = combinations(Object.keys(filterValues) as (keyof typeof filterValues)[]).flatMap(queriesOf);
  for (const [i, query] of queries.entries()) {
    if (i % 10 === 0) onProgress(`lists by filters: ${i} of ${queries.length}`);
    const requests = requestsOf({ method: 'GET', paths: () => [`/tickets?${query}`] }, data);
    const { p50Ms, p99Ms } = await shoot(server, { connections: 1, seconds: 1, requests });
    results.push({ query, p50Ms, p99Ms });
  }
  return results;
}

function queriesOf(names: (keyof typeof filterValues)[]): string[] {
  const query = (of: Record<string, string>) => names.map((name) => `${name}=${of[name]}`).join('&');
  const one = Object.fromEntries(names.map((name) => [name, filterValues[name][0]]));
  const several = Object.fromEntries(names.map((name) => [name, filterValues[name][1]]));
  const without = withoutMatch.filter((none) => Object.keys(none).every((name) => (names as string[]).includes(name)));
  const deep = `${query(one)}&page=2000`;
  return [query(one), query(several), ...without.map((none) => query({ ...one, ...none })), deep];
}

/** Returns every non-empty combination of names, from the smallest to the largest. */
export function combinations<Name>(names: Name[]): Name[][] {
  const all: Name[][] = [[]];
  for (const name of names) all.push(...all.map((chosen) => [...chosen, name]));
  return all.slice(1).sort((a, b) => a.length - b.length);
}
