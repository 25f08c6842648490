import type { PgBoss } from 'pg-boss';
import type { PrismaClient } from '../database/client/prisma.ts';
import { inBatches } from '../database/in-batches.ts';
import { scheduleHourly } from '../database/jobs/job-queue.ts';
import type { Queue } from '../database/jobs/job-schema.ts';

/** For how long rows are kept: an hour is told by minutes, a week by hours. Hours. */
const kept = { usage_minutes: 3, usage_hours: 8 * 24 };

export const usageRetentionQueue: Queue = {
  name: 'usage-retention',
  policy: 'exclusive',
  options: { expireInSeconds: 3600 },
};

/** Has what is too old deleted every hour. */
export function scheduleUsageRetention(boss: PgBoss, prisma: PrismaClient): Promise<void> {
  return scheduleHourly(boss, usageRetentionQueue, () => pruneUsage(prisma));
}

/**
 * Deletes rows that are older than they are kept, a tenant after the other, in batches that each commit. Resolves to how
 * many went.
 */
export async function pruneUsage(prisma: PrismaClient, batchSize = 5000): Promise<number> {
  let sum = 0;
  for (const { id } of await prisma.tenant.findMany({ select: { id: true } })) {
    for (const table of ['usage_minutes', 'usage_hours'] as const) {
      sum += await inBatches(batchSize, () => prisma.$executeRawUnsafe(pruning(table), id, batchSize));
    }
  }
  return sum;
}

const pruning = (table: keyof typeof kept) => `
  DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ${table} WHERE tenant_id = $1 AND at < now() - interval '${kept[table]} hours' LIMIT $2
  )) AND tenant_id = $1`;
