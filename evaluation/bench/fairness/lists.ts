import { combinations, filterValues } from '../api/filters.ts';

/** The path of a list, and the latency of a single request without other load, in milliseconds. */
export interface ExpensiveList {
  path: string;
  ms: number;
}

const kept = 8;
const perPage = 100;

/**
 * Finds the slowest ticket lists with the maximum page size. Requests the first, middle and last page for every
 * combination of filters, with one or several values per filter. The greedy tenant later requests the slowest lists.
 */
export async function findExpensiveLists(url: string, key: string): Promise<ExpensiveList[]> {
  const names = Object.keys(filterValues) as (keyof typeof filterValues)[];
  const queries = combinations(names).flatMap((chosen) =>
    [0, 1].map((which) => chosen.map((name) => `${name}=${filterValues[name][which]}&`).join('')),
  );
  const tried: ExpensiveList[] = [];
  for (const query of ['', ...queries]) {
    const { totalCount } = await list(url, key, `/tickets?${query}perPage=${perPage}`);
    const last = Math.max(1, Math.ceil(totalCount / perPage));
    for (const page of new Set([1, Math.ceil(last / 2), last])) {
      const path = `/tickets?${query}perPage=${perPage}&page=${page}`;
      // The first request is not measured, because it prepares the SQL statement.
      await list(url, key, path);
      const times = [await list(url, key, path), await list(url, key, path)].map(({ ms }) => ms);
      tried.push({ path, ms: Math.round(Math.min(...times)) });
    }
  }
  return tried.sort((a, b) => b.ms - a.ms).slice(0, kept);
}

async function list(url: string, key: string, path: string): Promise<{ totalCount: number; ms: number }> {
  const began = performance.now();
  const response = await fetch(`${url}/api/public/v1${path}`, { headers: { 'x-api-key': key } });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path} returned ${response.status}: ${text}`);
  const ms = performance.now() - began;
  const { meta } = JSON.parse(text) as { meta: { totalCount: number } };
  return { totalCount: meta.totalCount, ms };
}
