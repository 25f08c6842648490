import type { Group } from '@itsm-api/contract';
import { queryRows } from '../../database/client/raw-sql.ts';
import { serializeId } from '../../shared/serialize.ts';
import {
  keyedEndpoints,
  latencyBuckets,
  nearPercent,
  type Outcome,
  percentile,
  refusals,
} from '../../usage/dimensions.ts';
import { allKeys } from '../../usage/usage-store.ts';
import type { Context } from '../shared/context.ts';

/*
 * What is told of usage (docs/decisions/usage-statistics.md). Every statement filters by tenant itself, and asks for its moments one
 * by one: the index has the keys of a moment side by side, those of all keys first.
 */

/** For how long usage is told, and in which steps of the clock. */
export const ranges = {
  '1h': { table: 'usage_minutes', steps: 60, stepMs: 60_000 },
  '24h': { table: 'usage_hours', steps: 24, stepMs: 3_600_000 },
  '7d': { table: 'usage_hours', steps: 7 * 24, stepMs: 3_600_000 },
} as const;

export type Range = keyof typeof ranges;

/** Which requests are told of. */
export interface UsageOf {
  range: Range;
  /** Those of these keys; of all when it is left out. */
  keyIds?: readonly bigint[] | undefined;
}

type Usable = Pick<Context, 'db' | 'now'>;

/** What was asked for, step by step. */
export interface UsageCounts {
  /** When each step began, the oldest first; the last is under way. */
  steps: Date[];
  byOutcome: Map<Outcome, number[]>;
  /** Those that were refused among them. */
  byGroup: Map<Group, number[]>;
}

/** How long an endpoint takes to answer. Milliseconds, as exact as the buckets are. */
export interface EndpointLatency {
  endpoint: string;
  /** Without those that were refused for a limit. */
  requests: number;
  p50: number;
  p95: number;
}

/** A key that used much of a window of its limits, or all of it. */
export interface NearLimit {
  keyId: number;
  limit: 'global' | Group;
  /** The highest share that was used. Percent. */
  peak: number;
  /** Requests that were refused for it. */
  refused: number;
  /** The step in which it last came near. */
  lastAt: Date;
}

/** How many requests there were in a step. */
interface CountedRow {
  at: Date;
  requests: number;
}

const groupOf = new Map(keyedEndpoints.map(({ id, group }) => [id, group]));

/**
 * The requests of each key by hours of the clock, the oldest first, the last one under way. Keys without any are left out.
 * @param keyIds which keys; all when it is left out, which takes longer the more there are
 */
export async function requestsByKey(
  context: Usable,
  { hours, keyIds }: { hours: number; keyIds?: readonly number[] | undefined },
): Promise<Map<number, number[]>> {
  const steps = stepsUntil(context.now(), hours, ranges['24h'].stepMs);
  const rows = await queryRows<CountedRow & { keyId: string }>(context.db, {
    text: ofEachKey(keyIds === undefined ? `key_id > ${allKeys}` : 'key_id = ANY ($3::bigint[])'),
    values: [context.db.$tenantId, steps, ...(keyIds === undefined ? [] : [keyIds])],
  });
  const byKey = new Map<number, number[]>();
  for (const row of rows) add(byKey, Number(row.keyId), steps, row);
  return byKey;
}

const ofEachKey = (which: string) => `
  SELECT key_id AS "keyId", at, sum(requests)::float8 AS requests FROM usage_hours
  WHERE tenant_id = $1 AND at = ANY ($2::timestamptz[]) AND ${which} GROUP BY key_id, at`;

/** What was asked for, by outcome and by group. */
export async function countUsage(context: Usable, usage: UsageOf): Promise<UsageCounts> {
  const { steps, rows } = await ask<CountedRow & { endpoint: string; outcome: Outcome }>(context, usage, counting);
  const counts: UsageCounts = { steps, byOutcome: new Map(), byGroup: new Map() };
  for (const row of rows) {
    const group = groupOf.get(row.endpoint);
    add(counts.byOutcome, row.outcome, steps, row);
    // An endpoint that there was in another release has none.
    if (group !== undefined) add(counts.byGroup, group, steps, row);
  }
  return counts;
}

const counting = (table: string) => `
  SELECT at, endpoint, outcome, sum(requests)::float8 AS requests FROM ${table}
  WHERE tenant_id = $1 AND at = ANY ($2::timestamptz[]) AND key_id = ANY ($3::bigint[]) GROUP BY at, endpoint, outcome`;

/** The endpoints that take longest, by the time within which nineteen of twenty are answered. */
export async function slowestEndpoints(context: Usable, usage: UsageOf, atMost = 10): Promise<EndpointLatency[]> {
  const { rows } = await ask<{ endpoint: string; latencies: number[] }>(context, usage, timing);
  const timed = rows.map(({ endpoint, latencies }) => ({
    endpoint,
    requests: latencies.reduce((sum, count) => sum + count, 0),
    p50: percentile(latencies, 0.5) ?? 0,
    p95: percentile(latencies, 0.95) ?? 0,
  }));
  return timed.sort((a, b) => b.p95 - a.p95).slice(0, atMost);
}

const summedLatencies = Array.from({ length: latencyBuckets }, (_, bucket) => `sum(latencies[${bucket + 1}])::float8`);

