import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import type { Connection } from '../../database/client/connection.ts';
import { tenantNameKey } from './queries.ts';
import { type Manifest, readAttachments, readLines, readManifest, verify } from './tenant-export.ts';
import * as db from './tenant-rows.ts';

/**
 * Writes an export into this installation, with the same ids, and compares the rows with the export. The tenant is in
 * maintenance until the import is complete (docs/decisions/tenant-transfer.md).
 * @throws Error before the first row, if the tenant or its name exists, if the schema version differs, if
 * `WEBHOOK_SECRET_KEY` lacks a key, or if an attachment has the file of another tenant
 */
export async function importTenant(
  sources: db.TransferSources,
  { folder, report }: { folder: string; report: db.Report },
): Promise<Manifest> {
  const { storage, secretCipher } = sources.services;
  const manifest = await readManifest(folder);
  const { id } = manifest.tenant;
  await db.withTransferConnection(sources, async (connection) => {
    await db.lockTransfer(connection, id, report);
    await checkCompatible(connection, manifest, secretCipher.keyIds);
    await checkAttachmentKeys(folder, id);
    // Without this row, the rows of tables without foreign keys would belong to no tenant, and no command could delete
    // them.
    let rows = 0;
    for await (const lines of readLines(folder, 'tenants')) rows += lines.length;
    if (rows !== 1) throw new Error('tenants.jsonl is damaged. Export the tenant again.');
    // Fails if the store is unavailable, or belongs to another installation.
    if (manifest.attachments > 0) await storage.readMarker();
    // Comes last, so that no operator deletes a tenant whose backup this installation can't import.
    await checkAbsent(connection, manifest);
    const tables = (await db.readTenantTables(connection)).filter(({ isDerived }) => !isDerived);
    await importRows(sources, connection, { manifest, tables, folder, report }).catch((error: Error) => {
      throw new Error(`${error.message.replace(/\.?$/, '.')} ${repeatImport(id)}`, { cause: error });
    });
  });
  return manifest;
}

interface Import {
  manifest: Manifest;
  tables: db.TenantTable[];
  folder: string;
  report: db.Report;
}

/** Writes the rows and the files of an export, compares the rows with the export, and ends the maintenance. */
async function importRows(
  { services: { storage, osUser } }: db.TransferSources,
  connection: Connection,
  { manifest, tables, folder, report }: Import,
): Promise<void> {
  const { id } = manifest.tenant;
  for (const table of tables) await importTable(connection, table, { id, folder, report });
  for await (const file of readAttachments(folder)) {
    const content = Readable.from(verify(createReadStream(file.path), file), { objectMode: false });
    await storage.move(await storage.writeTemporary(content, file.size), file.key);
  }
  for (const table of tables) await raiseSequence(connection, table, id);
  report('Comparing the rows with the export …');
  const different = await db.findDifferences(connection, id, manifest.tables);
  if (different.length > 0) throw new Error(`The rows of ${different.join(', ')} differ from the export.`);
  await connection.query(complete, [id, osUser ?? null]);
}

/** Ends the maintenance of an imported tenant, and records the import in the audit log. */
const complete = `
  WITH completed AS (UPDATE tenants SET maintenance_since = NULL, incomplete = false WHERE id = $1 RETURNING id)
  INSERT INTO audit_entries (tenant_id, action, target_type, target_id, os_user, address, user_agent)
  SELECT id, 'workspace.imported', 'workspace', id, $2, '', '' FROM completed`;

function repeatImport(id: number): string {
  return `Delete the incomplete tenant with \`tenants delete ${id}\` and import it again.`;
}

async function checkAbsent(connection: Connection, { tenant: { id, name } }: Manifest): Promise<void> {
  const existing = 'SELECT id, name, incomplete FROM tenants WHERE id = $1 OR name_key = $2';
  const [found] = (await connection.query(existing, [id, tenantNameKey(name)])).rows;
  if (found === undefined) return;
  const [same, remedy] = found.id === String(id) ? ['id', 'Delete it first.'] : ['name', 'Rename it first.'];
  const next = found.incomplete ? repeatImport(found.id) : remedy;
  throw new Error(`The tenant ${found.name} with the same ${same} exists. ${next}`);
}

