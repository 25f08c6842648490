import type { TenantId } from '../shared/tenant-id.ts';
import { keyedEndpoints, latencyBuckets, outcomes } from './dimensions.ts';

/** Requests of one key that are alike: the same endpoint, the same outcome. */
export interface Counts {
  requests: number;
  /** By bucket (shape.ts). */
  latencies: number[];
  /** The highest share of its windows that the key had used. Percent. */
  globalPeak: number;
  groupPeak: number;
}

/** Which requests are counted together. */
export interface Place {
  tenantId: TenantId;
  /** 0 is all keys together. */
  keyId: bigint;
  /** The endpoint and the outcome, as `kindOf` numbers them. */
  kind: number;
}

/** Numbers what is counted apart. @param endpoint its place among `keyedEndpoints` @param outcome among `outcomes` */
export function kindOf(endpoint: number, outcome: number): number {
  return endpoint * outcomes.length + outcome;
}

/** The endpoint's id and the outcome of a kind. */
export function namesOf(kind: number): { endpoint: string; outcome: string } {
  const endpoint = keyedEndpoints[Math.floor(kind / outcomes.length)];
  const outcome = outcomes[kind % outcomes.length];
  if (endpoint === undefined || outcome === undefined) throw new Error(`There is no kind ${kind}.`);
  return { endpoint: endpoint.id, outcome };
}

/** Adds what was counted elsewhere. */
export function addCounts(counts: Counts, given: Counts): void {
  counts.requests += given.requests;
  for (const [bucket, count] of given.latencies.entries()) {
    counts.latencies[bucket] = (counts.latencies[bucket] ?? 0) + count;
  }
  counts.globalPeak = Math.max(counts.globalPeak, given.globalPeak);
  counts.groupPeak = Math.max(counts.groupPeak, given.groupPeak);
}

/** The counts of a minute, by place. Maps of maps: a key of text would be made for every request. */
export class UsageAggregator {
  readonly #counts = new Map<TenantId, Map<bigint, Map<number, Counts>>>();

  find({ tenantId, keyId, kind }: Place): Counts | undefined {
    return this.#counts.get(tenantId)?.get(keyId)?.get(kind);
  }

  /** Counts from nothing. */
  begin({ tenantId, keyId, kind }: Place): Counts {
    const counts = { requests: 0, latencies: Array<number>(latencyBuckets).fill(0), globalPeak: 0, groupPeak: 0 };
    inner(inner(this.#counts, tenantId), keyId).set(kind, counts);
    return counts;
  }

  /** All there are, sorted: who writes rows in one order waits for nobody who waits for them. */
  *[Symbol.iterator](): Generator<[Place, Counts]> {
    for (const [tenantId, keys] of sorted(this.#counts)) {
      for (const [keyId, kinds] of sorted(keys)) {
        for (const [kind, counts] of sorted(kinds)) yield [{ tenantId, keyId, kind }, counts];
      }
    }
  }
}

function inner<Key, InnerKey, Value>(map: Map<Key, Map<InnerKey, Value>>, key: Key): Map<InnerKey, Value> {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = new Map<InnerKey, Value>();
  map.set(key, made);
  return made;
}

function sorted<Key extends number | bigint, Value>(map: Map<Key, Value>): [Key, Value][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}
