import type { PgBoss } from 'pg-boss';
import type { PrismaClient } from '../../database/client/prisma.ts';
import { scheduleNightly } from '../../database/jobs/job-queue.ts';
import type { Queue } from '../../database/jobs/job-schema.ts';
import { forEachTenant, type JobTenant, notInMaintenanceSql } from '../../database/tenant-maintenance.ts';

/** How many days the server keeps settled deliveries, their attempts and their events. */
const keepDays = 30;

/** The queue of the nightly job that deletes old deliveries. */
export const retentionQueue: Queue = {
  name: 'webhook-retention',
  policy: 'exclusive',
  options: { expireInSeconds: 6 * 3600 },
};

/** Schedules the nightly job that deletes old deliveries, expired previous secrets and finished replays. */
export function scheduleRetention(boss: PgBoss, prisma: PrismaClient): Promise<void> {
  return scheduleNightly(boss, retentionQueue, async () => {
    await pruneSecrets(prisma);
    await pruneReplays(prisma);
    await pruneSettled(prisma);
  });
}

/** Deletes previous signing secrets that have expired. Resolves to the number of deleted secrets. */
export function pruneSecrets(prisma: PrismaClient): Promise<number> {
  return prisma.$executeRaw`
    UPDATE webhook_subscriptions s SET previous_secret = NULL, previous_secret_until = NULL
    FROM tenants t WHERE s.previous_secret_until < now() AND t.id = s.tenant_id AND ${notInMaintenanceSql}`;
}

/** Deletes replays that finished more than a day ago. Resolves to the number of deleted replays. */
export function pruneReplays(prisma: PrismaClient): Promise<number> {
  return prisma.$executeRaw`
    DELETE FROM webhook_replays r USING tenants t
    WHERE r.finished_at < now() - interval '1 day' AND t.id = r.tenant_id AND ${notInMaintenanceSql}`;
}

/**
 * Deletes deliveries that were settled more than 30 days ago. Then deletes events without deliveries that were created
 * more than 30 days ago. Deletes each tenant's rows in batches, and commits each batch separately. Never deletes
 * pending deliveries. Resolves to the number of deleted deliveries.
 */
export function pruneSettled(prisma: PrismaClient, batchSize = 1000): Promise<number> {
  return forEachTenant(prisma, async (tenant) => {
    const pruned = await prune(prisma, { tenant, batchSize, sql: settledDeliveries });
    await prune(prisma, { tenant, batchSize, sql: eventsWithoutDeliveries });
    return pruned;
  });
}

interface Pruning {
  tenant: JobTenant;
  batchSize: number;
  /**
   * The SQL that deletes one batch. $1 is the tenant. $2 and $3 are the time and id of the last row in the previous
   * batch. $4 is the batch size.
   */
  sql: string;
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
async function prune(prisma: PrismaClient, { tenant, batchSize, sql }: Pruning): Promise<number> {
  let [at, id, deleted] = [new Date(0), 0n, 0];
  await tenant.inBatches(batchSize, async () => {
    const [looked] = await prisma.$queryRawUnsafe<Batch[]>(sql, tenant.tenantId, at, id, batchSize);
    if (looked === undefined) return 0;
    ({ at, id } = looked);
    deleted += looked.deleted;
    return looked.count;
  });
  return deleted;
}

const batchResult = `SELECT at, id, (SELECT count(*)::int FROM old) AS count, (SELECT count(*)::int FROM deleted) AS deleted
  FROM old ORDER BY at DESC, id DESC LIMIT 1`;

/**
 * The SQL condition for a delivery that is settled and old enough to delete. A replay may make a delivery pending, so
 * the statement checks the condition again after it has locked the rows. The statement skips rows that a replay has
 * locked.
 */
const isSettled = `settled_at < now() - interval '${keepDays} days' AND state <> 'PENDING'`;

const settledDeliveries = `
  WITH old AS MATERIALIZED (
    SELECT settled_at AS at, id FROM deliveries
    WHERE tenant_id = $1 AND (settled_at, id) > ($2::timestamptz, $3::bigint) AND ${isSettled}
    ORDER BY settled_at, id LIMIT $4
  ), deleted AS (
    DELETE FROM deliveries WHERE tenant_id = $1 AND id = ANY (ARRAY(
      SELECT id FROM deliveries WHERE tenant_id = $1 AND id IN (SELECT id FROM old) AND ${isSettled}
      ORDER BY id FOR UPDATE SKIP LOCKED)) RETURNING 1
  ) ${batchResult}`;

const eventsWithoutDeliveries = `
  WITH old AS MATERIALIZED (
    SELECT created_at AS at, id FROM events
    WHERE tenant_id = $1 AND (created_at, id) > ($2::timestamptz, $3::bigint)
      AND created_at < now() - interval '${keepDays} days'
    ORDER BY created_at, id LIMIT $4
  ), deleted AS (
    DELETE FROM events e WHERE tenant_id = $1 AND id IN (SELECT id FROM old)
      AND NOT EXISTS (SELECT FROM deliveries d WHERE d.tenant_id = $1 AND d.event_id = e.id) RETURNING 1
  ) ${batchResult}`;
