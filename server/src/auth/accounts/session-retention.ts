import type { PgBoss } from 'pg-boss';
import type { PrismaClient } from '../../database/client/prisma.ts';
import { scheduleNightly } from '../../database/jobs/job-queue.ts';
import type { Queue } from '../../database/jobs/job-schema.ts';
import { forEachTenant } from '../../database/tenant-maintenance.ts';

export const sessionRetentionQueue: Queue = {
  name: 'session-retention',
  policy: 'exclusive',
  options: { expireInSeconds: 3600 },
};

/** Schedules a nightly job that deletes old sessions, because they contain IP addresses. */
export function scheduleSessionRetention(boss: PgBoss, prisma: PrismaClient): Promise<void> {
  return scheduleNightly(boss, sessionRetentionQueue, () => pruneSessions(prisma));
}

/**
 * Deletes the sessions without a request in the last 30 days, which have all ended. Keeps the newest session of each
 * user, because it is the last sign-in. Commits each batch separately. Resolves to the number of deleted sessions.
 */
export function pruneSessions(prisma: PrismaClient, batchSize = 5000): Promise<number> {
  return forEachTenant(prisma, ({ tenantId, inBatches }) =>
    inBatches(
      batchSize,
      () => prisma.$executeRaw`
        DELETE FROM sessions WHERE tenant_id = ${tenantId} AND id = ANY (ARRAY(
          SELECT s.id FROM sessions s WHERE s.tenant_id = ${tenantId} AND s.last_seen_at < now() - interval '30 days'
            AND EXISTS (SELECT 1 FROM sessions newer
              WHERE newer.tenant_id = s.tenant_id AND newer.user_id = s.user_id AND newer.id > s.id)
          LIMIT ${batchSize}
        ))`,
    ),
  );
}
