import type { PgBoss } from 'pg-boss';
import { Prisma } from '../database/generated/client.ts';
import type { Queue } from '../database/job-schema.ts';
import { scheduleNightly } from '../database/jobs.ts';
import type { PrismaClient } from '../database/prisma.ts';

/** How long a settled delivery, its attempts and its event are kept. Days. */
const keepDays = 30;

interface Pruning {
  prisma: PrismaClient;
  now(): Date;
}

export const retentionQueue: Queue = { name: 'webhook-retention', policy: 'exclusive', options: {} };

/** Has what is settled pruned every night. */
export function scheduleRetention(boss: PgBoss, pruning: Pruning): Promise<void> {
  return scheduleNightly(boss, retentionQueue, () => pruneSettled(pruning));
}

/**
 * Deletes deliveries that were settled more than 30 days ago, then events that have none left, in batches. What is not
 * settled is never deleted, however old it is. Resolves to how many deliveries went.
 */
export async function pruneSettled({ prisma, now }: Pruning, batchSize = 5000): Promise<number> {
  const before = new Date(now().getTime() - keepDays * 24 * 60 * 60 * 1000);
  // A change that was committed beside the deactivation of a subscription may have left it a delivery.
  await patiently(
    prisma,
    Prisma.sql`
      UPDATE deliveries d SET state = 'CANCELLED', claim = NULL, settled_at = ${now()}::timestamptz
      FROM webhook_subscriptions s
      WHERE s.tenant_id = d.tenant_id AND s.id = d.subscription_id AND NOT s.active AND d.state = 'PENDING'`,
  );
  const pruned = await inBatches(batchSize, () =>
    patiently(
      prisma,
      Prisma.sql`
        DELETE FROM deliveries WHERE (tenant_id, id) IN (
          SELECT old.tenant_id, old.id FROM tenants t CROSS JOIN LATERAL (
            SELECT tenant_id, id FROM deliveries
            WHERE tenant_id = t.id AND settled_at < ${before} AND state <> 'PENDING' LIMIT ${batchSize}
          ) old LIMIT ${batchSize})`,
    ),
  );
  await inBatches(batchSize, () =>
    patiently(
      prisma,
      Prisma.sql`
        DELETE FROM events WHERE (tenant_id, id) IN (
          SELECT old.tenant_id, old.id FROM tenants t CROSS JOIN LATERAL (
            SELECT e.tenant_id, e.id FROM events e WHERE e.tenant_id = t.id AND e.created_at < ${before}
              AND NOT EXISTS (SELECT FROM deliveries d WHERE d.tenant_id = e.tenant_id AND d.event_id = e.id)
            LIMIT ${batchSize}
          ) old LIMIT ${batchSize})`,
    ),
  );
  return pruned;
}

/** Runs a statement however long it takes; resolves to how many rows it changed. */
async function patiently(prisma: PrismaClient, statement: Prisma.Sql): Promise<number> {
  const [, changed] = await prisma.$transaction([
    prisma.$executeRaw`SET LOCAL statement_timeout = 0`,
    prisma.$executeRaw(statement),
  ]);
  return changed;
}

/** Works until a batch is not full; resolves to the sum. */
async function inBatches(size: number, work: () => Promise<number>): Promise<number> {
  let sum = 0;
  for (let done = size; done === size; sum += done) done = await work();
  return sum;
}
