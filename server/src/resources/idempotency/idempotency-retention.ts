import { idempotencyHours } from '@itsm-api/contract';
import type { PgBoss } from 'pg-boss';
import type { PrismaClient } from '../../database/client/prisma.ts';
import { inBatches } from '../../database/in-batches.ts';
import { scheduleHourly } from '../../database/jobs/job-queue.ts';
import type { Queue } from '../../database/jobs/job-schema.ts';
import { type TenantId, toTenantId } from '../../shared/tenant-id.ts';

/** Ten million rows take minutes. */
export const idempotencyRetentionQueue: Queue = {
  name: 'idempotency-retention',
  policy: 'exclusive',
  options: { expireInSeconds: 3600 },
};

/**
 * Has the answers forgotten every hour that are given no more. Where thousands are stored in a second, those of a day are
 * more than a night's work, and the table twice as large as it must be.
 */
export function scheduleIdempotencyRetention(boss: PgBoss, prisma: PrismaClient): Promise<void> {
  return scheduleHourly(boss, idempotencyRetentionQueue, () => pruneIdempotencyKeys(prisma));
}

/**
 * Deletes answers that are older than they are given, a tenant after the other, in batches that each commit. Resolves to
 * how many went.
 */
export async function pruneIdempotencyKeys(prisma: PrismaClient, batchSize = 5000): Promise<number> {
  let sum = 0;
  for (const { id } of await prisma.tenant.findMany({ select: { id: true } })) {
    sum += await pruneTenant(prisma, toTenantId(id), batchSize);
  }
  return sum;
}

function pruneTenant(prisma: PrismaClient, tenantId: TenantId, batchSize: number): Promise<number> {
  let since = new Date(0);
  return inBatches(batchSize, async () => {
    // A batch begins where the last one ended, since its rows stay in the index until they are vacuumed. The age is looked
    // at again as a row is deleted: a request may have given its key a new answer meanwhile.
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
