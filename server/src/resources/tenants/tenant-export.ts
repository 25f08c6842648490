import { createWriteStream, existsSync } from 'node:fs';
import { mkdir, open, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '../../database/client/connection.ts';
import type { AttachmentStorage } from '../../storage/attachment-storage.ts';
import { keyIdBytes } from '../../webhooks/secrets/secret-cipher.ts';
import { writePartial } from '../shared/partial-export.ts';
import { findHighSequences, highSequence } from './high-sequences.ts';
import { quietAfterMs } from './maintenance.ts';
import type { Tenant } from './queries.ts';
import { hashOf, type Manifest, readLines, verify } from './tenant-folder.ts';
import * as db from './tenant-rows.ts';
import { signManifest } from './tenant-signature.ts';

/**
 * Writes all rows and attachments of a tenant to a new folder, and signs it (docs/decisions/tenant-transfer.md). If the
 * tenant is in maintenance, first waits for running requests and transactions, and checks at the end that no row has changed.
 * Otherwise, the result is a backup.
 * @throws Error if the folder exists, if the tenant is incomplete, or if rows changed during maintenance
 */
export async function exportTenant(
  sources: db.TransferSources,
  { id, name }: Pick<Tenant, 'id' | 'name'>,
  { folder, report }: { folder: string; report: db.Report },
): Promise<Manifest & { manifestSha256: string }> {
  if (existsSync(folder)) throw new Error(`${folder} already exists. Choose another folder.`);
  return db.withTransferConnection(sources, (connection) =>
    writePartial(connection, { target: folder, report }, async (partial) => {
      // Only the current user can read the folder.
      await mkdir(partial, { mode: 0o700 });
      const { since, incomplete } = await db.readMaintenance(connection, id);
      if (incomplete)
        throw new Error(
          `An import or a deletion of the tenant ${name} is incomplete. Delete the tenant with \`tenants delete\`.`,
        );
      if (since !== null) {
        await waitForRequests(connection, { since, quietMs: quietAfterMs(sources.databases.options.timeouts), report });
      }
      for (const found of await findHighSequences(connection)) {
        report(`${highSequence.message(found)} ${highSequence.advice}`);
      }
      const exportedAt = new Date().toISOString();
      const rows = await db.inSnapshot(connection, () => writeTables(connection, { id, folder: partial, report }));
      const attachments = await copyAttachments(sources.services.storage, partial);
      if (since !== null) {
        report('Checking that no row has changed …');
        const changed = await db.findDifferences(connection, id, rows.tables);
        if (changed.length > 0 || (await db.readMaintenance(connection, id)).since !== since) {
          const what = changed.length > 0 ? `rows of ${changed.join(', ')} changed` : 'the maintenance ended';
          throw new Error(`During the export, ${what}. Keep the tenant in maintenance and export it again.`);
        }
      }
      const manifest: Manifest = { exportedAt, maintenanceSince: since, ...rows, attachments };
      const content = Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`);
      const signature = signManifest(content, sources.services.secretCipher);
      await writeFile(join(partial, 'manifest.json'), content, { mode: 0o600, flush: true });
      await writeFile(join(partial, 'manifest.sig'), signature, { mode: 0o600, flush: true });
      return { ...manifest, manifestSha256: hashOf(content) };
    }),
  );
}

/** The transactions of clients in this database, except the current one. Autovacuum has no user. */
const openTransactions = `
  SELECT pid || ' ' || virtualtransaction AS transaction FROM pg_locks JOIN pg_stat_activity USING (pid)
  WHERE locktype = 'virtualxid' AND datname = current_database() AND usesysid IS NOT NULL AND pid <> pg_backend_pid()`;

/** Waits until the requests and transactions have ended that began before the time `since`. */
export async function waitForRequests(
  connection: Connection,
  { since, quietMs, report }: { since: string; quietMs: number; report: db.Report },
): Promise<void> {
  const text = 'SELECT extract(epoch FROM clock_timestamp() - $1::timestamptz)::float8 AS age';
  const ms = quietMs - 1000 * (await connection.query(text, [since])).rows[0].age;
  if (ms > 0) {
    report(`Waiting ${Math.ceil(ms / 1000)} s until all running requests have ended …`);
    await sleep(ms);
  }
  const readOpen = async (): Promise<string[]> =>
    (await connection.query(openTransactions)).rows.map((row: { transaction: string }) => row.transaction);
  let open = await readOpen();
  for (let attempt = 1; open.length > 0; attempt++) {
    // Every 10 seconds, lists the processes of PostgreSQL, so that the administrator can end them.
    if (attempt % 100 === 0)
      report(`Waiting for open transactions (process ID and transaction ID): ${open.join(', ')} …`);
    await sleep(100);
    const still = await readOpen();
    open = open.filter((transaction) => still.includes(transaction));
  }
}

/** Writes a file for each table, except tables that triggers fill. */
async function writeTables(
  connection: Connection,
  { id, folder, report }: { id: number; folder: string; report: db.Report },
): Promise<Pick<Manifest, 'schemaVersion' | 'tenant' | 'secretKeys' | 'tables'>> {
  const tables: Manifest['tables'] = {};
  for (const table of await db.readTenantTables(connection)) {
    if (table.isDerived) continue;
    await using file = await open(join(folder, `${table.name}.jsonl`), 'wx', 0o600);
    const onLines = async (lines: string, rows: number) => {
      await file.appendFile(lines);
      if (rows > 0 && rows % 100_000 === 0) report(`${table.name}: ${rows} rows …`);
    };
    tables[table.name] = await db.readRows(connection, table, { id, onLines });
    await file.sync();
  }
  const { rows } = await connection.query(
    `SELECT DISTINCT encode(substring(stored FROM 1 FOR ${keyIdBytes}), 'hex') AS key
     FROM webhook_subscriptions, unnest(ARRAY[secret, previous_secret]) AS stored
     WHERE tenant_id = $1 AND stored IS NOT NULL ORDER BY 1`,
    [id],
  );
  const secretKeys = rows.map(({ key }: { key: string }) => key);
  // The caller may have read the name before a change.
  const [tenant] = (await connection.query('SELECT id::float8, name FROM tenants WHERE id = $1', [id])).rows;
  return { schemaVersion: await db.readSchemaVersion(connection), tenant, secretKeys, tables };
}

/** Copies the files of the exported attachments from the store to the folder. Returns the number of files. */
async function copyAttachments(storage: AttachmentStorage, folder: string): Promise<number> {
  await mkdir(join(folder, 'attachments'), { mode: 0o700 });
  let copied = 0;
  for await (const lines of readLines(folder, 'attachments')) {
    for (const { storage_key: key, sha256 } of lines.map((line) => JSON.parse(line))) {
      const content = await storage.read(key).catch((error: Error) => {
        const next = 'If a user deleted the attachment during the export, export the tenant again.';
        throw new Error(`The file of the attachment ${key} can't be read: ${error.message} ${next}`);
      });
      const path = join(folder, 'attachments', basename(key));
      const output = createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true });
      const problem = `The file of attachment ${key} is damaged. Restore it from a backup.`;
      await pipeline(content, (chunks: Readable) => verify(chunks, sha256, problem), output);
      copied++;
    }
  }
  return copied;
}
