import { basename } from 'node:path';
import { Readable } from 'node:stream';
import type { Connection } from '../../database/client/connection.ts';
import { toTenantId } from '../../shared/tenant-id.ts';
import { newSecret } from '../../webhooks/secrets/new-secret.ts';
import type { SecretCipher } from '../../webhooks/secrets/secret-cipher.ts';
import { toNameKey } from '../shared/name-key.ts';
import { fault, type Manifest, openFile, readManifest, verify, verifyTables } from './tenant-folder.ts';
import * as db from './tenant-rows.ts';
import { copyRows, orderRows, readStaged, stagedOf, stageTable } from './tenant-staging.ts';

/** A webhook with a secret that no key decrypts. */
interface ChangedWebhook {
  id: number;
  url: string;
  /** Whether it got a random secret and is inactive. Otherwise, only its previous secret was deleted. */
  isDeactivated: boolean;
}

/**
 * Writes an export into this installation, with the same ids, and compares the rows with the export. The tenant is in
 * maintenance until the import is complete (docs/decisions/tenant-transfer.md).
 * @param sha256 the SHA-256 of `manifest.json` in hexadecimal. With this hash, the export needs neither a signature nor
 * the keys of its webhook secrets.
 * @throws Error before it imports a row, if the tenant or its name exists, if the schema version differs, if
 * `WEBHOOK_SECRET_KEY` lacks a key, or if the export has changed
 */
export async function importTenant(
  sources: db.TransferSources,
  { folder, sha256, report }: { folder: string; sha256?: string | undefined; report: db.Report },
): Promise<Manifest & { deactivatedWebhooks: Omit<ChangedWebhook, 'isDeactivated'>[] }> {
  const { storage, secretCipher } = sources.services;
  const manifest = await readManifest(folder, { secretCipher, sha256 });
  const { id } = manifest.tenant;
  return db.withTransferConnection(sources, async (connection) => {
    await db.lockTransfer(connection, id, report);
    await checkSchemaVersion(connection, manifest);
    const needsKeys = sha256 === undefined;
    if (needsKeys) checkKeys(manifest, secretCipher.keyIds);
    // Fails if the store is unavailable, or belongs to another installation.
    if (manifest.tables.attachments?.rows) await storage.readMarker();
    const tables = (await db.readTenantTables(connection)).filter(({ isDerived }) => !isDerived);
    const changedWebhooks = await checkRows(connection, { manifest, tables, folder, report })
      .then(() => checkSecrets(connection, id, { cipher: secretCipher, needsKeys }))
      .catch((error: Error) => {
        throw new Error(`${error.message} Export the tenant again. Nothing was imported.`, { cause: error });
      });
    // Comes last, so that no operator deletes a tenant whose backup this installation can't import.
    await checkAbsent(connection, manifest);
    await importRows(sources, connection, { manifest, tables, folder, report, changedWebhooks }).catch(
      (error: Error) => {
        throw new Error(`${error.message.replace(/\.?$/, '.')} ${repeatImport(id)}`, { cause: error });
      },
    );
    const deactivatedWebhooks = changedWebhooks
      .filter(({ isDeactivated }) => isDeactivated)
      .map(({ id: webhookId, url }) => ({ id: webhookId, url }));
    return { ...manifest, deactivatedWebhooks };
  });
}

interface Import {
  manifest: Manifest;
  tables: db.TenantTable[];
  folder: string;
  report: db.Report;
}

/** Checks all files, and loads the rows of an export into temporary tables. */
async function checkRows(connection: Connection, { manifest, tables, folder, report }: Import): Promise<void> {
  report('Comparing the files with manifest.json …');
  await verifyTables(folder, manifest);
  // The form of binary values in an export.
  await connection.query("SET bytea_output = 'hex'");
  for (const table of tables) {
    report(`Checking ${table.name} …`);
    await stageTable(connection, table, { folder, tenantId: manifest.tenant.id });
    await orderRows(connection, table);
  }
  for await (const file of readFiles(connection)) for await (const _ of openAttachment(folder, file));
}

/**
 * Checks that the secrets of webhooks can be decrypted. Otherwise, `secrets reencrypt` would fail for all tenants.
 * @param needsKeys whether a secret that no key decrypts is an error. Otherwise, the webhook gets a random secret and
 * becomes inactive. If this is its previous secret, the secret is only deleted.
 */
