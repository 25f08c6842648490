import type { Pool } from '../database/client/pool.ts';
import { prepared } from '../database/client/raw-sql.ts';
import { tenantIdToJson } from '../shared/tenant-id.ts';
import { addCounts, namesOf, UsageAggregator } from './aggregator.ts';
import { latencyBuckets } from './dimensions.ts';

/** The key that stands for all keys of a tenant together. */
export const allKeys = 0n;

/**
 * Adds what was counted in a minute to the rows that are there: those of the minute and of its hour, of each key and of
 * all keys. In one statement, so all of it or nothing; any number of processes may do so at once.
 * @param minute its beginning, in milliseconds since 1970
 */
export async function writeUsage(pool: Pool, minute: number, counted: UsageAggregator): Promise<void> {
  const rows = [...rowsOf(counted), ...rowsOf(ofAllKeys(counted))];
  await pool.query(prepared({ text: adding, values: [new Date(minute), JSON.stringify(rows)] }));
}

/** How near each key came to its limits is nothing of all keys together. */
function ofAllKeys(counted: UsageAggregator): UsageAggregator {
  const tally = new UsageAggregator();
  for (const [{ tenantId, kind }, counts] of counted) {
    const place = { tenantId, keyId: allKeys, kind };
    addCounts(tally.find(place) ?? tally.begin(place), { ...counts, globalPeak: 0, groupPeak: 0 });
  }
  return tally;
}

/** With the names of the columns. */
function rowsOf(tally: UsageAggregator): object[] {
  return [...tally].map(([{ tenantId, keyId, kind }, { requests, latencies, globalPeak, groupPeak }]) => ({
    tenant_id: tenantIdToJson(tenantId),
    key_id: keyId.toString(),
    ...namesOf(kind),
    requests,
    latencies,
    global_peak: globalPeak,
    group_peak: groupPeak,
  }));
}

/** Bucket by bucket: a subquery over both arrays would take ten times as long. */
const addedLatencies = Array.from(
  { length: latencyBuckets },
  (_, bucket) => `u.latencies[${bucket + 1}] + excluded.latencies[${bucket + 1}]`,
);

const addingTo = (table: string, at: string) => `
  INSERT INTO ${table} AS u (tenant_id, at, key_id, endpoint, outcome, requests, latencies, global_peak, group_peak)
  SELECT tenant_id, ${at}, key_id, endpoint, outcome, requests, latencies, global_peak, group_peak FROM counted
  ON CONFLICT (tenant_id, at, key_id, endpoint, outcome) DO UPDATE SET
    requests = u.requests + excluded.requests,
    latencies = ARRAY[${addedLatencies.join(', ')}],
    global_peak = greatest(u.global_peak, excluded.global_peak),
    group_peak = greatest(u.group_peak, excluded.group_peak)`;

/** Hours are those of UTC, whatever a session has set. */
const adding = `
  WITH counted AS MATERIALIZED (
    SELECT * FROM json_to_recordset($2::json) AS c (tenant_id bigint, key_id bigint, endpoint text, outcome text,
      requests int, latencies int[], global_peak smallint, group_peak smallint)
  ), minutes AS (${addingTo('usage_minutes', '$1::timestamptz')})
  ${addingTo('usage_hours', `date_trunc('hour', $1::timestamptz, 'UTC')`)}`;
