import type { SystemClient } from '../../database/client/prisma.ts';
import { sql, tenant } from '../../database/client/sql.ts';
import { command } from '../../database/client/statements.ts';
import { forEachTenant } from '../../database/tenant-maintenance.ts';

/**
 * Deletes the entries of the audit log that are older than `days` days. Processes one tenant at a time, and commits
 * each batch separately. Resolves to the number of deleted entries.
 */
export function pruneAudit(prisma: SystemClient, days: number, batchSize = 5000): Promise<number> {
  return forEachTenant(prisma, ({ tenantId, inBatches }) =>
    inBatches(batchSize, () => prisma.$tenant(tenantId).$sql(deleteOld, { days, size: batchSize })),
  );
}

const deleteOld = command<{ days: number; size: number }>(
  ({ days, size }) => sql`
    DELETE FROM audit_entries WHERE tenant_id = ${tenant} AND id = ANY (ARRAY(
      SELECT id FROM audit_entries
      WHERE tenant_id = ${tenant} AND at < now() - ${days}::int * interval '1 day' ORDER BY at LIMIT ${size}
    ))`,
);