const timing = (table: string) => `
  SELECT endpoint, ARRAY[${summedLatencies.join(', ')}] AS latencies FROM ${table}
  WHERE tenant_id = $1 AND at = ANY ($2::timestamptz[]) AND key_id = ANY ($3::bigint[])
    AND outcome NOT IN (${refusals.map((outcome) => `'${outcome}'`).join(', ')})
  GROUP BY endpoint`;

/** The keys that came near a limit, or were refused for it, the nearest first. */
export async function keysNearLimits(context: Usable, { range, keyIds }: UsageOf): Promise<NearLimit[]> {
  const { table, steps, stepMs } = ranges[range];
  const [since] = stepsUntil(context.now(), steps, stepMs);
  const rows = await queryRows<NearRow>(context.db, {
    text: nearing(table),
    values: [context.db.$tenantId, since, keyIds ?? null],
  });
  const found = new Map<string, NearLimit>();
  for (const row of rows) {
    const group = groupOf.get(row.endpoint);
    noteNear(found, row.keyId, {
      ...{ limit: 'global', peak: row.globalPeak, refused: row.globalRefused, lastAt: row.globalAt },
    });
    if (group === undefined) continue;
    noteNear(found, row.keyId, {
      ...{ limit: group, peak: row.groupPeak, refused: row.groupRefused, lastAt: row.groupAt },
    });
  }
  return [...found.values()].sort((a, b) => b.refused - a.refused || b.peak - a.peak);
}

interface NearRow {
  keyId: string;
  endpoint: string;
  globalPeak: number;
  globalRefused: number;
  /** When it last came near; null where it didn't. */
  globalAt: Date | null;
  groupPeak: number;
  groupRefused: number;
  groupAt: Date | null;
}

const nearing = (table: string) => `
  SELECT key_id AS "keyId", endpoint,
    max(at) FILTER (WHERE global_peak >= ${nearPercent}) AS "globalAt",
    max(at) FILTER (WHERE group_peak >= ${nearPercent}) AS "groupAt",
    max(global_peak) AS "globalPeak", coalesce(sum(requests) FILTER (WHERE outcome = 'GLOBAL_LIMIT'), 0)::float8 AS "globalRefused",
    max(group_peak) AS "groupPeak", coalesce(sum(requests) FILTER (WHERE outcome = 'GROUP_LIMIT'), 0)::float8 AS "groupRefused"
  FROM ${table}
  WHERE tenant_id = $1 AND at >= $2::timestamptz AND (global_peak >= ${nearPercent} OR group_peak >= ${nearPercent})
    AND ($3::bigint[] IS NULL OR key_id = ANY ($3::bigint[]))
  GROUP BY key_id, endpoint`;

function noteNear(
  found: Map<string, NearLimit>,
  keyId: string,
  { limit, peak, refused, lastAt }: Omit<NearLimit, 'keyId' | 'lastAt'> & { lastAt: Date | null },
): void {
  if (lastAt === null) return;
  const name = `${keyId} ${limit}`;
  const known = found.get(name) ?? { keyId: Number(keyId), limit, peak: 0, refused: 0, lastAt };
  found.set(name, {
    ...known,
    peak: Math.max(known.peak, peak),
    refused: known.refused + refused,
    lastAt: lastAt > known.lastAt ? lastAt : known.lastAt,
  });
}

/** The rows of a statement of the tenant, moments and keys. */
async function ask<Row extends object>(
  { db, now }: Usable,
  { range, keyIds = [allKeys] }: UsageOf,
  textOf: (table: string) => string,
): Promise<{ steps: Date[]; rows: Row[] }> {
  const { table, steps: count, stepMs } = ranges[range];
  const steps = stepsUntil(now(), count, stepMs);
  const rows = await queryRows<Row>(db, { text: textOf(table), values: [db.$tenantId, steps, keyIds] });
  return { steps, rows };
}

/** The beginnings of so many steps of the clock, the last of which is under way. */
function stepsUntil(now: Date, count: number, stepMs: number): Date[] {
  const last = now.getTime() - (now.getTime() % stepMs);
  return Array.from({ length: count }, (_, index) => new Date(last - (count - 1 - index) * stepMs));
}

/** Adds to the step that begins at a moment, of what is kept by name. */
function add<Name>(counts: Map<Name, number[]>, name: Name, steps: Date[], { at, requests }: CountedRow): void {
  const place = steps.findIndex((step) => step.getTime() === at.getTime());
  const known = counts.get(name) ?? steps.map(() => 0);
  counts.set(name, known);
  known[place] = (known[place] ?? 0) + requests;
}

/** A key, as far as it is to be told from others. */
export interface NamedKey {
  id: number;
  name: string;
  lastFour: string;
}

/** The keys that usage can be told of, by their names, also those that work no more; the first thousand. */
export async function namedKeys({ db }: Usable, { user }: { user?: bigint | undefined }): Promise<NamedKey[]> {
  const rows = await db.apiKey.findMany({
    where: user === undefined ? {} : { userId: user },
    select: { id: true, name: true, lastFour: true },
    orderBy: [{ name: 'asc' }, { id: 'asc' }],
    take: 1000,
  });
  return rows.map(({ id, ...key }) => ({ id: serializeId(id), ...key }));
}
