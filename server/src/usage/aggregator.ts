import type { TenantId } from '../shared/tenant-id.ts';
import { keyedEndpoints, latencyBuckets, outcomes } from './dimensions.ts';

/** The counts for requests with the same API key, endpoint and outcome. */
export interface Counts {
  requests: number;
  /** The number of requests per latency bucket (dimensions.ts). */
  latencies: number[];
  /** The peak usage of the API key's global rate limit window, in percent. */
  globalPeak: number;
  /** The peak usage of the API key's rate limit window for the endpoint group, in percent. */
  groupPeak: number;
}

/** Identifies a count. Requests with the same tenant, API key, endpoint and outcome are counted together. */
export interface UsageKey {
  tenantId: TenantId;
  /** The id of the API key, or 0 for the sum of all keys. */
  keyId: bigint;
  /** The number that `kindOf` returns for the endpoint and the outcome. */
  kind: number;
}

/**
 * Combines an endpoint and an outcome into a number. @param endpoint the index in `keyedEndpoints` @param outcome the
 * index in `outcomes`
 */
export function kindOf(endpoint: number, outcome: number): number {
  return endpoint * outcomes.length + outcome;
}

/** Returns the endpoint id and the outcome for a number that `kindOf` has returned. */
export function decodeKind(kind: number): { endpoint: string; outcome: string } {
  const endpoint = keyedEndpoints[Math.floor(kind / outcomes.length)];
  const outcome = outcomes[kind % outcomes.length];
  if (endpoint === undefined || outcome === undefined) throw new Error(`Unknown usage kind: ${kind}.`);
  return { endpoint: endpoint.id, outcome };
}

/** Adds `added` to `counts`. Each peak in `counts` becomes the higher one of the two peaks. */
export function addCounts(counts: Counts, added: Counts): void {
  counts.requests += added.requests;
  for (const [bucket, count] of added.latencies.entries()) {
    counts.latencies[bucket] = (counts.latencies[bucket] ?? 0) + count;
  }
  counts.globalPeak = Math.max(counts.globalPeak, added.globalPeak);
  counts.groupPeak = Math.max(counts.groupPeak, added.groupPeak);
}

/**
 * The counts for one minute. Nested maps are faster than a single map, which would need a text key for every request.
 */
export class UsageAggregator {
  readonly #counts = new Map<TenantId, Map<bigint, Map<number, Counts>>>();

  find({ tenantId, keyId, kind }: UsageKey): Counts | undefined {
    return this.#counts.get(tenantId)?.get(keyId)?.get(kind);
  }

  /** Adds an entry with zero counts and returns it. */
  begin({ tenantId, keyId, kind }: UsageKey): Counts {
    const counts = { requests: 0, latencies: Array<number>(latencyBuckets).fill(0), globalPeak: 0, groupPeak: 0 };
    getOrCreate(getOrCreate(this.#counts, tenantId), keyId).set(kind, counts);
    return counts;
  }

  /** Yields all counts in a fixed order. Otherwise, processes that write the same rows could cause a deadlock. */
  *[Symbol.iterator](): Generator<[UsageKey, Counts]> {
    for (const [tenantId, keys] of sorted(this.#counts)) {
      for (const [keyId, kinds] of sorted(keys)) {
        for (const [kind, counts] of sorted(kinds)) yield [{ tenantId, keyId, kind }, counts];
      }
    }
  }
}

function getOrCreate<Key, InnerKey, Value>(map: Map<Key, Map<InnerKey, Value>>, key: Key): Map<InnerKey, Value> {
  const existing = map.get(key);
  if (existing !== undefined) return existing;
  const created = new Map<InnerKey, Value>();
  map.set(key, created);
  return created;
}

function sorted<Key extends number | bigint, Value>(map: Map<Key, Value>): [Key, Value][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}
