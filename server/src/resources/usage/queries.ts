import type { Group } from '@itsm-api/contract';
import { identifier, join, type Sql, sql, tenant } from '../../database/client/sql.ts';
import { rows, type Statement } from '../../database/client/statements.ts';
import { serializeId } from '../../shared/serialize.ts';
import {
  keyedEndpoints,
  latencyBuckets,
  nearPercent,
  type Outcome,
  percentile,
  rejectedOutcomes,
} from '../../usage/dimensions.ts';
import { allKeys } from '../../usage/usage-store.ts';
import type { Context } from '../shared/context.ts';

/*
 * Reads usage statistics (docs/decisions/usage-statistics.md). Every statement looks up each time step separately. The index is ordered by time step and then by API key. In each step, the row for the sum of all keys
 * comes first.
 */

/** The available time ranges. Each has a table, a number of time steps, and the length of a step in milliseconds. */
export const ranges = {
  '1h': { table: 'usage_minutes', steps: 60, stepMs: 60_000 },
  '24h': { table: 'usage_hours', steps: 24, stepMs: 3_600_000 },
  '7d': { table: 'usage_hours', steps: 7 * 24, stepMs: 3_600_000 },
} as const;

export type Range = keyof typeof ranges;

/** A filter by time range and API key. */
export interface UsageOf {
  range: Range;
  /** Limits the result to these API keys. Default: all keys. */
  keyIds?: readonly bigint[] | undefined;
}

type Usable = Pick<Context, 'db' | 'now'>;

/** The number of requests per time step, by outcome and by endpoint group. */
export interface UsageCounts {
  /** The start of each step, oldest first. The last step is still in progress. */
  steps: Date[];
  byOutcome: Map<Outcome, number[]>;
  /** Includes rejected requests. */
  byGroup: Map<Group, number[]>;
}

/** The latency of an endpoint in milliseconds. The precision depends on the histogram buckets. */
export interface EndpointLatency {
  endpoint: string;
  /** The number of requests, excluding those that were rejected because of a limit. */
  requests: number;
  p50: number;
  p95: number;
}

/** An API key that came close to a rate limit or exceeded one. */
export interface NearLimit {
  keyId: number;
  limit: 'global' | Group;
  /** The highest percentage of the rate limit that the key has used in any window. */
  peak: number;
  /** The number of requests that were rejected because of the limit. */
  rejected: number;
  /** The start of the last time step in which the key came close to the limit. */
  lastAt: Date;
}

/** The number of requests in a time step. */
interface CountedRow {
  at: Date;
  requests: number;
}

const groupOf = new Map(keyedEndpoints.map(({ id, group }) => [id, group]));

/**
 * Returns the number of requests of each API key in each hour. The oldest hour comes first, and the last hour is still
 * in progress. Omits keys without requests.
 * @param keyIds limits the result to these keys; default: all keys, which is slower if there are many keys
 */
export async function requestsByKey(
  context: Usable,
  { hours, keyIds }: { hours: number; keyIds?: readonly number[] | undefined },
): Promise<Map<number, number[]>> {
  const steps = stepsUntil(context.now(), hours, ranges['24h'].stepMs);
  const found = await (keyIds === undefined
    ? context.db.$sql(countOfEachKey, { steps })
    : context.db.$sql(countOfKeys, { steps, keyIds }));
  const byKey = new Map<number, number[]>();
  for (const row of found) add(byKey, Number(row.keyId), steps, row);
  return byKey;
}

/** The time steps and the API keys of a statement. */
interface Steps {
  steps: Date[];
  keyIds: readonly (number | bigint)[];
}

const countOfEachKey = rows<Pick<Steps, 'steps'>, CountedRow & { keyId: bigint }>(
  ({ steps }) => sql`
  SELECT key_id AS "keyId", at, sum(requests)::float8 AS requests FROM usage_hours
  WHERE tenant_id = ${tenant} AND at = ANY (${steps}::timestamptz[]) AND key_id > ${Number(allKeys)}
  GROUP BY key_id, at`,
);
const countOfKeys = rows<Steps, CountedRow & { keyId: bigint }>(
  ({ steps, keyIds }) => sql`
  SELECT key_id AS "keyId", at, sum(requests)::float8 AS requests FROM usage_hours
  WHERE tenant_id = ${tenant} AND at = ANY (${steps}::timestamptz[]) AND key_id = ANY (${keyIds}::bigint[])
  GROUP BY key_id, at`,
);

