import { queryPipelined, queryRows } from '../../database/client/raw-sql.ts';
import type { Context } from '../shared/context.ts';
import type { CsvColumns } from './csv-columns.ts';
import type { CheckedFile, Problem } from './csv-import.ts';

/*
 * The CSV file that a user of the developer area has sent, and looks at before it is imported: one for each user and
 * resource, kept for a day with what there is to be seen of it (docs/decisions/data-model.md#csv).
 */

type OwnContext = Pick<Context, 'db'> & { userId: bigint };
type Resource = CsvColumns<object>['resource'];

/** What is to be seen of a file that was checked. */
export interface Preview {
  /** How many lines could be imported, if nothing is wrong. */
  lines: number;
  /** The first of them, each as the texts of some columns. */
  first: { line: number; cells: string[] }[];
  /** How many things are wrong. */
  problems: number;
  firstProblems: Problem[];
}

const shownLines = 10;
const shownProblems = 100;
const shownText = 200;

/** What is to be seen of a file. @param names the columns that are shown */
export function previewOf<Line extends object, New>(
  { entries, problems }: CheckedFile<Line, New>,
  names: readonly (keyof Line)[],
): Preview {
  return {
    lines: entries.length,
    first: entries
      .slice(0, shownLines)
      .map(({ line, given }) => ({ line, cells: names.map((name) => text(given[name])) })),
    problems: problems.length,
    firstProblems: problems.slice(0, shownProblems),
  };
}

/** A value in a line of a table. */
function text(value: unknown): string {
  if (value == null) return '';
  const whole =
    typeof value === 'object'
      ? Object.entries(value)
          .map(([name, each]) => `${name}: ${each}`)
          .join(', ')
      : String(value);
  return whole.length > shownText ? `${whole.slice(0, shownText).toWellFormed()}…` : whole;
}

const own = 'tenant_id = $1 AND user_id = $2 AND resource = $3';
const keptFor = "interval '1 day'";

/** Keeps a file in place of the one before; what others of the workspace have left lying about goes. */
export async function keepUpload(
  { db, userId }: OwnContext,
  resource: Resource,
  { content, preview }: { content: Uint8Array; preview: Preview },
): Promise<void> {
  await queryPipelined(db, [
    {
      text: `DELETE FROM csv_uploads WHERE tenant_id = $1 AND created_at < now() - ${keptFor}`,
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

/** A file that is kept. */
export interface Kept {
  preview: Preview;
  /** When it was sent, or checked last: what tells it from another one. */
  at: Date;
}

/** What is to be seen of the user's file; undefined where there is none, or it has grown old. */
export function findPreview(context: OwnContext, resource: Resource): Promise<Kept | undefined> {
  return find(context, resource, 'preview, created_at AS at');
}

/** The user's file, to be checked anew; undefined where there is none, or it has grown old. */
export async function findUpload(context: OwnContext, resource: Resource): Promise<Uint8Array | undefined> {
  return (await find<{ content: Uint8Array }>(context, resource, 'content'))?.content;
}

/**
 * Takes the file away: of two who ask for it at once, one gets it. Undefined where there is none, or another one.
 * @param at as `findPreview` tells it
 */
export async function takeUpload(
  { db, userId }: OwnContext,
  resource: Resource,
  at: Date,
): Promise<Uint8Array | undefined> {
  const text = `DELETE FROM csv_uploads WHERE ${own} AND created_at = $4::timestamptz RETURNING content`;
  const [row] = await queryRows<{ content: Uint8Array }>(db, { text, values: [db.$tenantId, userId, resource, at] });
  return row?.content;
}

async function find<Row extends object>(
  { db, userId }: OwnContext,
  resource: Resource,
  columns: string,
): Promise<Row | undefined> {
  const text = `SELECT ${columns} FROM csv_uploads WHERE ${own} AND created_at >= now() - ${keptFor}`;
  const [row] = await queryRows<Row>(db, { text, values: [db.$tenantId, userId, resource] });
  return row;
}
