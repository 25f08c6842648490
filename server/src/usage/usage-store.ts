import type { SystemClient } from '../database/client/prisma.ts';
import { identifier, join, type Sql, sql } from '../database/client/sql.ts';
import { allTenants } from '../database/client/statements.ts';
import { notInMaintenance } from '../database/tenant-maintenance.ts';
import { tenantIdToJson } from '../shared/tenant-id.ts';
import { addCounts, decodeKind, UsageAggregator } from './aggregator.ts';
import { latencyBuckets } from './dimensions.ts';

/** The key id in rows that contain the sums over all API keys of a tenant. */
export const allKeys = 0n;

/**
 * Adds the counts for a minute to the database rows for that minute and its hour. Also adds the sums over all API keys.
 * Uses one atomic statement that several processes can run concurrently. @param minute the start of the minute in
 * milliseconds since 1970
 */
export async function writeUsage(system: SystemClient, minute: number, counted: UsageAggregator): Promise<void> {
  const rows = [...toRows(counted), ...toRows(sumAllKeys(counted))];
  await system.$sql(addAll, { minute: new Date(minute), rows: JSON.stringify(rows) });
}

/** For each tenant, sums the counts of all API keys. Sets the peaks to 0, because rate limits apply to single keys. */
function sumAllKeys(counted: UsageAggregator): UsageAggregator {
  const aggregator = new UsageAggregator();
  for (const [{ tenantId, kind }, counts] of counted) {
    const key = { tenantId, keyId: allKeys, kind };
    addCounts(aggregator.find(key) ?? aggregator.begin(key), { ...counts, globalPeak: 0, groupPeak: 0 });
  }
  return aggregator;
}

/** Converts counts to rows. The properties of a row have the names of the columns. */
function toRows(aggregator: UsageAggregator): object[] {
  return [...aggregator].map(([{ tenantId, keyId, kind }, { requests, latencies, globalPeak, groupPeak }]) => ({
    tenant_id: tenantIdToJson(tenantId),
    key_id: keyId.toString(),
    ...decodeKind(kind),
    requests,
    latencies,
    global_peak: globalPeak,
    group_peak: groupPeak,
  }));
}

/**
 * The SQL expressions that add two arrays element by element. A subquery over both arrays would take ten times as long.
 */
const addedLatencies = join(
  Array.from({ length: latencyBuckets }, (_, bucket) => {
    return sql`u.latencies[${bucket + 1}] + excluded.latencies[${bucket + 1}]`;
  }),
);

const addCountsTo = (table: string, at: Sql) => sql`
  INSERT INTO ${identifier(table)} AS u
    (tenant_id, at, key_id, endpoint, outcome, requests, latencies, global_peak, group_peak)
  SELECT tenant_id, ${at}, key_id, endpoint, outcome, requests, latencies, global_peak, group_peak FROM counted
  ON CONFLICT (tenant_id, at, key_id, endpoint, outcome) DO UPDATE SET
    requests = u.requests + excluded.requests,
    latencies = ARRAY[${addedLatencies}],
    global_peak = greatest(u.global_peak, excluded.global_peak),
    group_peak = greatest(u.group_peak, excluded.group_peak)`;

/** Adds the counts. Truncates times to hours in UTC, regardless of the connection's time zone. */
const addAll = allTenants.command<{ minute: Date; rows: string }>(
  ({ minute, rows }) => sql`
  WITH counted AS MATERIALIZED (
    SELECT c.* FROM json_to_recordset(${rows}::json) AS c (tenant_id bigint, key_id bigint, endpoint text, outcome text,
      requests int, latencies int[], global_peak smallint, group_peak smallint)
      JOIN tenants t ON t.id = c.tenant_id AND ${notInMaintenance}
  ), minutes AS (${addCountsTo('usage_minutes', sql`${minute}::timestamptz`)})
  ${addCountsTo('usage_hours', sql`date_trunc('hour', ${minute}::timestamptz, 'UTC')`)}`,
);
