import type { Connection } from '../../database/client/connection.ts';
import { inBatches } from '../../database/in-batches.ts';
import type { AttachmentStorage } from '../../storage/attachment-storage.ts';
import { quietAfterMs } from './maintenance.ts';
import type { Tenant } from './queries.ts';
import { waitForRequests } from './tenant-export.ts';
import { readManifest } from './tenant-folder.ts';
import * as db from './tenant-rows.ts';

/**
 * Deletes a tenant in maintenance with all rows and files, in batches. After an interruption, another call continues.
 * One row of `deleted_tenants` remains.
 * @param moved the folder of an export that must contain the same rows, because another installation has imported it
 * @returns the number of rows of each table
 * @throws Error if the tenant is not in maintenance, or if its rows differ from the export
 */
export async function deleteTenant(
  sources: db.TransferSources,
  tenant: Pick<Tenant, 'id' | 'name'>,
  { moved, report }: { moved?: string | undefined; report: db.Report },
): Promise<Record<string, number>> {
  const { storage } = sources.services;
  return db.withTransferConnection(sources, async (connection) => {
    await db.lockTransfer(connection, tenant.id, report);
    const tables = await db.readTenantTables(connection);
    const begun = 'SELECT FROM deleted_tenants WHERE id = $1 AND completed_at IS NULL';
    if ((await connection.query(begun, [tenant.id])).rowCount === 0) {
      const quietMs = quietAfterMs(sources.databases.options.timeouts);
      await beginDeletion(connection, { ...tenant, tables, moved, services: sources.services, quietMs, report });
    }
    // The trigger on tickets allows this session to delete the tickets of this tenant.
    await connection.query("SELECT set_config('itsm.deleted_tenant', $1, false)", [String(tenant.id)]);
    for (const table of tables.toReversed()) {
      if (table.name !== 'tenants') await deleteRows(connection, table, { id: tenant.id, storage, report });
    }
    return (await connection.query(complete, [tenant.id])).rows[0].rows;
  });
}

interface DeletionOptions {
  tables: db.TenantTable[];
  moved: string | undefined;
  services: db.TransferSources['services'];
  quietMs: number;
  report: db.Report;
}

const complete = `
  WITH deleted AS (DELETE FROM tenants WHERE id = $1)
  UPDATE deleted_tenants SET completed_at = now() WHERE id = $1 AND completed_at IS NULL RETURNING rows`;

/** Checks that the tenant can be deleted, waits for its writers, counts its rows, and marks it as incomplete. */
async function beginDeletion(
  connection: Connection,
  { id, name, tables, moved, services, quietMs, report }: Pick<Tenant, 'id' | 'name'> & DeletionOptions,
): Promise<void> {
  const { since, unavailableSince, incomplete } = await db.readMaintenance(connection, id);
  if (since === null || unavailableSince === null) {
    const state = since === null ? 'not in maintenance' : 'read-only, so requests would return a part of its rows';
    throw new Error(`The tenant ${name} is ${state}. Run \`tenants maintenance ${id} on\` first.`);
  }
  // A read would return a part of the rows. In tables without foreign keys, a row that a request adds later would
  // remain. No request has used an incomplete tenant.
  if (!incomplete) await waitForRequests(connection, { since: unavailableSince, quietMs, report });
  if (moved !== undefined) {
    const manifest = await readManifest(moved, { ...services, purpose: 'deletion' }).catch((error: Error) => {
      throw new Error(`${error.message} Nothing was deleted.`, { cause: error });
    });
    const next = 'Nothing was deleted. Export and import the tenant again.';
    if (manifest.tenant.id !== id || manifest.maintenanceSince !== since) {
      throw new Error(`The export was made before the current maintenance of the tenant began. ${next}`);
    }
    const different = await db.findDifferences(connection, id, manifest.tables);
    if (different.length > 0) {
      throw new Error(`The rows of the tenant differ from the export: ${different.join(', ')}. ${next}`);
    }
  }
  const counts: Record<string, number> = {};
  for (const table of tables) {
    const text = `SELECT count(*)::float8 AS rows FROM "${table.name}" WHERE "${table.owner}" = $1`;
    counts[table.name] = (await connection.query(text, [id])).rows[0].rows;
  }
  const { rowCount } = await connection.query(
    `WITH marked AS (
       UPDATE tenants SET incomplete = true WHERE id = $1 AND maintenance_since::text = $2
         AND unavailable_since::text = $5 RETURNING id, name)
     INSERT INTO deleted_tenants (id, name, os_user, rows) SELECT id, name, $3, $4 FROM marked`,
    [id, since, services.osUser ?? null, JSON.stringify(counts), unavailableSince],
  );
  if (rowCount === 0) throw new Error(`The maintenance of the tenant ${name} changed. Nothing was deleted.`);
}

/** Deletes the rows of the tenant from a table, and the files that the rows name. */
async function deleteRows(
  connection: Connection,
  { name, columns, selfReferences }: db.TenantTable,
  { id, storage, report }: { id: number; storage: AttachmentStorage; report: db.Report },
): Promise<void> {
  for (const column of selfReferences) {
    // A batch could contain a row without the rows that refer to it.
    const update = (rows: string) => connection.query(`UPDATE "${name}" SET "${column}" = NULL WHERE ${rows}`);
    await changeRows(connection, `"${name}" WHERE tenant_id = ${id} AND "${column}" IS NOT NULL`, update);
  }
  const hasFiles = columns.some((column) => column.name === 'storage_key');
  const deleted = await changeRows(connection, `"${name}" WHERE tenant_id = ${id}`, async (rows) => {
    const batch = `FROM "${name}" WHERE tenant_id = ${id} AND ${rows}`;
    // Deletes the files before the rows, so that a repeated call finds the files that remain after an interruption.
    const found = hasFiles
      ? await connection.query(`SELECT storage_key ${batch} AND storage_key IS NOT NULL`)
      : undefined;
    for (const { storage_key } of found?.rows ?? []) await storage.delete(storage_key);
    await connection.query(`DELETE ${batch}`);
  });
  if (deleted > 0) report(`${name}: deleted ${deleted} rows.`);
}

/** The number of rows that one statement changes. */
const batchSize = 2000;

/**
 * Calls `change` with a condition for each batch of rows. Finds the rows once with a cursor, because each further
 * search would read all rows that were deleted before.
 */
async function changeRows(
  connection: Connection,
  rows: string,
  change: (condition: string) => Promise<unknown>,
): Promise<number> {
  await connection.query(`DECLARE found_rows CURSOR WITH HOLD FOR SELECT ctid FROM ${rows}`);
  const count = await inBatches(batchSize, async () => {
    const found = await connection.query({ text: `FETCH ${batchSize} FROM found_rows`, rowMode: 'array' });
    if (found.rows.length > 0) await change(`ctid = ANY ('{${found.rows.map(([ctid]: string[]) => `"${ctid}"`)}}')`);
    return found.rows.length;
  });
  await connection.query('CLOSE found_rows');
  return count;
}
