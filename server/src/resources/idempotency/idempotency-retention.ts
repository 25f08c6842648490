import { idempotencyHours } from '@itsm-api/contract';
import type { SystemClient } from '../../database/client/prisma.ts';
import { sql, tenant } from '../../database/client/sql.ts';
import { rows } from '../../database/client/statements.ts';
import { forEachTenant, type JobTenant } from '../../database/tenant-maintenance.ts';

/**
 * Deletes the expired responses of each tenant in batches. Each batch is committed separately. Resolves to the number
 * of deleted responses.
 */
export function pruneIdempotencyKeys(prisma: SystemClient, batchSize = 5000): Promise<number> {
  return forEachTenant(prisma, (tenant) => pruneTenant(prisma, tenant, batchSize));
}

function pruneTenant(prisma: SystemClient, { tenantId, inBatches }: JobTenant, batchSize: number): Promise<number> {
  let since = new Date(0);
  return inBatches(batchSize, async () => {
    const [batch] = await prisma.$tenant(tenantId).$sql(deleteExpired, { since, size: batchSize });
    since = batch?.last ?? since;
    return batch?.count ?? 0;
  });
}

/**
 * Deletes one batch. Each batch starts where the previous batch ended, because deleted rows stay in the index until a
 * vacuum. The DELETE checks the age again, because a request may have replaced the response in the meantime.
 */
const deleteExpired = rows<{ since: Date; size: number }, { count: number; last: Date | null }>(
  ({ since, size }) => sql`
    WITH old AS MATERIALIZED (
      SELECT key_id, key, created_at FROM idempotency_keys
      WHERE tenant_id = ${tenant} AND created_at >= ${since}
        AND created_at < now() - make_interval(hours => ${idempotencyHours})
      ORDER BY created_at LIMIT ${size}
    ), gone AS (
      DELETE FROM idempotency_keys k USING old WHERE k.tenant_id = ${tenant} AND k.key_id = old.key_id
        AND k.key = old.key AND k.created_at < now() - make_interval(hours => ${idempotencyHours})
    )
    SELECT count(*)::int AS count, max(created_at) AS last FROM old`,
);
