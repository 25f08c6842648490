import type { SystemClient } from '../../database/client/prisma.ts';
import { sql, tenant } from '../../database/client/sql.ts';
import { command } from '../../database/client/statements.ts';
import { forEachTenant } from '../../database/tenant-maintenance.ts';

/**
 * Deletes the sessions without a request in the last 30 days, because they contain IP addresses. They have all ended.
 * Keeps the newest session of each user, because it is the last sign-in. Commits each batch separately. Resolves to the number of deleted sessions.
 */
export function pruneSessions(prisma: SystemClient, batchSize = 5000): Promise<number> {
  return forEachTenant(prisma, ({ tenantId, inBatches }) =>
    inBatches(batchSize, () => prisma.$tenant(tenantId).$sql(deleteOld, { size: batchSize })),
  );
}

const deleteOld = command<{ size: number }>(
  ({ size }) => sql`
    DELETE FROM sessions WHERE tenant_id = ${tenant} AND id = ANY (ARRAY(
      SELECT s.id FROM sessions s WHERE s.tenant_id = ${tenant} AND s.last_seen_at < now() - interval '30 days'
        AND EXISTS (SELECT 1 FROM sessions newer
          WHERE newer.tenant_id = s.tenant_id AND newer.user_id = s.user_id AND newer.id > s.id)
      LIMIT ${size}
    ))`,
);
