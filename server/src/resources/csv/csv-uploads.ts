import { type Parameter, sql, tenant } from '../../database/client/sql.ts';
import { command, rows } from '../../database/client/statements.ts';
import type { Context } from '../shared/context.ts';
import type { CsvColumns, ImportResults } from './csv-columns.ts';
import type { CheckedFile, Problem } from './csv-import.ts';

/*
 * Stores CSV files that users upload in the developer area, and the previews that users see before the import. The
 * server keeps one file per user and resource for one day (docs/decisions/data-model.md#csv).
 */

type OwnContext = Pick<Context, 'db'> & { userId: bigint };
type Resource = CsvColumns<object>['resource'];

/** The preview of a CSV file before its import. */
export interface Preview {
  /** The number of lines that could be read. */
  lines: number;
  /** The results of an import that also updates existing rows. Undefined if the import only creates rows. */
  updates?: ImportResults | undefined;
  /** The number of custom fields whose values get another type. Undefined in previews of earlier releases. */
  typeChanges?: number;
  /** The first lines that could be read, with the values of the preview columns. */
  first: { line: number; cells: string[] }[];
  /** The total number of problems. `firstProblems` contains only the first ones. */
  problems: number;
  firstProblems: Problem[];
}

const maxShownLines = 10;
const maxShownProblems = 100;
const maxShownText = 200;

/** Builds the preview of a CSV file. @param names the columns to show */
export function previewOf(
  { entries, problems, results, typeChanges }: CheckedFile<unknown>,
  names: readonly string[],
  update: boolean,
): Preview {
  return {
    lines: entries.length,
    updates: update ? results : undefined,
    typeChanges,
    first: entries
      .slice(0, maxShownLines)
      .map(({ line, texts }) => ({ line, cells: names.map((name) => text(texts[name])) })),
    problems: problems.length,
    firstProblems: problems.slice(0, maxShownProblems),
  };
}

/** Formats a value for a table cell in the preview. Shortens long text. */
function text(value: unknown): string {
  if (value == null) return '';
  const whole =
    typeof value === 'object'
      ? Object.entries(value)
          .map(([name, each]) => `${name}: ${each}`)
          .join(', ')
      : String(value);
  return whole.length > maxShownText ? `${whole.slice(0, maxShownText).toWellFormed()}…` : whole;
}

/** The file of a user for a resource. */
interface Own {
  userId: bigint;
  resource: Resource;
}

const isOwn = ({ userId, resource }: Record<keyof Own, Parameter>) =>
  sql`tenant_id = ${tenant} AND user_id = ${userId} AND resource = ${resource}`;
const retention = sql`interval '1 day'`;

const deleteExpired = command(
  () => sql`DELETE FROM csv_uploads WHERE tenant_id = ${tenant} AND created_at < now() - ${retention}`,
);
const replaceUpload = command<Own & { content: Uint8Array; preview: string }>(
  ({ userId, resource, content, preview }) => sql`
    INSERT INTO csv_uploads (tenant_id, user_id, resource, content, preview)
    VALUES (${tenant}, ${userId}, ${resource}, ${content}, ${preview})
    ON CONFLICT (tenant_id, user_id, resource)
    DO UPDATE SET content = excluded.content, preview = excluded.preview, created_at = now()`,
);
const selectPreview = rows<Own, StoredPreview>(
  (own) => sql`SELECT preview, created_at AS at FROM csv_uploads
    WHERE ${isOwn(own)} AND created_at >= now() - ${retention}`,
);
const selectContent = rows<Own, Upload>(
  (own) => sql`SELECT content, preview FROM csv_uploads WHERE ${isOwn(own)} AND created_at >= now() - ${retention}`,
);
const takeContent = rows<Own & { at: Date }, Upload>(
  (given) => sql`DELETE FROM csv_uploads WHERE ${isOwn(given)} AND created_at = ${given.at}::timestamptz
    RETURNING content, preview`,
);

/**
 * Stores an uploaded file, which replaces the user's previous file for the resource. Also deletes the workspace's
 * expired files.
 */
export async function keepUpload(
  { db, userId }: OwnContext,
  resource: Resource,
  { content, preview }: Upload,
): Promise<void> {
  await db.$pipeline([
    db.$bind(deleteExpired),
    db.$bind(replaceUpload, { userId, resource, content, preview: JSON.stringify(preview) }),
  ]);
}

/** A file and its preview. */
export interface Upload {
  content: Uint8Array;
  preview: Preview;
}

/** The preview of a stored file. */
export interface StoredPreview {
  preview: Preview;
  /** When the file was uploaded or last checked. The time identifies the version of the file. */
  at: Date;
}

/** Returns the preview of the user's stored file, or undefined if there is no file or the file has expired. */
export async function findPreview({ db, userId }: OwnContext, resource: Resource): Promise<StoredPreview | undefined> {
  return (await db.$sql(selectPreview, { userId, resource }))[0];
}

/** Returns the user's stored file, or undefined if there is no file or the file has expired. */
export async function findUpload({ db, userId }: OwnContext, resource: Resource): Promise<Upload | undefined> {
  return (await db.$sql(selectContent, { userId, resource }))[0];
}

/**
 * Deletes and returns the user's stored file. If two requests run concurrently, only one gets the file. Returns
 * undefined if there is no file or its version differs from `at`.
 * @param at the version that `findPreview` returned
 */
export async function takeUpload(
  { db, userId }: OwnContext,
  resource: Resource,
  at: Date,
): Promise<Upload | undefined> {
  return (await db.$sql(takeContent, { userId, resource, at }))[0];
}
