import { queryPipelined, queryRows } from '../../database/client/raw-sql.ts';
import type { Context } from '../shared/context.ts';
import type { CsvColumns } from './csv-columns.ts';
import type { CheckedFile, Problem } from './csv-import.ts';

/*
 * Stores CSV files that users upload in the developer area, and the previews that users see before the import. The
 * server keeps one file per user and resource for one day (docs/decisions/data-model.md#csv).
 */

type OwnContext = Pick<Context, 'db'> & { userId: bigint };
type Resource = CsvColumns<object>['resource'];

/** The preview of a CSV file before its import. */
export interface Preview {
  /** The number of lines that could be read. If the file has no problems, the import creates one row for each line. */
  lines: number;
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
export function previewOf<Line extends object, New>(
  { entries, problems }: CheckedFile<Line, New>,
  names: readonly (keyof Line)[],
): Preview {
  return {
    lines: entries.length,
    first: entries
      .slice(0, maxShownLines)
      .map(({ line, given }) => ({ line, cells: names.map((name) => text(given[name])) })),
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

const ownUpload = 'tenant_id = $1 AND user_id = $2 AND resource = $3';
const retention = "interval '1 day'";

/**
 * Stores an uploaded file, which replaces the user's previous file for the resource. Also deletes the workspace's
 * expired files.
 */
export async function keepUpload(
  { db, userId }: OwnContext,
  resource: Resource,
  { content, preview }: { content: Uint8Array; preview: Preview },
): Promise<void> {
  await queryPipelined(db, [
    {
      text: `DELETE FROM csv_uploads WHERE tenant_id = $1 AND created_at < now() - ${retention}`,
      values: [db.$tenantId],
    },
    {
      text: `INSERT INTO csv_uploads (tenant_id, user_id, resource, content, preview) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (tenant_id, user_id, resource)
        DO UPDATE SET content = excluded.content, preview = excluded.preview, created_at = now()`,
      values: [db.$tenantId, userId, resource, content, JSON.stringify(preview)],
    },
  ]);
}

/** The preview of a stored file. */
export interface Kept {
  preview: Preview;
  /** When the file was uploaded or last checked. The time identifies the version of the file. */
  at: Date;
}

/** Returns the preview of the user's stored file, or undefined if there is no file or the file has expired. */
export function findPreview(context: OwnContext, resource: Resource): Promise<Kept | undefined> {
  return find(context, resource, 'preview, created_at AS at');
}

/** Returns the user's stored file, or undefined if there is no file or the file has expired. */
export async function findUpload(context: OwnContext, resource: Resource): Promise<Uint8Array | undefined> {
  return (await find<{ content: Uint8Array }>(context, resource, 'content'))?.content;
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
): Promise<Uint8Array | undefined> {
  const text = `DELETE FROM csv_uploads WHERE ${ownUpload} AND created_at = $4::timestamptz RETURNING content`;
  const [row] = await queryRows<{ content: Uint8Array }>(db, { text, values: [db.$tenantId, userId, resource, at] });
  return row?.content;
}

async function find<Row extends object>(
  { db, userId }: OwnContext,
  resource: Resource,
  columns: string,
): Promise<Row | undefined> {
  const text = `SELECT ${columns} FROM csv_uploads WHERE ${ownUpload} AND created_at >= now() - ${retention}`;
  const [row] = await queryRows<Row>(db, { text, values: [db.$tenantId, userId, resource] });
  return row;
}
