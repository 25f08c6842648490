import type { PgBoss } from 'pg-boss';
import type { PrismaClient } from '../../database/client/prisma.ts';
import { scheduleNightly } from '../../database/jobs/job-queue.ts';
import type { Queue } from '../../database/jobs/job-schema.ts';
import { forEachTenant } from '../../database/tenant-maintenance.ts';

export const auditRetentionQueue: Queue = {
  name: 'audit-retention',
  policy: 'exclusive',
  options: { expireInSeconds: 3600 },
};

/** Schedules a nightly job that deletes old entries of the audit log. @param days the retention period */
export function scheduleAuditRetention(boss: PgBoss, prisma: PrismaClient, days: number): Promise<void> {
  return scheduleNightly(boss, auditRetentionQueue, () => pruneAudit(prisma, days));
}

/**
 * Deletes the entries of the audit log that are older than `days` days. Processes one tenant at a time, and commits
 * each batch separately. Resolves to the number of deleted entries.
 */
export function pruneAudit(prisma: PrismaClient, days: number, batchSize = 5000): Promise<number> {
  return forEachTenant(prisma, ({ tenantId, inBatches }) =>
    inBatches(
      batchSize,
      () => prisma.$executeRaw`
        DELETE FROM audit_entries WHERE tenant_id = ${tenantId} AND id = ANY (ARRAY(
          SELECT id FROM audit_entries
          WHERE tenant_id = ${tenantId} AND at < now() - ${days}::int * interval '1 day' ORDER BY at LIMIT ${batchSize}
        ))`,
    ),
  );
}