/** Defines a statement for each table of usage statistics. */
function ofEachTable<Input extends object, Row extends object>(
  build: (table: Sql, given: Parameters<Parameters<typeof rows<Input, Row>>[0]>[0]) => Sql,
): Record<Table, Statement<Input, Row, 'rows'>> {
  const define = (table: Table) => rows<Input, Row>((given) => build(identifier(table), given));
  return { usage_minutes: define('usage_minutes'), usage_hours: define('usage_hours') };
}

type Table = (typeof ranges)[Range]['table'];

/** Counts requests per time step, by outcome and by endpoint group. */
export async function countUsage(context: Usable, usage: UsageOf): Promise<UsageCounts> {
  const { steps, rows } = await runUsageQuery(context, usage, countByOutcome);
  const counts: UsageCounts = { steps, byOutcome: new Map(), byGroup: new Map() };
  for (const row of rows) {
    const group = groupOf.get(row.endpoint);
    add(counts.byOutcome, row.outcome, steps, row);
    // An endpoint has no group if it exists only in another release.
    if (group !== undefined) add(counts.byGroup, group, steps, row);
  }
  return counts;
}

const countByOutcome = ofEachTable<Steps, CountedRow & { endpoint: string; outcome: Outcome }>(
  (table, { steps, keyIds }) => sql`
  SELECT at, endpoint, outcome, sum(requests)::float8 AS requests FROM ${table}
  WHERE tenant_id = ${tenant} AND at = ANY (${steps}::timestamptz[]) AND key_id = ANY (${keyIds}::bigint[])
  GROUP BY at, endpoint, outcome`,
);

/** Returns the endpoints with the highest p95 latency. */
export async function slowestEndpoints(context: Usable, usage: UsageOf, maxEndpoints = 10): Promise<EndpointLatency[]> {
  const { rows } = await runUsageQuery(context, usage, sumLatencies);
  const timed = rows.map(({ endpoint, latencies }) => ({
    endpoint,
    requests: latencies.reduce((sum, count) => sum + count, 0),
    p50: percentile(latencies, 0.5) ?? 0,
    p95: percentile(latencies, 0.95) ?? 0,
  }));
  return timed.sort((a, b) => b.p95 - a.p95).slice(0, maxEndpoints);
}

const summedLatencies = join(
  Array.from({ length: latencyBuckets }, (_, bucket) => sql`sum(latencies[${bucket + 1}])::float8`),
);

const sumLatencies = ofEachTable<Steps, { endpoint: string; latencies: number[] }>(
  (table, { steps, keyIds }) => sql`
  SELECT endpoint, ARRAY[${summedLatencies}] AS latencies FROM ${table}
  WHERE tenant_id = ${tenant} AND at = ANY (${steps}::timestamptz[]) AND key_id = ANY (${keyIds}::bigint[])
    AND outcome NOT IN (${join(rejectedOutcomes.map((outcome) => sql`${outcome}`))})
  GROUP BY endpoint`,
);

/**
 * Returns the API keys that came close to a rate limit or exceeded one. The keys with the most rejected requests come
 * first.
 */
export async function keysNearLimits(context: Usable, { range, keyIds }: UsageOf): Promise<NearLimit[]> {
  const { table, steps, stepMs } = ranges[range];
  const [since] = stepsUntil(context.now(), steps, stepMs);
  const rows = await context.db.$sql(selectNearLimits[table], { since: since as Date, keyIds: keyIds ?? null });
  const found = new Map<string, NearLimit>();
  for (const row of rows) {
    const group = groupOf.get(row.endpoint);
    addNearLimit(found, row.keyId, {
      ...{ limit: 'global', peak: row.globalPeak, rejected: row.globalRejected, lastAt: row.globalAt },
    });
    if (group === undefined) continue;
    addNearLimit(found, row.keyId, {
      ...{ limit: group, peak: row.groupPeak, rejected: row.groupRejected, lastAt: row.groupAt },
    });
  }
  return [...found.values()].sort((a, b) => b.rejected - a.rejected || b.peak - a.peak);
}

