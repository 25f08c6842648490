import type { PgBoss } from 'pg-boss';
import type { PrismaClient } from '../../database/client/prisma.ts';
import { inBatches } from '../../database/in-batches.ts';
import { scheduleNightly } from '../../database/jobs/job-queue.ts';
import type { Queue } from '../../database/jobs/job-schema.ts';
import { type TenantId, toTenantId } from '../../shared/tenant-id.ts';

/** How long a settled delivery, its attempts and its event are kept. Days. */
const keepDays = 30;

/** It leaves time to others. */
export const retentionQueue: Queue = {
  name: 'webhook-retention',
  policy: 'exclusive',
  options: { expireInSeconds: 6 * 3600 },
};

/** Has what is settled pruned every night, secrets that sign no more, and replays that are done. */
export function scheduleRetention(boss: PgBoss, prisma: PrismaClient): Promise<void> {
  return scheduleNightly(boss, retentionQueue, async () => {
    await pruneSecrets(prisma);
    await pruneReplays(prisma);
    await pruneSettled(prisma);
  });
}

/** Forgets secrets that were replaced and sign no more. Resolves to how many there were. */
export function pruneSecrets(prisma: PrismaClient): Promise<number> {
  return prisma.$executeRaw`
    UPDATE webhook_subscriptions SET previous_secret = NULL, previous_secret_until = NULL
    WHERE previous_secret_until < now()`;
}

/** Forgets replays that were done a day ago. Resolves to how many there were. */
export function pruneReplays(prisma: PrismaClient): Promise<number> {
  return prisma.$executeRaw`
    DELETE FROM webhook_replays WHERE finished_at < now() - interval '1 day'`;
}

/**
 * Deletes deliveries that were settled more than 30 days ago, then events that have none left, a tenant after the other, in
 * batches that each commit. What is not settled is never deleted, however old it is. Resolves to how many deliveries went.
 */
export async function pruneSettled(prisma: PrismaClient, batchSize = 1000): Promise<number> {
  let pruned = 0;
  for (const { id } of await prisma.tenant.findMany({ select: { id: true } })) {
    const tenantId = toTenantId(id);
    pruned += await prune(prisma, { tenantId, batchSize, sql: settledDeliveries });
    await prune(prisma, { tenantId, batchSize, sql: eventsWithoutDeliveries });
  }
  return pruned;
}

interface Pruning {
  tenantId: TenantId;
  batchSize: number;
  /** $1: the tenant; $2, $3: the moment and the id of the row behind which to go on; $4: how many to look at. */
  sql: string;
}

/** The last row that a batch has looked at, how many it has, and how many of them are gone. */
interface Looked {
  at: Date;
  id: bigint;
  count: number;
  gone: number;
}

/** A batch begins behind the last one: what is kept is looked at once, and what is gone stays in the index for a while. */
async function prune(prisma: PrismaClient, { tenantId, batchSize, sql }: Pruning): Promise<number> {
  let [at, id, gone] = [new Date(0), 0n, 0];
  await inBatches(batchSize, async () => {
    const [looked] = await prisma.$queryRawUnsafe<Looked[]>(sql, tenantId, at, id, batchSize);
    if (looked === undefined) return 0;
    ({ at, id } = looked);
    gone += looked.gone;
    return looked.count;
  });
  return gone;
}

const told = `SELECT at, id, (SELECT count(*)::int FROM old) AS count, (SELECT count(*)::int FROM gone) AS gone
  FROM old ORDER BY at DESC, id DESC LIMIT 1`;

/** Asked again as a row is locked: it may have been sent again meanwhile. What somebody holds, to do just that, is passed by. */
const isSettled = `settled_at < now() - interval '${keepDays} days' AND state <> 'PENDING'`;

const settledDeliveries = `
  WITH old AS MATERIALIZED (
    SELECT settled_at AS at, id FROM deliveries
    WHERE tenant_id = $1 AND (settled_at, id) > ($2::timestamptz, $3::bigint) AND ${isSettled}
    ORDER BY settled_at, id LIMIT $4
  ), gone AS (
    DELETE FROM deliveries WHERE tenant_id = $1 AND id = ANY (ARRAY(
      SELECT id FROM deliveries WHERE tenant_id = $1 AND id IN (SELECT id FROM old) AND ${isSettled}
      ORDER BY id FOR UPDATE SKIP LOCKED)) RETURNING 1
  ) ${told}`;

const eventsWithoutDeliveries = `
  WITH old AS MATERIALIZED (
    SELECT created_at AS at, id FROM events
    WHERE tenant_id = $1 AND (created_at, id) > ($2::timestamptz, $3::bigint)
      AND created_at < now() - interval '${keepDays} days'
    ORDER BY created_at, id LIMIT $4
  ), gone AS (
    DELETE FROM events e WHERE tenant_id = $1 AND id IN (SELECT id FROM old)
      AND NOT EXISTS (SELECT FROM deliveries d WHERE d.tenant_id = $1 AND d.event_id = e.id) RETURNING 1
  ) ${told}`;