async function checkCompatible(connection: Connection, manifest: Manifest, keyIds: readonly string[]): Promise<void> {
  const version = await db.readSchemaVersion(connection);
  if (version !== manifest.schemaVersion) {
    const difference = `The export has the schema version ${manifest.schemaVersion}, but this database has ${version}.`;
    throw new Error(`${difference} Run the same release in both installations and export the tenant again.`);
  }
  const missing = manifest.secretKeys.filter((keyId) => !keyIds.includes(keyId));
  if (missing.length > 0) {
    throw new Error(
      `WEBHOOK_SECRET_KEY: lacks the keys with the ids ${missing.join(', ')}, which encrypted webhook secrets of the ` +
        'export. Add the keys of the other installation at the end of the setting.',
    );
  }
}

/** Checks that a manipulated export doesn't replace, read or delete the files of another tenant. */
async function checkAttachmentKeys(folder: string, id: number): Promise<void> {
  for await (const { key } of readAttachments(folder)) {
    if (!new RegExp(`^${id}/[\\da-f-]{36}$`).test(key)) {
      throw new Error(`The key ${key} in attachments.jsonl doesn't belong to the tenant. Export the tenant again.`);
    }
  }
}

/**
 * Imports the rows of a table in batches. Foreign keys are checked after each statement. Therefore, a row that refers to
 * a later row of the same table waits, and so do the rows that refer to waiting rows. Reads the file again for them,
 * because they may be too many for the memory, or for one statement.
 */
async function importTable(
  connection: Connection,
  table: db.TenantTable,
  { id, folder, report }: { id: number; folder: string; report: db.Report },
): Promise<void> {
  const waiting = new Set<string>();
  let rows = 0;
  const read = async (isReady: (line: string) => boolean) => {
    for await (const lines of readLines(folder, table.name)) {
      const ready = lines.filter(isReady);
      if (ready.length === 0) continue;
      await insertRows(connection, table, id, ready);
      rows += ready.length;
      report(`${table.name}: ${rows} rows …`);
    }
  };
  const referencesOf = (row: Record<string, string>) => table.selfReferences.flatMap((column) => row[column] ?? []);
  await read((line) => {
    if (table.selfReferences.length === 0) return true;
    const row = JSON.parse(line);
    const isWaiting = referencesOf(row).some((other) => BigInt(other) > BigInt(row.id) || waiting.has(other));
    if (isWaiting) waiting.add(row.id);
    return !isWaiting;
  });
  for (let before = Number.POSITIVE_INFINITY; waiting.size > 0; ) {
    if (waiting.size === before) throw new Error(`${table.name}.jsonl contains rows that refer to each other.`);
    before = waiting.size;
    await read((line) => {
      const row = JSON.parse(line);
      return waiting.has(row.id) && !referencesOf(row).some((other) => waiting.has(other)) && waiting.delete(row.id);
    });
  }
}

/**
 * Inserts rows of the tenant. Takes the id of the tenant from the manifest instead of the rows, so that a manipulated
 * file can't add rows to another tenant.
 */
async function insertRows(connection: Connection, table: db.TenantTable, id: number, lines: string[]): Promise<void> {
  const { name, owner, columns } = table;
  const values = columns.map((each) => (each.name === owner ? '$2::bigint' : `"r"."${each.name}"::${each.type}`));
  // A new tenant is incomplete and in maintenance from its first moment.
  const [more, moreValues] = name === 'tenants' ? [', maintenance_since, incomplete', ', now(), true'] : ['', ''];
  await connection.query(
    `INSERT INTO "${name}" (${columns.map((each) => `"${each.name}"`)}${more}) SELECT ${values}${moreValues}
     FROM json_to_recordset($1::json) AS "r" (${columns.map((each) => `"${each.name}" text`)})`,
    [`[${lines.join(',')}]`, id],
  );
}

/** Raises the sequence of a table past the imported ids, except `tenants` if the id belongs to another cell. */
async function raiseSequence(connection: Connection, { name, owner, sequence }: db.TenantTable, id: number) {
  if (sequence === null) return;
  const isOfCell = name === 'tenants' ? 'enter_cell(0) = $1::bigint / 1000000000' : 'true';
  await connection.query(
    `SELECT raise_sequence('${sequence}', (SELECT max(id) FROM "${name}" WHERE "${owner}" = $1::bigint AND ${isOfCell}))`,
    [id],
  );
}
