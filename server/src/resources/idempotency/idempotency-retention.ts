import { idempotencyHours } from '@itsm-api/contract';
import type { PgBoss } from 'pg-boss';
import type { PrismaClient } from '../../database/client/prisma.ts';
import { scheduleHourly } from '../../database/jobs/job-queue.ts';
import type { Queue } from '../../database/jobs/job-schema.ts';
import { forEachTenant, type JobTenant } from '../../database/tenant-maintenance.ts';

/**
 * The queue for the hourly job that deletes expired responses. The job can run for up to one hour, because deleting ten
 * million rows takes minutes.
 */
export const idempotencyRetentionQueue: Queue = {
  name: 'idempotency-retention',
  policy: 'exclusive',
  options: { expireInSeconds: 3600 },
};

/**
 * Schedules an hourly job that deletes expired responses. If the server stored thousands of responses per second, a
 * nightly job would take longer than a night, and the table would be twice as large.
 */
export function scheduleIdempotencyRetention(boss: PgBoss, prisma: PrismaClient): Promise<void> {
  return scheduleHourly(boss, idempotencyRetentionQueue, () => pruneIdempotencyKeys(prisma));
}

/**
 * Deletes the expired responses of each tenant in batches. Each batch is committed separately. Resolves to the number
 * of deleted responses.
 */
export function pruneIdempotencyKeys(prisma: PrismaClient, batchSize = 5000): Promise<number> {
  return forEachTenant(prisma, (tenant) => pruneTenant(prisma, tenant, batchSize));
}

function pruneTenant(prisma: PrismaClient, { tenantId, inBatches }: JobTenant, batchSize: number): Promise<number> {
  let since = new Date(0);
  return inBatches(batchSize, async () => {
    // Each batch starts where the previous batch ended, because deleted rows stay in the index until a vacuum. The
    // DELETE checks the age again, because a request may have replaced the response in the meantime.
    const [batch] = await prisma.$queryRaw<{ count: number; last: Date | null }[]>`
      WITH old AS MATERIALIZED (
        SELECT key_id, key, created_at FROM idempotency_keys
        WHERE tenant_id = ${tenantId} AND created_at >= ${since}
          AND created_at < now() - ${idempotencyHours}::int * interval '1 hour'
        ORDER BY created_at LIMIT ${batchSize}
      ), gone AS (
        DELETE FROM idempotency_keys k USING old WHERE k.tenant_id = ${tenantId} AND k.key_id = old.key_id
          AND k.key = old.key AND k.created_at < now() - ${idempotencyHours}::int * interval '1 hour'
      )
      SELECT count(*)::int AS count, max(created_at) AS last FROM old`;
    since = batch?.last ?? since;
    return batch?.count ?? 0;
  });
}
