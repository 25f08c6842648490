import { endedProposalDays } from '@itsm-api/contract';
import type { SystemClient } from '../../database/client/prisma.ts';
import { sql, tenant } from '../../database/client/sql.ts';
import { command } from '../../database/client/statements.ts';
import { forEachTenant } from '../../database/tenant-maintenance.ts';

/**
 * Stores the status EXPIRED of proposals whose time has passed, and deletes proposals that ended `endedProposalDays`
 * ago. Commits each batch separately. Resolves to the number of changed and deleted proposals.
 */
export function pruneProposals(prisma: SystemClient, batchSize = 5000): Promise<number> {
  return forEachTenant(prisma, async ({ tenantId, inBatches }) => {
    const db = prisma.$tenant(tenantId);
    const expired = await inBatches(batchSize, () => db.$sql(expire, { size: batchSize }));
    return expired + (await inBatches(batchSize, () => db.$sql(deleteOld, { size: batchSize })));
  });
}

const expire = command<{ size: number }>(
  ({ size }) => sql`
    UPDATE proposals SET status = 'EXPIRED', ended_at = expires_at WHERE tenant_id = ${tenant} AND id = ANY (ARRAY(
      SELECT id FROM proposals WHERE tenant_id = ${tenant} AND status = 'PENDING' AND expires_at <= now()
      LIMIT ${size} FOR NO KEY UPDATE SKIP LOCKED
    ))`,
);

const deleteOld = command<{ size: number }>(
  ({ size }) => sql`
    DELETE FROM proposals WHERE tenant_id = ${tenant} AND id = ANY (ARRAY(
      SELECT id FROM proposals
      WHERE tenant_id = ${tenant} AND ended_at < now() - ${endedProposalDays}::int * interval '1 day' LIMIT ${size}
    ))`,
);
