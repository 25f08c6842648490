import type { PgBoss } from 'pg-boss';
import type { PrismaClient } from '../database/client/prisma.ts';
import { inBatches } from '../database/in-batches.ts';
import { scheduleHourly } from '../database/jobs/job-queue.ts';
import type { Queue } from '../database/jobs/job-schema.ts';

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

/** Schedules an hourly job that deletes old usage statistics. */
export function scheduleUsageRetention(boss: PgBoss, prisma: PrismaClient): Promise<void> {
  return scheduleHourly(boss, usageRetentionQueue, () => pruneUsage(prisma));
}

/**
 * Deletes usage statistics after their retention period. Processes one tenant at a time, and commits each batch
 * separately. Resolves to the number of deleted rows.
 */
export async function pruneUsage(prisma: PrismaClient, batchSize = 5000): Promise<number> {
  let sum = 0;
  for (const { id } of await prisma.tenant.findMany({ select: { id: true } })) {
    for (const table of ['usage_minutes', 'usage_hours'] as const) {
      sum += await inBatches(batchSize, () => prisma.$executeRawUnsafe(pruneSql(table), id, batchSize));
    }
  }
  return sum;
}

const pruneSql = (table: keyof typeof retentionHours) => `
  DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ${table} WHERE tenant_id = $1 AND at < now() - interval '${retentionHours[table]} hours' LIMIT $2
  )) AND tenant_id = $1`;
