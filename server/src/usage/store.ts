import type { Pool } from '../database/pool.ts';
import { prepared } from '../database/statements.ts';
import { latencyBuckets } from './shape.ts';
import { namesOf, Tally } from './tally.ts';

/** The key that stands for all keys of a tenant together. */
export const allKeys = 0n;

const hourMs = 3_600_000;

/**
 * Adds what was counted, by minute, to the rows that are there: those of its minute and of its hour, of its key and of all
 * keys. In one statement, so all of it or nothing; any number of processes may do so at once.
 */
export async function writeUsage(pool: Pool, counted: Tally): Promise<void> {
  const minutes = withAllKeys(counted, (at) => at);
  const hours = withAllKeys(counted, (at) => at - (at % hourMs));
  const rows = [...[...minutes].map(rowOf('minute')), ...[...hours].map(rowOf('hour'))];
  const values = columnTypes.map((_, column) => rows.map((row) => row[column]));
  await pool.query(prepared({ text: adding, values }));
}

function withAllKeys(counted: Tally, atOf: (minute: number) => number): Tally {
  const tally = new Tally();
  for (const [place, counts] of counted) {
    const at = atOf(place.at);
    tally.add({ ...place, at }, counts);
    // How near each key came to its limits is nothing of all keys together.
    tally.add({ ...place, at, keyId: allKeys }, { ...counts, globalPeak: 0, groupPeak: 0 });
  }
  return tally;
}

type Counted = typeof Tally.prototype extends Iterable<infer Each> ? Each : never;

/** In the order of `columnTypes`. */
function rowOf(unit: 'minute' | 'hour') {
  return ([{ tenantId, at, keyId, kind }, { requests, latencies, globalPeak, groupPeak }]: Counted): unknown[] => {
    const { endpoint, outcome } = namesOf(kind);
    // unnest takes an array of arrays apart: these are sent as text.
    const histogram = `{${latencies.join()}}`;
    return [unit, tenantId, new Date(at), keyId, endpoint, outcome, requests, histogram, globalPeak, groupPeak];
  };
}

const columnTypes = ['text', 'bigint', 'timestamptz', 'bigint', 'text', 'text', 'int', 'text', 'smallint', 'smallint'];

/** Bucket by bucket: a subquery over both arrays would take ten times as long. */
const addedLatencies = Array.from(
  { length: latencyBuckets },
  (_, bucket) => `u.latencies[${bucket + 1}] + excluded.latencies[${bucket + 1}]`,
);

const addingTo = (table: string, unit: string) => `
  INSERT INTO ${table} AS u (tenant_id, at, key_id, endpoint, outcome, requests, latencies, global_peak, group_peak)
  SELECT tenant_id, at, key_id, endpoint, outcome, requests, latencies::int[], global_peak, group_peak
  FROM counted WHERE unit = '${unit}'
  ON CONFLICT (tenant_id, at, key_id, endpoint, outcome) DO UPDATE SET
    requests = u.requests + excluded.requests,
    latencies = ARRAY[${addedLatencies.join(', ')}],
    global_peak = greatest(u.global_peak, excluded.global_peak),
    group_peak = greatest(u.group_peak, excluded.group_peak)`;

const adding = `
  WITH counted AS (
    SELECT * FROM unnest(${columnTypes.map((type, column) => `$${column + 1}::${type}[]`).join(', ')})
      AS c (unit, tenant_id, at, key_id, endpoint, outcome, requests, latencies, global_peak, group_peak)
  ), minutes AS (${addingTo('usage_minutes', 'minute')})
  ${addingTo('usage_hours', 'hour')}`;
