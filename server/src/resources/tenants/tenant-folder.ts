import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import * as z from 'zod';
import type { SecretCipher } from '../../webhooks/secrets/secret-cipher.ts';
import { TenantPatch } from './queries.ts';
import { type Purpose, verifyManifest } from './tenant-signature.ts';

/* Reads the folder of an export, and checks that nothing has changed it (docs/decisions/tenant-transfer.md). */

const Count = z.int().nonnegative();

/** The number of tenant ids of a cell (docs/decisions/failover-and-cells.md), and the number of cells. */
const [cellSize, cells] = [1_000_000_000, 1000];

const TenantId = z
  .int()
  .positive()
  .max(cells * cellSize)
  .refine((id) => id % cellSize > 0 && id % cellSize <= cellSize / 2, 'must be in the first half of the ids of a cell');

/** The content of `manifest.json`, which describes an export. */
export const Manifest = z.object({
  /** The name of the last migration of the database. */
  schemaVersion: z.string(),
  tenant: z.object({ id: TenantId, name: TenantPatch.shape.name }),
  exportedAt: z.iso.datetime(),
  /** When the maintenance began, or null for a backup of a tenant that was in use. */
  maintenanceSince: z.string().nullable(),
  /** The ids of the keys in `WEBHOOK_SECRET_KEY` that encrypted the secrets of webhooks. */
  secretKeys: z.array(z.string()),
  tables: z.record(z.string(), z.object({ rows: Count, sha256: z.string() })),
  attachments: Count,
});
export type Manifest = z.output<typeof Manifest>;

/**
 * Reads the manifest of an export, and checks its signature.
 * @param sha256 the expected SHA-256 of `manifest.json` in hexadecimal, which replaces the signature
 * @throws Error if the manifest has another signature or hash, or if the folder contains no complete export
 */
export async function readManifest(
  folder: string,
  {
    secretCipher,
    sha256,
    purpose = 'import',
  }: { secretCipher: SecretCipher; sha256?: string | undefined; purpose?: Purpose },
): Promise<Manifest> {
  const content = await readContent(folder, 'manifest.json').catch((error: Error) => {
    throw unreadable(folder, error.message, error);
  });
  if (sha256 === undefined) {
    const isSigned = existsSync(join(folder, 'manifest.sig'));
    const signature = isSigned ? (await readContent(folder, 'manifest.sig')).toString() : undefined;
    verifyManifest(content, signature, secretCipher, purpose);
  } else if (hashOf(content) !== sha256.toLowerCase()) {
    throw new Error(
      "manifest.json doesn't have the SHA-256 in --manifest-sha256. Copy the export again, or check the hash.",
    );
  }
  try {
    return Manifest.parse(JSON.parse(content.toString()));
  } catch (error) {
    const [issue] = error instanceof z.ZodError ? error.issues : [];
    throw unreadable(
      folder,
      issue === undefined ? (error as Error).message : `${issue.path.join('.')} ${issue.message}.`,
      error,
    );
  }
}

function unreadable(folder: string, problem: string, cause: unknown): Error {
  const next = 'Enter a folder that `tenants export` created.';
  return new Error(`${join(folder, 'manifest.json')} can't be read: ${problem} ${next}`, { cause });
}

/** Returns the content of `manifest.json` or `manifest.sig`. */
async function readContent(folder: string, name: string): Promise<Buffer> {
  await using file = await openFile(folder, name);
  if ((await file.stat()).size > 2 ** 20) throw new Error(`${name} is too large.`);
  return file.readFile();
}

/** Returns the SHA-256 of a content, in hexadecimal. */
export function hashOf(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Checks that the files of all tables have the hashes in the manifest. @throws Error that names the first other file */
export async function verifyTables(folder: string, { tables }: Pick<Manifest, 'tables'>): Promise<void> {
  for (const [table, { sha256 }] of Object.entries(tables)) {
    await using file = await openFile(folder, `${table}.jsonl`);
    const problem = `${table}.jsonl differs from manifest.json.`;
    for await (const _ of verify(file.createReadStream({ autoClose: false }), sha256, problem));
  }
}

/** Returns the error for a problem in a row. The message contains no values, which can be personal data or secrets. */
export function fault(table: string, line: number, { column, problem }: { column?: string; problem: string }): Error {
  const place = [`${table}.jsonl`, `line ${line}`, ...(column === undefined ? [] : [`column ${column}`])];
  return new Error(`${place.join(', ')}: ${problem}.`);
}

/**
 * Reads the exported rows of a table as lines, in batches of about 1 MiB. Node's readline isn't suitable, because it
 * also splits lines at U+2028, which a JSON string may contain.
 */
export async function* readLines(folder: string, table: string): AsyncGenerator<string[]> {
  // The parts of a line that has no end yet. Joining them for each chunk would take minutes for a long line.
  let rest: string[] = [];
  const file = await openFile(folder, `${table}.jsonl`);
  for await (const chunk of file.createReadStream({ encoding: 'utf8', highWaterMark: 2 ** 20 })) {
    const [first = '', ...lines] = chunk.split('\n');
    rest.push(first);
    if (lines.length === 0) continue;
    const last = lines.pop() ?? '';
    lines.unshift(rest.join(''));
    rest = [last];
    yield lines;
  }
}

/**
 * Opens a file of an export. Rejects links, which could lead out of the folder, and special files, which may never end.
 * @param names the path in the folder
 */
export async function openFile(folder: string, ...names: string[]): Promise<FileHandle> {
  const path = join(await realpath(folder), ...names);
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) throw new Error(`The file ${names.join('/')} is missing.`);
  if (!found.isFile() || (await realpath(path)) !== path) throw new Error(`${names.join('/')} isn't a regular file.`);
  return open(path);
}

/** Yields the content of a file. @throws Error with the message `problem` if the content has another SHA-256 */
export async function* verify(content: Readable, sha256: string, problem: string): AsyncGenerator<Buffer> {
  const digest = createHash('sha256');
  for await (const chunk of content) {
    digest.update(chunk);
    yield chunk;
  }
  if (digest.digest('hex') !== sha256) throw new Error(problem);
}
