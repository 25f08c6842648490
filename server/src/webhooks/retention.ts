import type { PgBoss } from 'pg-boss';
import { Prisma } from '../database/generated/client.ts';
import type { Queue } from '../database/job-schema.ts';
import { scheduleNightly } from '../database/jobs.ts';
import type { PrismaClient } from '../database/prisma.ts';
import { isWhole } from '../database/whole-tenants.ts';

/** How long a settled delivery, its attempts and its event are kept. Days. */
const keepDays = 30;

export const retentionQueue: Queue = { name: 'webhook-retention', policy: 'exclusive', options: {} };

/** Has what is settled pruned every night, secrets that sign no more, and replays that are done. */
export function scheduleRetention(boss: PgBoss, prisma: PrismaClient): Promise<void> {
  return scheduleNightly(boss, retentionQueue, async () => {
    await forgetSecrets(prisma);
    await forgetReplays(prisma);
    await pruneSettled(prisma);
  });
}

/** Forgets secrets that were replaced and sign no more. Resolves to how many there were. */
export function forgetSecrets(prisma: PrismaClient): Promise<number> {
  return prisma.$executeRaw`
    UPDATE webhook_subscriptions SET previous_secret = NULL, previous_secret_until = NULL
    WHERE previous_secret_until < now() AND ${whole('webhook_subscriptions.tenant_id')}`;
}

/** Forgets replays that were done a day ago. Resolves to how many there were. */
export function forgetReplays(prisma: PrismaClient): Promise<number> {
  return prisma.$executeRaw`
    DELETE FROM webhook_replays
    WHERE finished_at < now() - interval '1 day' AND ${whole('webhook_replays.tenant_id')}`;
}

/**
 * Deletes deliveries that were settled more than 30 days ago, then events that have none left, in batches that each
 * commit. What is not settled is never deleted, however old it is. Resolves to how many deliveries went.
 */
export async function pruneSettled(prisma: PrismaClient, batchSize = 1000): Promise<number> {
  const pruned = await inBatches(
    batchSize,
    () => prisma.$executeRaw`
      DELETE FROM deliveries WHERE ${settledBefore('deliveries')} AND (tenant_id, id) IN (
        SELECT old.tenant_id, old.id FROM tenants t CROSS JOIN LATERAL (
          SELECT tenant_id, id FROM deliveries d WHERE tenant_id = t.id AND ${settledBefore('d')}
          ORDER BY settled_at LIMIT ${batchSize}
        ) old WHERE ${whole('t.id')} LIMIT ${batchSize})`,
  );
  await inBatches(
    batchSize,
    () => prisma.$executeRaw`
      DELETE FROM events WHERE (tenant_id, id) IN (
        SELECT old.tenant_id, old.id FROM tenants t CROSS JOIN LATERAL (
          SELECT e.tenant_id, e.id FROM events e
          WHERE e.tenant_id = t.id AND e.created_at < now() - ${keepDays}::int * interval '1 day'
            AND NOT EXISTS (SELECT FROM deliveries d WHERE d.tenant_id = e.tenant_id AND d.event_id = e.id)
          ORDER BY e.created_at
          LIMIT ${batchSize}
        ) old WHERE ${whole('t.id')} LIMIT ${batchSize})`,
  );
  return pruned;
}

/** Asked again as a row is deleted: it may have been sent again meanwhile. */
const settledBefore = (delivery: string) =>
  Prisma.raw(`${delivery}.settled_at < now() - interval '${keepDays} days' AND ${delivery}.state <> 'PENDING'`);

const whole = (tenantId: string) => Prisma.raw(isWhole(tenantId));

/** Works until a batch is not full; resolves to the sum. */
async function inBatches(size: number, work: () => Promise<number>): Promise<number> {
  let sum = 0;
  for (let done = size; done === size; sum += done) done = await work();
  return sum;
}
