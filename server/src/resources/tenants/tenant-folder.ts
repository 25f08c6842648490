import { createHash } from 'node:crypto';
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import * as z from 'zod';
import { TenantPatch } from './queries.ts';

/*
 * Reads the folder of an export (docs/decisions/tenant-transfer.md). Its content comes from outside: it may be damaged or
 * manipulated.
 */

const Count = z.int().nonnegative();

/**
 * The highest id that an import accepts. The sequences of the installation rise to imported ids, and keep at least half
 * of their range for new rows.
 */
const maxId = 2 ** 52;

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
  /**
   * The last id that the exporting installation assigned in each table, to any tenant. Missing in exports of earlier
   * releases, which an import rejects because of their schema version.
   */
  lastIds: z.record(z.string(), z.int().positive().max(maxId)).default({}),
  attachments: Count,
});
export type Manifest = z.output<typeof Manifest>;

/** Reads the manifest of an export. @throws Error if the folder contains no complete export */
export async function readManifest(folder: string): Promise<Manifest> {
  try {
    await using file = await openFile(folder, 'manifest.json');
    if ((await file.stat()).size > 2 ** 20) throw new Error('The file is too large.');
    return Manifest.parse(JSON.parse(await file.readFile('utf8')));
  } catch (error) {
    const [issue] = error instanceof z.ZodError ? error.issues : [];
    const problem = issue === undefined ? (error as Error).message : `${issue.path.join('.')} ${issue.message}.`;
    const next = 'Enter a folder that `tenants export` created.';
    throw new Error(`${join(folder, 'manifest.json')} can't be read: ${problem} ${next}`, { cause: error });
  }
}

/** Describes where an export has a problem. */
export interface Place {
  table: string;
  line: number;
  column?: string | undefined;
}

/** Returns the error for a problem in a row. The message contains no values, which can be personal data or secrets. */
export function fault({ table, line, column }: Place, problem: string): Error {
  const place = [`${table}.jsonl`, `line ${line}`, ...(column === undefined ? [] : [`column ${column}`])];
  return new Error(`${place.join(', ')}: ${problem}.`);
}

/**
 * The maximum number of characters in a line. The longest rows are the stored responses to bulk requests, with 100
 * tickets of up to 144 KiB, where JSON in JSON needs up to four characters for a byte.
 */
const maxLineLength = 2 ** 26;

/**
 * Reads the exported rows of a table as lines, in batches of about 1 MiB. Node's readline isn't suitable, because it
 * also splits lines at U+2028, which a JSON string may contain.
 * @throws Error if a line is too long, or has no end
 */
export async function* readLines(folder: string, table: string): AsyncGenerator<string[]> {
  // The parts of a line that has no end yet. Joining them for each chunk would take minutes for a long line.
  let rest: string[] = [];
  let count = 0;
  let length = 0;
  const file = await openFile(folder, `${table}.jsonl`);
  for await (const chunk of file.createReadStream({ encoding: 'utf8', highWaterMark: 2 ** 20 })) {
    const [first = '', ...lines] = chunk.split('\n');
    rest.push(first);
    length += first.length;
    if (length > maxLineLength) throw fault({ table, line: count + 1 }, 'is too long');
    if (lines.length === 0) continue;
    const last = lines.pop() ?? '';
    lines.unshift(rest.join(''));
    [rest, length] = [[last], last.length];
    count += lines.length;
    yield lines;
  }
  if (length > 0) throw fault({ table, line: count + 1 }, 'has no end');
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
