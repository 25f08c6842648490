import type { SystemClient } from '../database/client/prisma.ts';
import { identifier, sql, tenant } from '../database/client/sql.ts';
import { command } from '../database/client/statements.ts';
import { forEachTenant, notInMaintenance } from '../database/tenant-maintenance.ts';
import { loggedKeys } from './request-store.ts';

/**
 * The retention period for each table, in hours. One-hour charts use `usage_minutes`, and one-day and one-week charts
 * use `usage_hours`.
 */
const retentionHours = { usage_minutes: 3, usage_hours: 8 * 24 };

/**
 * Deletes usage statistics after their retention period. Processes one tenant at a time, and commits each batch
 * separately. Resolves to the number of deleted rows.
 */
export function pruneUsage(prisma: SystemClient, batchSize = 5000): Promise<number> {
  return forEachTenant(prisma, async ({ tenantId, inBatches }) => {
    const db = prisma.$tenant(tenantId);
    let sum = 0;
    for (const each of prunings) sum += await inBatches(batchSize, () => db.$sql(each, { size: batchSize }));
    return sum;
  });
}

const prunings = Object.entries(retentionHours).map(([table, hours]) =>
  command<{ size: number }>(
    ({ size }) => sql`
      DELETE FROM ${identifier(table)} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${identifier(table)}
        WHERE tenant_id = ${tenant} AND at < now() - make_interval(hours => ${hours}) LIMIT ${size}
      )) AND tenant_id = ${tenant}`,
  ),
);

/**
 * Deletes the requests of the request log that are older than `days`, and their counts. Processes one tenant at a time,
 * and commits each batch separately. Resolves to the number of deleted requests.
 */
export function pruneRequestLog(prisma: SystemClient, days: number, batchSize = 5000): Promise<number> {
  return forEachTenant(prisma, async ({ tenantId, inBatches }) => {
    const db = prisma.$tenant(tenantId);
    const pruned = await inBatches(batchSize, () => db.$sql(pruneRequests, { days, size: batchSize }));
    await db.$sql(pruneMinutes, { days });
    return pruned;
  });
}

/**
 * The SQL statement that deletes one batch. It reads each API key and status separately, because they precede the time
 * in the primary key.
 */
const pruneRequests = command<{ days: number; size: number }>(
  ({ days, size }) => sql`
  WITH RECURSIVE ${loggedKeys()}
  DELETE FROM request_log WHERE tenant_id = ${tenant} AND ctid = ANY (ARRAY(
    SELECT old.ctid FROM logged_keys k, LATERAL (
      SELECT ctid FROM request_log WHERE tenant_id = ${tenant} AND key_id = k.key_id AND status = k.status
        AND at < now() - ${days}::int * interval '1 day'
      LIMIT ${size}
    ) old LIMIT ${size}
  ))`,
);

const pruneMinutes = command<{ days: number }>(
  ({ days }) => sql`
    DELETE FROM request_log_minutes m USING tenants t
    WHERE m.tenant_id = ${tenant} AND m.at < now() - ${days}::int * interval '1 day'
      AND t.id = m.tenant_id AND ${notInMaintenance}`,
);
