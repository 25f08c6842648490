import { basename } from 'node:path';
import { Readable } from 'node:stream';
import type { Connection } from '../../database/client/connection.ts';
import { toTenantId } from '../../shared/tenant-id.ts';
import type { SecretCipher } from '../../webhooks/secrets/secret-cipher.ts';
import { toNameKey } from '../shared/name-key.ts';
import { fault, type Manifest, openFile, readManifest, verify } from './tenant-folder.ts';
import * as db from './tenant-rows.ts';
import { checkRelation, copyRows, orderRows, readStaged, stageTable } from './tenant-staging.ts';
import { moreRelations, relationsOf } from './tenant-values.ts';

/**
 * Writes an export into this installation, with the same ids, and compares the rows with the export. The tenant is in
 * maintenance until the import is complete (docs/decisions/tenant-transfer.md).
 * @throws Error before it imports a row, if the tenant or its name exists, if the schema version differs, if
 * `WEBHOOK_SECRET_KEY` lacks a key, or if a row or a file is invalid
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
    // Fails if the store is unavailable, or belongs to another installation.
    if (manifest.tables.attachments?.rows) await storage.readMarker();
    const tables = (await db.readTenantTables(connection)).filter(({ isDerived }) => !isDerived);
    await checkRows(sources, connection, { manifest, tables, folder, report }).catch((error: Error) => {
      throw new Error(`${error.message} Nothing was imported. Export the tenant again.`, { cause: error });
    });
    // Comes last, so that no operator deletes a tenant whose backup this installation can't import.
    await checkAbsent(connection, manifest);
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

/** Loads the rows of an export into temporary tables, and checks all rows and files. */
async function checkRows(
  { services: { secretCipher } }: db.TransferSources,
  connection: Connection,
  { manifest, tables, folder, report }: Import,
): Promise<void> {
  const { tenant } = manifest;
  // The form of binary values in an export.
  await connection.query("SET bytea_output = 'hex'");
  if (manifest.tables.tenants?.rows !== 1) throw new Error('tenants.jsonl must contain one row.');
  for (const table of tables) {
    report(`Checking ${table.name} …`);
    await stageTable(connection, table, { manifest, folder });
  }
  for (const relation of [...tables.flatMap(relationsOf), ...moreRelations]) await checkRelation(connection, relation);
  for (const table of tables) await orderRows(connection, table);
  await checkSecrets(connection, tenant.id, secretCipher);
  for await (const { line, ...file } of readFiles(connection)) {
    try {
      for await (const _ of openAttachment(folder, file));
    } catch (error) {
      throw fault({ table: 'attachments', line, column: 'storage_key' }, (error as Error).message.replace(/\.$/, ''));
    }
  }
}

/**
 * Checks that the secrets of webhooks can be decrypted. Otherwise, `secrets reencrypt` would fail for all tenants.
 */
async function checkSecrets(connection: Connection, tenantId: number, cipher: SecretCipher): Promise<void> {
  const secrets = readStaged<{ id: number } & Record<string, Buffer | null>>(
    connection,
    'webhook_subscriptions',
    'id::float8, secret, previous_secret',
  );
  for await (const { line, id, ...stored } of secrets) {
    for (const column of ['secret', 'previous_secret']) {
      try {
        if (!stored[column]) continue;
        cipher.decrypt(stored[column], { tenantId: toTenantId(tenantId), subscriptionId: BigInt(id) });
      } catch {
        const problem = "isn't encrypted with a key in WEBHOOK_SECRET_KEY for this webhook";
        throw fault({ table: 'webhook_subscriptions', line, column }, problem);
      }
    }
  }
}

interface AttachmentFile {
  key: string;
  size: number;
  sha256: string;
}

/** Reads the loaded rows of attachments. */
function readFiles(connection: Connection) {
  return readStaged<AttachmentFile>(connection, 'attachments', 'storage_key AS key, size::float8, sha256');
}

/** Yields the content of the file of an attachment. @throws Error if the file is missing, or has another size or hash */
async function* openAttachment(folder: string, file: AttachmentFile) {
  await using handle = await openFile(folder, 'attachments', basename(file.key));
  if ((await handle.stat()).size !== file.size)
    throw new Error(`The file of the attachment ${file.key} has another size.`);
  yield* verify(handle.createReadStream({ autoClose: false }), file);
}

/** Writes the rows and the files of an export, compares the rows with the export, and ends the maintenance. */
async function importRows(
  { services: { storage, osUser } }: db.TransferSources,
  connection: Connection,
  { manifest, tables, folder, report }: Import,
): Promise<void> {
  const { id } = manifest.tenant;
  for (const table of tables) {
    await copyRows(connection, table, (rows) => report(`${table.name}: ${rows} rows …`));
  }
  for await (const { key, size, sha256 } of readFiles(connection)) {
    const content = Readable.from(openAttachment(folder, { key, size, sha256 }), { objectMode: false });
    await storage.move(await storage.writeTemporary(content, size), key);
  }
  for (const table of tables) await raiseSequence(connection, table, id);
  report('Comparing the rows with the export …');
  const different = await db.findDifferences(connection, id, manifest.tables);
  if (different.length > 0) throw new Error(`The rows of ${different.join(', ')} differ from the export.`);
  await connection.query(complete, [id, osUser ?? null]);
}

/** Ends the maintenance of an imported tenant, and records the import in the audit log. */
const complete = `
  WITH completed AS (
    UPDATE tenants SET maintenance_since = NULL, unavailable_since = NULL, incomplete = false WHERE id = $1 RETURNING id)
  INSERT INTO audit_entries (tenant_id, action, target_type, target_id, os_user, address, user_agent)
  SELECT id, 'workspace.imported', 'workspace', id, $2, '', '' FROM completed`;

function repeatImport(id: number): string {
  return `Delete the incomplete tenant with \`tenants delete ${id}\` and import it again.`;
}

async function checkAbsent(connection: Connection, { tenant: { id, name } }: Manifest): Promise<void> {
  const existing = 'SELECT id, name, incomplete FROM tenants WHERE id = $1 OR name_key = $2';
  const [found] = (await connection.query(existing, [id, toNameKey(name)])).rows;
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

/** Raises the sequence of a table past the imported ids, except `tenants` if the id belongs to another cell. */
async function raiseSequence(connection: Connection, { name, owner, sequence }: db.TenantTable, id: number) {
  if (sequence === null) return;
  const isOfCell = name === 'tenants' ? 'enter_cell(0) = $1::bigint / 1000000000' : 'true';
  await connection.query(
    `SELECT raise_sequence('${sequence}', (SELECT max(id) FROM "${name}" WHERE "${owner}" = $1::bigint AND ${isOfCell}))`,
    [id],
  );
}