interface NearRow {
  keyId: bigint;
  endpoint: string;
  globalPeak: number;
  globalRejected: number;
  /** When the key last came close to its global limit, or null if it never did. */
  globalAt: Date | null;
  groupPeak: number;
  groupRejected: number;
  groupAt: Date | null;
}

const selectNearLimits = ofEachTable<{ since: Date; keyIds: readonly bigint[] | null }, NearRow>(
  (table, { since, keyIds }) => sql`
  SELECT key_id AS "keyId", endpoint,
    max(at) FILTER (WHERE global_peak >= ${nearPercent}) AS "globalAt",
    max(at) FILTER (WHERE group_peak >= ${nearPercent}) AS "groupAt",
    max(global_peak) AS "globalPeak",
    coalesce(sum(requests) FILTER (WHERE outcome = 'GLOBAL_LIMIT'), 0)::float8 AS "globalRejected",
    max(group_peak) AS "groupPeak",
    coalesce(sum(requests) FILTER (WHERE outcome = 'GROUP_LIMIT'), 0)::float8 AS "groupRejected"
  FROM ${table}
  WHERE tenant_id = ${tenant} AND at >= ${since}::timestamptz
    AND (global_peak >= ${nearPercent} OR group_peak >= ${nearPercent})
    AND (${keyIds}::bigint[] IS NULL OR key_id = ANY (${keyIds}::bigint[]))
  GROUP BY key_id, endpoint`,
);

function addNearLimit(
  found: Map<string, NearLimit>,
  keyId: bigint,
  { limit, peak, rejected, lastAt }: Omit<NearLimit, 'keyId' | 'lastAt'> & { lastAt: Date | null },
): void {
  if (lastAt === null) return;
  const name = `${keyId} ${limit}`;
  const known = found.get(name) ?? { keyId: Number(keyId), limit, peak: 0, rejected: 0, lastAt };
  found.set(name, {
    ...known,
    peak: Math.max(known.peak, peak),
    rejected: known.rejected + rejected,
    lastAt: lastAt > known.lastAt ? lastAt : known.lastAt,
  });
}

/** Runs the statement for the table of a time range. */
async function runUsageQuery<Row extends object>(
  { db, now }: Usable,
  { range, keyIds = [allKeys] }: UsageOf,
  statements: Record<Table, Statement<Steps, Row, 'rows'>>,
): Promise<{ steps: Date[]; rows: Row[] }> {
  const { table, steps: count, stepMs } = ranges[range];
  const steps = stepsUntil(now(), count, stepMs);
  return { steps, rows: await db.$sql(statements[table], { steps, keyIds }) };
}

/** Returns the start of each time step. The last step is still in progress. */
function stepsUntil(now: Date, count: number, stepMs: number): Date[] {
  const last = now.getTime() - (now.getTime() % stepMs);
  return Array.from({ length: count }, (_, index) => new Date(last - (count - 1 - index) * stepMs));
}

/** Adds the requests in a row to the count for the row's time step. */
function add<Name>(counts: Map<Name, number[]>, name: Name, steps: Date[], { at, requests }: CountedRow): void {
  const place = steps.findIndex((step) => step.getTime() === at.getTime());
  const known = counts.get(name) ?? steps.map(() => 0);
  counts.set(name, known);
  known[place] = (known[place] ?? 0) + requests;
}

/** The fields of an API key that are displayed in lists. */
export interface NamedKey {
  id: number;
  name: string;
  lastFour: string;
}

/**
 * Returns up to 1,000 API keys sorted by name, including revoked and expired keys.
 * @param filter limits the result to the keys of a user, or to the keys with the given ids
 */
export async function findKeyNames(
  { db }: Pick<Usable, 'db'>,
  { user, ids }: { user?: bigint | undefined; ids?: readonly number[] },
): Promise<NamedKey[]> {
  const rows = await db.apiKey.findMany({
    where: { ...(user !== undefined && { userId: user }), ...(ids !== undefined && { id: { in: [...ids] } }) },
    select: { id: true, name: true, lastFour: true },
    orderBy: [{ name: 'asc' }, { id: 'asc' }],
    take: 1000,
  });
  return rows.map(({ id, ...key }) => ({ id: serializeId(id), ...key }));
}
