import type { PgBoss } from 'pg-boss';
import type { PrismaClient } from '../database/client/prisma.ts';
import { scheduleHourly } from '../database/jobs/job-queue.ts';
import type { Queue } from '../database/jobs/job-schema.ts';
import { forEachTenant, notInMaintenanceSql } from '../database/tenant-maintenance.ts';
import { loggedKeys } from './request-store.ts';

/**
 * The retention period for each table, in hours. One-hour charts use `usage_minutes`, and one-day and one-week charts
 * use `usage_hours`.
 */
const retentionHours = { usage_minutes: 3, usage_hours: 8 * 24 };

export const usageRetentionQueue: Queue = {
  name: 'usage-retention',
  policy: 'exclusive',
  options: { expireInSeconds: 3600 },
};

interface Retention {
  prisma: PrismaClient;
  /** How many days the request log keeps requests. */
  requestLogDays: number;
}

/** Schedules an hourly job that deletes old usage statistics and old requests of the request log. */
export function scheduleUsageRetention(boss: PgBoss, { prisma, requestLogDays }: Retention): Promise<void> {
  return scheduleHourly(boss, usageRetentionQueue, async () => {
    await pruneUsage(prisma);
    await pruneRequestLog(prisma, requestLogDays);
  });
}

/**
 * Deletes usage statistics after their retention period. Processes one tenant at a time, and commits each batch
 * separately. Resolves to the number of deleted rows.
 */
export function pruneUsage(prisma: PrismaClient, batchSize = 5000): Promise<number> {
  return forEachTenant(prisma, async ({ tenantId, inBatches }) => {
    let sum = 0;
    for (const table of ['usage_minutes', 'usage_hours'] as const) {
      sum += await inBatches(batchSize, () => prisma.$executeRawUnsafe(pruneSql(table), tenantId, batchSize));
    }
    return sum;
  });
}

const pruneSql = (table: keyof typeof retentionHours) => `
  DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ${table} WHERE tenant_id = $1 AND at < now() - interval '${retentionHours[table]} hours' LIMIT $2
  )) AND tenant_id = $1`;

/**
 * Deletes the requests of the request log that are older than `days`, and their counts. Processes one tenant at a time,
 * and commits each batch separately. Resolves to the number of deleted requests.
 */
export function pruneRequestLog(prisma: PrismaClient, days: number, batchSize = 5000): Promise<number> {
  return forEachTenant(prisma, async ({ tenantId, inBatches }) => {
    const pruned = await inBatches(batchSize, () => prisma.$executeRawUnsafe(pruneRequests, tenantId, days, batchSize));
    await prisma.$executeRaw`
      DELETE FROM request_log_minutes m USING tenants t
      WHERE m.tenant_id = ${tenantId} AND m.at < now() - ${days}::int * interval '1 day'
        AND t.id = m.tenant_id AND ${notInMaintenanceSql}`;
    return pruned;
  });
}

/**
 * The SQL statement that deletes one batch. It reads each API key and status separately, because they precede the time
 * in the primary key.
 */
const pruneRequests = `
  WITH RECURSIVE ${loggedKeys('$1')}
  DELETE FROM request_log WHERE tenant_id = $1 AND ctid = ANY (ARRAY(
    SELECT old.ctid FROM logged_keys k, LATERAL (
      SELECT ctid FROM request_log WHERE tenant_id = $1 AND key_id = k.key_id AND status = k.status AND at < now() - $2::int * interval '1 day'
      LIMIT $3
    ) old LIMIT $3
  ))`;
