import type { PgBoss } from 'pg-boss';
import type { PrismaClient } from '../../database/client/prisma.ts';
import { scheduleNightly } from '../../database/jobs/job-queue.ts';
import type { Queue } from '../../database/jobs/job-schema.ts';
import { notInMaintenanceSql } from '../../database/tenant-maintenance.ts';
import type { AttachmentStorage } from '../../storage/attachment-storage.ts';

/** The age in hours after which the server deletes an unused file. An upload takes at most 15 minutes. */
const minAgeHours = 24;

/** The queue of the nightly job that deletes unused files. */
export const attachmentCleanupQueue: Queue = {
  name: 'attachment-cleanup',
  policy: 'exclusive',
  options: { expireInSeconds: 6 * 3600 },
};

interface Cleanup {
  prisma: PrismaClient;
  storage: AttachmentStorage;
}

/** Schedules the nightly job that deletes unused files from the store of attachments. */
export function scheduleAttachmentCleanup(boss: PgBoss, cleanup: Cleanup): Promise<void> {
  return scheduleNightly(boss, attachmentCleanupQueue, () => deleteUnusedFiles(cleanup));
}

/**
 * Deletes files that were stored more than 24 hours ago and belong to no attachment: temporary files of interrupted
 * uploads, and files of attachments that were deleted while the store was unavailable. Keeps the files of tenants in
 * maintenance, because an import may still be adding their attachments. Resolves to the number of deleted files.
 */
export async function deleteUnusedFiles({ prisma, storage }: Cleanup, batchSize = 1000): Promise<number> {
  const before = Date.now() - minAgeHours * 3_600_000;
  let deleted = 0;
  let batch: string[] = [];
  const deleteBatch = async () => {
    const kept = await findKept(prisma, batch);
    for (const key of batch) {
      if (kept.has(key)) continue;
      await storage.delete(key);
      deleted++;
    }
    batch = [];
  };
  for await (const { key, modifiedAt } of storage.list()) {
    if (modifiedAt.getTime() > before) continue;
    batch.push(key);
    if (batch.length === batchSize) await deleteBatch();
  }
  await deleteBatch();
  return deleted;
}

/**
 * Returns which of the given keys belong to an attachment or to a tenant in maintenance. Temporary keys belong to no
 * attachment.
 */
async function findKept(prisma: PrismaClient, keys: string[]): Promise<ReadonlySet<string>> {
  const rows = await prisma.$queryRaw<{ key: string }[]>`
    SELECT key FROM unnest(${keys}::text[]) AS key JOIN tenants t ON t.id = substring(key FROM '^\\d+')::bigint
    WHERE NOT (${notInMaintenanceSql}) OR EXISTS (
      SELECT FROM attachments WHERE tenant_id = t.id AND storage_key = key)`;
  return new Set(rows.map(({ key }) => key));
}