async function checkSecrets(
  connection: Connection,
  tenantId: number,
  { cipher, needsKeys }: { cipher: SecretCipher; needsKeys: boolean },
): Promise<ChangedWebhook[]> {
  const secrets = readStaged<{ id: number; url: string } & Record<'secret' | 'previous_secret', Buffer | null>>(
    connection,
    'webhook_subscriptions',
    'id::float8, url, secret, previous_secret',
  );
  const changed: ChangedWebhook[] = [];
  for await (const { line, id, url, ...stored } of secrets) {
    const owner = { tenantId: toTenantId(tenantId), subscriptionId: BigInt(id) };
    const column = (['secret', 'previous_secret'] as const).find((each) => {
      try {
        if (stored[each] !== null) cipher.decrypt(stored[each], owner);
        return false;
      } catch {
        return true;
      }
    });
    if (column === undefined) continue;
    if (needsKeys) {
      const problem = "isn't encrypted with a key in WEBHOOK_SECRET_KEY for this webhook";
      throw fault('webhook_subscriptions', line, { column, problem });
    }
    const isDeactivated = column === 'secret';
    await connection.query(
      `UPDATE ${stagedOf('webhook_subscriptions')} SET secret = coalesce($2, secret), previous_secret = NULL,
         previous_secret_until = NULL, active = active AND $2 IS NULL, version = version + 1, updated_at = now()
       WHERE line = $1`,
      [line, isDeactivated ? cipher.encrypt(newSecret(), owner) : null],
    );
    changed.push({ id, url, isDeactivated });
  }
  return changed;
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
async function* openAttachment(folder: string, { key, size, sha256 }: AttachmentFile) {
  await using handle = await openFile(folder, 'attachments', basename(key));
  const found = (await handle.stat()).size;
  if (found !== size)
    throw new Error(`The file of attachment ${key} has ${found} bytes, but the export lists ${size}.`);
  yield* verify(handle.createReadStream({ autoClose: false }), sha256, `The file of attachment ${key} is damaged.`);
}

/** Writes the rows and the files of an export, compares the rows with the export, and ends the maintenance. */
async function importRows(
  { services: { storage, osUser } }: db.TransferSources,
  connection: Connection,
  { manifest, tables, folder, report, changedWebhooks }: Import & { changedWebhooks: ChangedWebhook[] },
): Promise<void> {
  const { id } = manifest.tenant;
  for (const table of tables) {
    await copyRows(connection, table, (rows) => report(`${table.name}: ${rows} rows …`));
  }
  for await (const file of readFiles(connection)) {
    const content = Readable.from(openAttachment(folder, file), { objectMode: false });
    await storage.move(await storage.writeTemporary(content, file.size), file.key);
  }
  for (const table of tables) await raiseSequence(connection, table, id);
  await connection.query('SELECT write_open_hours($1, now())', [id]);
  report('Comparing the rows with the export …');
  const webhooks = tables.find(({ name }) => name === 'webhook_subscriptions');
  const expected = { ...manifest.tables };
  if (changedWebhooks.length > 0 && webhooks !== undefined) {
    const staged = { ...webhooks, name: `staged_${webhooks.name}` };
    expected[webhooks.name] = await db.inSnapshot(connection, () => db.readRows(connection, staged, { id }));
  }
  const different = await db.findDifferences(connection, id, expected);
  if (different.length > 0) throw new Error(`The rows of ${different.join(', ')} differ from the export.`);
  const deactivated = changedWebhooks.filter(({ isDeactivated }) => isDeactivated);
  await connection.query(complete, [id, osUser ?? null, deactivated.map((webhook) => webhook.id)]);
}

/** Ends the maintenance of an imported tenant, and records the import and its changes in the audit log. */
const complete = `
  WITH completed AS (
    UPDATE tenants SET maintenance_since = NULL, unavailable_since = NULL, incomplete = false WHERE id = $1 RETURNING id)
  INSERT INTO audit_entries (tenant_id, action, target_type, target_id, os_user, address, user_agent)
  SELECT id, action, type, target, $2, '', '' FROM completed, LATERAL (
    SELECT 'workspace.imported' AS action, 'workspace' AS type, id AS target
    UNION ALL SELECT 'webhook.deleted', 'webhook', unnest($3::bigint[])) AS entries`;

function repeatImport(id: number): string {
  return `Delete the incomplete tenant with \`tenants delete ${id}\` and import it again.`;
}

async function checkAbsent(connection: Connection, { tenant: { id, name } }: Manifest): Promise<void> {
  const existing = 'SELECT id, name, incomplete FROM tenants WHERE id = $1 OR name_key = $2';
  const [found] = (await connection.query(existing, [id, toNameKey(name)])).rows;
  if (found === undefined) return;
  const [same, remedy] = found.id === String(id) ? ['id', 'Delete it first.'] : ['name', 'Rename it first.'];
  const next = found.incomplete ? repeatImport(found.id) : remedy;
  throw new Error(`A tenant with this ${same} already exists: ${found.name}. ${next}`);
}

async function checkSchemaVersion(connection: Connection, { schemaVersion }: Manifest): Promise<void> {
  const version = await db.readSchemaVersion(connection);
  if (version === schemaVersion) return;
  const difference = `The export has the schema version ${schemaVersion}, but this database has ${version}.`;
  throw new Error(`${difference} Run the same release in both installations and export the tenant again.`);
}

function checkKeys({ secretKeys }: Manifest, keyIds: readonly string[]): void {
  const missing = secretKeys.filter((keyId) => !keyIds.includes(keyId));
  if (missing.length === 0) return;
  throw new Error(
    `WEBHOOK_SECRET_KEY: lacks the keys with the ids ${missing.join(', ')}, which encrypted webhook secrets of the ` +
      'export. Add the keys of the other installation at the end of the setting. If a key is lost, import the folder ' +
      'with `--manifest-sha256`, which deactivates these webhooks.',
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
