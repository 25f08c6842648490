import { type Endpoint, type Group, pathPrefix } from '@itsm-api/contract';
import { contract } from '@itsm-api/contract/ts-rest';

/*
 * The dimensions of usage statistics: the endpoint, outcome and latency of a request
 * (docs/decisions/usage-statistics.md).
 */

/** An endpoint that requires an API key. */
export interface KeyedEndpoint {
  /** The operation id in the OpenAPI document. */
  id: string;
  /** The display name, such as `GET /tickets/{id}`. */
  call: string;
  group: Group;
  route: Endpoint;
}

/** The endpoints that require an API key, in the order of the contract. */
export const keyedEndpoints: readonly KeyedEndpoint[] = Object.entries(contract).flatMap(([resource, routes]) =>
  Object.entries(routes as Record<string, Endpoint>).flatMap(([name, route]) => {
    const { group } = route.metadata;
    const path = route.path.slice(pathPrefix.length).replace(/:(\w+)/g, '{$1}');
    return group === null ? [] : [{ id: `${resource}_${name}`, call: `${route.method} ${path}`, group, route }];
  }),
);

/** The outcome of a request: the class of its status (RFC 9110 §15), or the limit that rejected it. */
export const outcomes = [
  'SUCCESSFUL',
  'REDIRECTION',
  'CLIENT_ERROR',
  'SERVER_ERROR',
  'GLOBAL_LIMIT',
  'GROUP_LIMIT',
  'CONCURRENCY_LIMIT',
] as const;

export type Outcome = (typeof outcomes)[number];

/** The outcomes of requests that a limit rejected. */
export const rejectedOutcomes = ['GLOBAL_LIMIT', 'GROUP_LIMIT', 'CONCURRENCY_LIMIT'] as const satisfies Outcome[];

export type RejectedOutcome = (typeof rejectedOutcomes)[number];

/**
 * An API key that has used this percentage of a rate limit window is near its limit. The indexes on the usage tables
 * contain the same value.
 */
export const nearPercent = 80;

/** The upper bounds of the latency buckets in milliseconds. */
export const latencyBounds = [
  1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 1500, 2000, 3000, 5000, 10_000,
] as const;

/**
 * The number of latency buckets. The last bucket has no upper bound, so there is one more bucket than there are bounds.
 */
export const latencyBuckets = latencyBounds.length + 1;

/**
 * Returns the index of the bucket that contains a latency. Searches from the lowest bucket, because most latencies are
 * low.
 */
export function bucketOf(milliseconds: number): number {
  let bucket = 0;
  while (bucket < latencyBounds.length && milliseconds > (latencyBounds[bucket] as number)) bucket++;
  return bucket;
}

/**
 * Returns a latency percentile in milliseconds, interpolated linearly within a bucket. Returns undefined if there are
 * no requests.
 * @param part the percentile as a number from 0 to 1, such as 0.99
 */
export function percentile(latencies: readonly number[], part: number): number | undefined {
  const sum = latencies.reduce((all, count) => all + count, 0);
  if (sum === 0) return undefined;
  let left = part * sum;
  for (const [bucket, count] of latencies.entries()) {
    if (left <= count && count > 0) {
      const from = latencyBounds[bucket - 1] ?? 0;
      const to = latencyBounds[bucket] ?? from;
      return from + ((to - from) * left) / count;
    }
    left -= count;
  }
  return latencyBounds.at(-1);
}
