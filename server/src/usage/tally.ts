import { keyedEndpoints, latencyBuckets, outcomes } from './shape.ts';

/** Requests of one key, of one minute or hour, that are alike: the same endpoint, the same outcome. */
export interface Counts {
  requests: number;
  /** By bucket (shape.ts). */
  latencies: number[];
  /** The highest share of its windows that the key had used. Percent. */
  globalPeak: number;
  groupPeak: number;
}

/** Where requests are counted. */
export interface Place {
  tenantId: bigint;
  /** Milliseconds since 1970. */
  at: number;
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

/** Counts by place, as many of them as it may hold. Maps of maps: a key of text would be made for every request. */
export class Tally {
  readonly #most: number;
  readonly #counts = new Map<number, Map<bigint, Map<bigint, Map<number, Counts>>>>();
  #size = 0;

  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most;
  }

  get size(): number {
    return this.#size;
  }

  /** The counts of a place; undefined where they would be one too many. */
  at({ tenantId, at, keyId, kind }: Place): Counts | undefined {
    const known = this.#counts.get(at)?.get(tenantId)?.get(keyId)?.get(kind);
    if (known !== undefined) return known;
    if (this.#size >= this.#most) return undefined;
    this.#size++;
    const counts = { requests: 0, latencies: Array<number>(latencyBuckets).fill(0), globalPeak: 0, groupPeak: 0 };
    inner(inner(inner(this.#counts, at), tenantId), keyId).set(kind, counts);
    return counts;
  }

  /** Adds what was counted elsewhere. Returns whether there was room. */
  add(place: Place, given: Counts): boolean {
    const counts = this.at(place);
    if (counts === undefined) return false;
    counts.requests += given.requests;
    for (const [bucket, count] of given.latencies.entries())
      counts.latencies[bucket] = (counts.latencies[bucket] ?? 0) + count;
    counts.globalPeak = Math.max(counts.globalPeak, given.globalPeak);
    counts.groupPeak = Math.max(counts.groupPeak, given.groupPeak);
    return true;
  }

  /** All there are, sorted: who writes rows in one order waits for nobody who waits for them. */
  *[Symbol.iterator](): Generator<[Place, Counts]> {
    for (const [at, tenants] of sorted(this.#counts)) {
      for (const [tenantId, keys] of sorted(tenants)) {
        for (const [keyId, kinds] of sorted(keys)) {
          for (const [kind, counts] of sorted(kinds)) yield [{ tenantId, at, keyId, kind }, counts];
        }
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
