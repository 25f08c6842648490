import { contract, type Endpoint, type Group, pathPrefix } from '@itsm-api/contract';

/*
 * What is told of usage apart (docs/decisions/usage-statistics.md): endpoints, what came of a request, and how long it took.
 */

/** An endpoint that takes a key. */
export interface KeyedEndpoint {
  /** The operation's id in the document. */
  id: string;
  /** As people know it, such as `GET /tickets/{id}`. */
  call: string;
  group: Group;
  route: Endpoint;
}

/** In the order of the contract. */
export const keyedEndpoints: readonly KeyedEndpoint[] = Object.entries(contract).flatMap(([resource, routes]) =>
  Object.entries(routes as Record<string, Endpoint>).flatMap(([name, route]) => {
    const { group } = route.metadata;
    const path = route.path.slice(pathPrefix.length).replace(/:(\w+)/g, '{$1}');
    return group === null ? [] : [{ id: `${resource}_${name}`, call: `${route.method} ${path}`, group, route }];
  }),
);

/** What came of a request: the class of its status (RFC 9110, section 15), or which limit refused it. */
export const outcomes = [
  'SUCCESSFUL',
  'REDIRECTION',
  'CLIENT_ERROR',
  'SERVER_ERROR',
  'GLOBAL_LIMIT',
  'GROUP_LIMIT',
  'FAIR_USE',
] as const;

export type Outcome = (typeof outcomes)[number];

/** Those of requests that were refused for a limit. */
export const refusals = ['GLOBAL_LIMIT', 'GROUP_LIMIT', 'FAIR_USE'] as const satisfies Outcome[];

export type Refusal = (typeof refusals)[number];

/** From what share of a window a key counts as near its limit. Percent; the indexes of the tables hold the same figure. */
export const nearPercent = 80;

/** What took longer than one of these and no longer than the next is counted together. Milliseconds. */
export const latencyBounds = [
  1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 1500, 2000, 3000, 5000, 10_000,
] as const;

/** One more than there are bounds: the last is of what took longer than all. */
export const latencyBuckets = latencyBounds.length + 1;

/** In which bucket a time is counted. @param milliseconds most often few, which are found first */
export function bucketOf(milliseconds: number): number {
  let bucket = 0;
  while (bucket < latencyBounds.length && milliseconds > (latencyBounds[bucket] as number)) bucket++;
  return bucket;
}

/**
 * Within which time this part of the requests was answered, as if the times of a bucket lay evenly in it. Milliseconds;
 * undefined without requests.
 * @param part from 0 to 1
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
