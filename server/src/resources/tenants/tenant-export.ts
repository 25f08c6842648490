import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, rmSync } from 'node:fs';
import { mkdir, open, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import type { Connection } from '../../database/client/connection.ts';
import type { AttachmentStorage } from '../../storage/attachment-storage.ts';
import { keyIdBytes } from '../../webhooks/secrets/secret-cipher.ts';
import { quietAfterMs } from './maintenance.ts';
import type { Tenant } from './queries.ts';
import * as db from './tenant-rows.ts';

const Count = z.int().nonnegative();

/** The content of `manifest.json`, which describes an export. */
export const Manifest = z.object({
  /** The name of the last migration of the database. */
  schemaVersion: z.string(),
  tenant: z.object({ id: z.int().positive(), name: z.string() }),
  exportedAt: z.iso.datetime(),
  /** When the maintenance began, or null for a backup of a tenant that was in use. */
  maintenanceSince: z.string().nullable(),
  /** The ids of the keys in `WEBHOOK_SECRET_KEY` that encrypted the secrets of webhooks. */
  secretKeys: z.array(z.string()),
  tables: z.record(z.string(), z.object({ rows: Count, sha256: z.string() })),
  attachments: Count,
});
export type Manifest = z.output<typeof Manifest>;

/** Reads the manifest of an export. @throws Error if the folder contains no complete export */
export async function readManifest(folder: string): Promise<Manifest> {
  const file = join(folder, 'manifest.json');
  return readFile(file, 'utf8')
    .then((text) => Manifest.parse(JSON.parse(text)))
    .catch((error: Error) =>
      Promise.reject(
        new Error(`${file} can't be read: ${error.message}. Enter a folder that \`tenants export\` created.`),
      ),
    );
}

/**
 * Reads the exported rows of a table as lines, in batches of about 1 MiB. Node's readline isn't suitable, because it
 * also splits lines at U+2028, which a JSON string may contain.
 */
export async function* readLines(folder: string, table: string): AsyncGenerator<string[]> {
  let rest = '';
  for await (const chunk of createReadStream(fileOf(folder, table), { encoding: 'utf8', highWaterMark: 2 ** 20 })) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    yield lines;
  }
}

function fileOf(folder: string, table: string): string {
  return join(folder, `${table}.jsonl`);
}

type AttachmentRow = Record<'storage_key' | 'size' | 'sha256', string>;

/** Reads the exported rows of attachments. Each has a `path` in the folder. */
export async function* readAttachments(folder: string) {
  for await (const lines of readLines(folder, 'attachments')) {
    for (const { storage_key: key, size, sha256 } of lines.map((line): AttachmentRow => JSON.parse(line))) {
      yield { key, size: Number(size), sha256, path: join(folder, 'attachments', basename(key)) };
    }
  }
}

/** Yields the content of a file. @throws Error if the content has another hash */
export async function* verify(content: Readable, { key, sha256 }: { key: string; sha256: string }) {
  const digest = createHash('sha256');
  for await (const chunk of content) {
    digest.update(chunk);
    yield chunk;
  }
  if (digest.digest('hex') !== sha256)
    throw new Error(`The file of the attachment ${key} is damaged. Restore it from a backup.`);
}

/**
 * Writes all rows and attachments of a tenant to a new folder (docs/decisions/tenant-transfer.md). If the tenant is in
 * maintenance, first waits for running requests and transactions, and checks at the end that no row has changed.
 * Otherwise, the result is a backup.
 * @throws Error if the folder exists, if the tenant is incomplete, or if rows changed during maintenance
 */
export async function exportTenant(
  sources: db.TransferSources,
  { id, name }: Pick<Tenant, 'id' | 'name'>,
  { folder, report }: { folder: string; report: db.Report },
): Promise<Manifest> {
  return writeFolder(folder, (partial) =>
    db.withTransferConnection(sources, async (connection) => {
      const { since, incomplete } = await db.readMaintenance(connection, id);
      if (incomplete)
        throw new Error(
          `An import or a deletion of the tenant ${name} is incomplete. Delete the tenant with \`tenants delete\`.`,
        );
      if (since !== null) {
        await waitForWriters(connection, { id, quietMs: quietAfterMs(sources.databases.options.timeouts), report });
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
      return { tenant: { id, name }, exportedAt, maintenanceSince: since, ...rows, attachments };
    }),
  );
}

/** The transactions of clients in this database, except the current one. Autovacuum has no user. */
const openTransactions = `
  SELECT pid || ' ' || virtualtransaction AS transaction FROM pg_locks JOIN pg_stat_activity USING (pid)
  WHERE locktype = 'virtualxid' AND datname = current_database() AND usesysid IS NOT NULL AND pid <> pg_backend_pid()`;

/** Waits until no request or transaction that began before the maintenance can still write. */
export async function waitForWriters(
  connection: Connection,
  { id, quietMs, report }: { id: number; quietMs: number; report: db.Report },
): Promise<void> {
  const text =
    'SELECT extract(epoch FROM clock_timestamp() - maintenance_since)::float8 AS age FROM tenants WHERE id = $1';
  const ms = quietMs - 1000 * (await connection.query(text, [id])).rows[0].age;
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
): Promise<Pick<Manifest, 'schemaVersion' | 'secretKeys' | 'tables'>> {
  const tables: Manifest['tables'] = {};
  for (const table of await db.readTenantTables(connection)) {
    if (table.isDerived) continue;
    await using file = await open(fileOf(folder, table.name), 'wx', 0o600);
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
  return { schemaVersion: await db.readSchemaVersion(connection), secretKeys, tables };
}

/** Copies the files of the exported attachments from the store to the folder. Returns the number of files. */
async function copyAttachments(storage: AttachmentStorage, folder: string): Promise<number> {
  await mkdir(join(folder, 'attachments'), { mode: 0o700 });
  let copied = 0;
  for await (const file of readAttachments(folder)) {
    const content = await storage.read(file.key).catch((error: Error) => {
      const next = 'If a user deleted the attachment during the export, export the tenant again.';
      throw new Error(`The file of the attachment ${file.key} can't be read: ${error.message} ${next}`);
    });
    const output = createWriteStream(file.path, { flags: 'wx', mode: 0o600, flush: true });
    await pipeline(content, (chunks: Readable) => verify(chunks, file), output);
    copied++;
  }
  return copied;
}

/**
 * Writes the export to a temporary folder that only the current user can read, and renames the folder when the manifest
 * is complete. The target folder is therefore never incomplete.
 */
async function writeFolder(folder: string, work: (partial: string) => Promise<Manifest>): Promise<Manifest> {
  if (existsSync(folder)) throw new Error(`${folder} already exists. Choose another folder.`);
  const partial = `${resolve(folder)}.${randomUUID().slice(0, 8)}.partial`;
  await mkdir(partial, { mode: 0o700 });
  // If a signal ends the command, deletes the temporary folder.
  const clear = () => rmSync(partial, { recursive: true, force: true });
  process.once('exit', clear);
  try {
    const manifest = await work(partial);
    const text = `${JSON.stringify(manifest, undefined, 2)}\n`;
    await writeFile(join(partial, 'manifest.json'), text, { mode: 0o600, flush: true });
    await rename(partial, folder);
    return manifest;
  } finally {
    clear();
    process.off('exit', clear);
  }
}
