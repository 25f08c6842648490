import type { SystemClient } from '../../../database/client/prisma.ts';
import { sql } from '../../../database/client/sql.ts';
import { allTenants } from '../../../database/client/statements.ts';
import { forEachTenant, notInMaintenance } from '../../../database/tenant-maintenance.ts';
import type { AttachmentStorage } from '../../../storage/attachment-storage.ts';

/** The age in hours after which the server deletes an unused file. An upload takes at most 15 minutes. */
const minAgeHours = 24;

interface Cleanup {
  prisma: SystemClient;
  storage: AttachmentStorage;
}

/**
 * Deletes the files of deleted attachments. Usually, the process that deleted an attachment has already deleted the file.
 * It may have been killed, or the store may have been unavailable. Resolves to the number of attachments.
 */
export async function deleteFilesOfDeleted({ prisma, storage }: Cleanup): Promise<number> {
  const batchSize = 1000;
  return forEachTenant(prisma, ({ tenantId, inBatches }) =>
    inBatches(batchSize, async () => {
      const where = { tenantId, storageKey: { not: null } };
      const rows = await prisma.deletedAttachment.findMany({ where, orderBy: { id: 'asc' }, take: batchSize });
      for (const { storageKey } of rows) await storage.delete(storageKey ?? '');
      const ids = rows.map(({ id }) => id);
      await prisma.deletedAttachment.updateMany({ where: { ...where, id: { in: ids } }, data: { storageKey: null } });
      return rows.length;
    }),
  );
}

/**
 * Deletes files that were stored more than 24 hours ago and belong to no attachment, such as the files of interrupted
 * uploads. Keeps the files of tenants in maintenance, because an import may still be adding their attachments. Resolves
 * to the number of deleted files.
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
async function findKept(prisma: SystemClient, keys: string[]): Promise<ReadonlySet<string>> {
  const rows = await prisma.$sql(selectKept, { keys });
  return new Set(rows.map(({ key }) => key));
}

const selectKept = allTenants.rows<{ keys: string[] }, { key: string }>(
  ({ keys }) => sql`
    SELECT key FROM unnest(${keys}::text[]) AS key JOIN tenants t ON t.id = substring(key FROM '^\\d+')::bigint
    WHERE NOT (${notInMaintenance}) OR EXISTS (
      SELECT FROM attachments WHERE tenant_id = t.id AND storage_key = key)`,
);
