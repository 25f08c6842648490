import type { SystemClient } from '../../database/client/prisma.ts';
import { type Parameter, type Sql, sql, tenant } from '../../database/client/sql.ts';
import { allTenants, type None, rows, type Statement } from '../../database/client/statements.ts';
import { forEachTenant, type JobTenant, notInMaintenance } from '../../database/tenant-maintenance.ts';

/** How many days the server keeps settled deliveries, their attempts and their events. */
const keepDays = 30;

const deleteSecrets = allTenants.command<None>(
  () => sql`
    UPDATE webhook_subscriptions s SET previous_secret = NULL, previous_secret_until = NULL
    FROM tenants t WHERE s.previous_secret_until < now() AND t.id = s.tenant_id AND ${notInMaintenance}`,
);

/** Deletes previous signing secrets that have expired. Resolves to the number of deleted secrets. */
export function pruneSecrets(prisma: SystemClient): Promise<number> {
  return prisma.$sql(deleteSecrets);
}

const deleteReplays = allTenants.command<None>(
  () => sql`
    DELETE FROM webhook_replays r USING tenants t
    WHERE r.finished_at < now() - interval '1 day' AND t.id = r.tenant_id AND ${notInMaintenance}`,
);

/** Deletes replays that finished more than a day ago. Resolves to the number of deleted replays. */
export function pruneReplays(prisma: SystemClient): Promise<number> {
  return prisma.$sql(deleteReplays);
}

/**
 * Deletes deliveries that were settled more than 30 days ago. Then deletes events without deliveries that were created
 * more than 30 days ago. Deletes each tenant's rows in batches, and commits each batch separately. Never deletes
 * pending deliveries. Resolves to the number of deleted deliveries.
 */
export function pruneSettled(prisma: SystemClient, batchSize = 1000): Promise<number> {
  return forEachTenant(prisma, async (tenant) => {
    const pruned = await prune(prisma, { tenant, batchSize, statement: deleteSettled });
    await prune(prisma, { tenant, batchSize, statement: deleteEvents });
    return pruned;
  });
}

interface PruneOptions {
  tenant: JobTenant;
  batchSize: number;
  /** The statement that deletes one batch. */
  statement: Statement<After, Batch, 'rows'>;
}

/** The time and id of the last row in the previous batch, and the batch size. */
interface After {
  at: Date;
  id: bigint;
  size: number;
}

/** The time and id of a batch's last row, the number of rows read, and the number of rows deleted. */
interface Batch {
  at: Date;
  id: bigint;
  count: number;
  deleted: number;
}

/**
 * Deletes rows in batches. Each batch starts after the last row of the previous batch, so it doesn't scan the dead
 * index entries and the remaining rows of earlier batches again.
 */
async function prune(prisma: SystemClient, { tenant, batchSize, statement }: PruneOptions): Promise<number> {
  const db = prisma.$tenant(tenant.tenantId);
  let [at, id, deleted] = [new Date(0), 0n, 0];
  await tenant.inBatches(batchSize, async () => {
    const [looked] = await db.$sql(statement, { at, id, size: batchSize });
    if (looked === undefined) return 0;
    ({ at, id } = looked);
    deleted += looked.deleted;
    return looked.count;
  });
  return deleted;
}

const batchResult = sql`SELECT at, id, (SELECT count(*)::int FROM old) AS count,
    (SELECT count(*)::int FROM deleted) AS deleted
  FROM old ORDER BY at DESC, id DESC LIMIT 1`;

const isOlder = (column: Sql) => sql`${column} < now() - make_interval(days => ${keepDays})`;

/**
 * The SQL condition for a delivery that is settled and old enough to delete. A replay may make a delivery pending, so
 * the statement checks the condition again after it has locked the rows. The statement skips rows that a replay has
 * locked.
 */
const isSettled = sql`${isOlder(sql`settled_at`)} AND state <> 'PENDING'`;

const isAfter = (column: Sql, { at, id }: Record<'at' | 'id', Parameter>) =>
  sql`(${column}, id) > (${at}::timestamptz, ${id}::bigint)`;

const deleteSettled = rows<After, Batch>(
  ({ at, id, size }) => sql`
  WITH old AS MATERIALIZED (
    SELECT settled_at AS at, id FROM deliveries
    WHERE tenant_id = ${tenant} AND ${isAfter(sql`settled_at`, { at, id })} AND ${isSettled}
    ORDER BY settled_at, id LIMIT ${size}
  ), deleted AS (
    DELETE FROM deliveries WHERE tenant_id = ${tenant} AND id = ANY (ARRAY(
      SELECT id FROM deliveries WHERE tenant_id = ${tenant} AND id IN (SELECT id FROM old) AND ${isSettled}
      ORDER BY id FOR UPDATE SKIP LOCKED)) RETURNING 1
  ) ${batchResult}`,
);

const deleteEvents = rows<After, Batch>(
  ({ at, id, size }) => sql`
  WITH old AS MATERIALIZED (
    SELECT created_at AS at, id FROM events
    WHERE tenant_id = ${tenant} AND ${isAfter(sql`created_at`, { at, id })} AND ${isOlder(sql`created_at`)}
    ORDER BY created_at, id LIMIT ${size}
  ), deleted AS (
    DELETE FROM events e WHERE tenant_id = ${tenant} AND id IN (SELECT id FROM old)
      AND NOT EXISTS (SELECT FROM deliveries d WHERE d.tenant_id = ${tenant} AND d.event_id = e.id) RETURNING 1
  ) ${batchResult}`,
);
