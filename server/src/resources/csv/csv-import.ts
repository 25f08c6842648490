import { setImmediate } from 'node:timers/promises';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { ApiError } from '../../shared/errors.ts';
import { detailsOf } from '../../shared/validation.ts';
import type { Context } from '../shared/context.ts';
import { noSuchUser } from '../shared/foreign-keys.ts';
import type { Rows } from '../sync/change-feed.ts';
import { findUserIds } from '../users/queries.ts';
import { type CsvColumns, parseCustomField } from './csv-columns.ts';
import { type CsvRecord, NoCsv, parseCsv } from './csv-format.ts';
import type { Progress } from './import-checks.ts';

/** The CSV export and import of a resource. */
export interface CsvResource<Row extends { id: number }, Line extends object, New> {
  columns: CsvColumns<Line>;
  rows: Rows<Row>;
  /** Returns the names of all custom fields in the tenant's rows. */
  customFields(db: TenantClient): Promise<string[]>;
  /** Converts a line and the id of its user to the input for `create`. */
  newOf(line: Line, userId: number | null | undefined): New;
  /** Checks that `create` would succeed. @throws ApiError the same errors as `create` */
  check(context: Context, inputs: readonly New[]): Promise<void>;
  /**
   * Creates all rows or none.
   * @throws ApiError VALIDATION_ERROR; if only one row causes an error, the path of the error detail begins with the
   * row index
   */
  create(context: Context, inputs: readonly New[], onProgress: Progress): Promise<void>;
}

/** The parts of a CSV resource that an import needs. */
type Importable<Line extends object, New> = Omit<CsvResource<never, Line, New>, 'rows' | 'customFields'>;

/** The import yields to the event loop after this number of lines. */
const linesPerTurn = 250;

const maxColumns = 500;

/** The import stops reading a file after this number of problems. */
const maxProblems = 10_000;

/** A problem that prevents the import of a CSV file. */
export interface Problem {
  /** The line number, starting at 1. Undefined if the problem affects the whole file. */
  line: number | undefined;
  /** The column name. Empty if the problem affects the whole line or file. */
  path: string;
  /**
   * The description of the problem. If `path` isn't empty, the description completes a sentence that begins with the
   * column name.
   */
  message: string;
}

/** A parsed line of a CSV file. */
interface Line<Given> {
  line: number;
  /** The parsed values. The user is an email address or an id. */
  given: Given;
}

/** The content and the problems of a CSV file, both in line order. A file with problems can't be imported. */
export interface CheckedFile<Given, New> {
  entries: (Line<Given> & { input: New })[];
  problems: Problem[];
}

/** Checks whether a CSV file can be imported. @param max the maximum number of rows */
export async function checkFile<Given extends object, New>(
  context: Context,
  csv: Importable<Given, New>,
  bytes: Uint8Array,
  max: number,
): Promise<CheckedFile<Given, New>> {
  const file = await readFile(context, csv, bytes, max);
  const { problems } = await collectProblems({ ...file, problems: [] }, (inputs) => csv.check(context, inputs));
  return { ...file, problems: sortByLine([...file.problems, ...problems]) };
}

function sortByLine(problems: Problem[]): Problem[] {
  return problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
}

/**
 * Imports a CSV file in one transaction. If the file has problems, imports nothing.
 * @param max the maximum number of rows
 */
export async function importFile<Given extends object, New>(
  context: Context,
  csv: Importable<Given, New>,
  bytes: Uint8Array,
  max: number,
  onProgress?: (created: number, total: number) => void,
): Promise<CheckedFile<Given, New>> {
  const file = await readFile(context, csv, bytes, max);
  return collectProblems(file, (inputs) => {
    const report: Progress = (created) => onProgress?.(created, inputs.length);
    report(0);
    return csv.create(context, inputs, report);
  });
}

/**
 * Runs `work` if the file has no problems. If `work` throws an error with details, returns these details as problems.
 */
async function collectProblems<Given, New>(
  file: CheckedFile<Given, New>,
  work: (inputs: New[]) => Promise<void>,
): Promise<CheckedFile<Given, New>> {
  if (file.problems.length > 0) return file;
  try {
    await work(file.entries.map(({ input }) => input));
    return file;
  } catch (error) {
    if (!(error instanceof ApiError && error.details)) throw error;
    return { ...file, problems: locate(error.details, file.entries) };
  }
}

/** Reads a CSV file and looks up the users in it. */
async function readFile<Given extends object, New>(
  context: Context,
  { columns, newOf }: Importable<Given, New>,
  bytes: Uint8Array,
  max: number,
): Promise<CheckedFile<Given, New>> {
  const { records, problems } = readRecords(columns, bytes, max);
  const [header, ...others] = records;
  const lines: Line<Given>[] = [];
  for (const [index, record] of others.entries()) {
    if (problems.length >= maxProblems) break;
    if (index % linesPerTurn === 0) await setImmediate();
    const result = readLine(columns, header?.cells ?? [], record);
    problems.push(...result.problems);
    if (result.given !== undefined) lines.push({ line: record.line, given: result.given });
  }
  const users = lines.map(({ given }) => given[columns.user]);
  const userIds = await findUserIds(
    context,
    users.filter((user) => typeof user === 'string'),
  );
  const all = [
    ...problems,
    ...findRepeated(columns.unique, lines),
    ...findRepeated(columns.uniqueIfSet, lines),
    ...findUnknownUsers(columns, lines, userIds),
  ];
  return {
    entries: lines.map(({ line, given }) => ({
      line,
      given,
      input: newOf(given, getUserId(given[columns.user], userIds)),
    })),
    problems: sortByLine(all),
  };
}

/**
 * Parses a CSV file. Returns its records, starting with the header. If the lines can't be checked, returns only
 * problems.
 */
function readRecords<Given extends object>(
  columns: CsvColumns<Given>,
  bytes: Uint8Array,
  max: number,
): { records: CsvRecord[]; problems: Problem[] } {
  try {
    const records = parseCsv(bytes, max + 2);
    const header = records[0]?.cells ?? [];
    const messages =
      records.length === 0
        ? ['the file is empty. Add a header and at least one row']
        : findHeaderProblems(columns, header);
    if (records.length === 1) messages.push('the file has no rows below the header. Add at least one row');
    if (records.length > max + 1) messages.push(`the file has more than ${max} ${columns.resource}. Split it`);
    const checked = header.length > maxColumns ? [] : records.slice(0, max + 1);
    return { records: checked, problems: messages.map(toFileProblem) };
  } catch (error) {
    if (error instanceof NoCsv) return { records: [], problems: [toFileProblem(error.message)] };
    throw error;
  }
}

function toFileProblem(message: string): Problem {
  return { line: undefined, path: '', message };
}

function findHeaderProblems<Given extends object>(
  { names, needed, hasCustomFields }: CsvColumns<Given>,
  header: readonly string[],
): string[] {
  if (header.length > maxColumns)
    return [`the file has ${header.length} columns, and the maximum is ${maxColumns}. Remove columns`];
  const columns: readonly string[] = names;
  const isCustom = (name: string) => hasCustomFields && parseCustomField(name) !== undefined;
  const unknown = header.filter((name) => !columns.includes(name) && !isCustom(name));
  const missing = needed.filter((name) => !header.includes(name));
  const repeated = new Set(header.filter((name, index) => header.indexOf(name) !== index));
  const remedy = `Remove it, or use one of: ${columns.join(', ')}${hasCustomFields ? ' or customFields.NAME' : ''}`;
  return [
    ...unknown.slice(0, 20).map((name) => `the column "${shorten(name)}" is unknown. ${remedy}`),
    ...missing.map((name) => `the column ${name} is missing. Add it`),
    ...[...repeated].slice(0, 20).map((name) => `the column ${shorten(name)} occurs twice. Remove one`),
  ];
}

/** Shortens a column name for an error message. */
function shorten(column: string): string {
  return column.slice(0, 100).toWellFormed();
}

/**
 * Reads a line of a CSV file. If a required value is missing or invalid, replaces it with an example, so that the
 * schema can still check the other values.
 */
function readLine<Given extends object>(
  columns: CsvColumns<Given>,
  header: readonly string[],
  { line, cells }: CsvRecord,
): { given?: Given; problems: Problem[] } {
  if (cells.length !== header.length) {
    const message = `the line has ${cells.length} cells, but the header has ${header.length}. Correct the commas and quotes`;
    return { problems: [{ line, path: '', message }] };
  }
  const needed: readonly string[] = columns.needed;
  const known: readonly string[] = columns.names;
  // Doesn't report missing columns, because the header check has already reported them.
  const missing = needed.filter((name) => !header.includes(name));
  const fields: Record<string, unknown> = Object.fromEntries(missing.map((name) => [name, columns.example[name]]));
  const customFields: [string, string][] = [];
  for (const [index, name] of header.entries()) {
    const cell = cells[index] ?? '';
    const customField = parseCustomField(name);
    if (cell === '') continue;
    if (customField !== undefined) customFields.push([customField, cell]);
    else if (known.includes(name)) fields[name] = cell;
  }
  if (columns.hasCustomFields) fields.customFields = Object.fromEntries(customFields);
  const result = columns.line.safeParse(fields);
  if (result.success) return missing.includes(columns.unique) ? { problems: [] } : { given: result.data, problems: [] };
  const problems = detailsOf(result.error.issues, 'is unknown').map((detail) => ({ line, ...detail }));
  const invalid = new Set(problems.map(({ path }) => path.split('.')[0] ?? ''));
  if (invalid.has(columns.unique) || missing.includes(columns.unique)) return { problems };
  for (const name of invalid) fields[name] = needed.includes(name) ? columns.example[name] : undefined;
  return { given: columns.line.safeParse(fields).data, problems };
}

function findRepeated<Given extends object>(
  column: (keyof Given & string) | undefined,
  lines: readonly Line<Given>[],
): Problem[] {
  if (column === undefined) return [];
  const firstLines = new Map<string, number>();
  return lines.flatMap(({ given, line }) => {
    if (given[column] == null) return [];
    const value = String(given[column]);
    const first = firstLines.get(value);
    if (first === undefined) firstLines.set(value, line);
    return first === undefined
      ? []
      : [{ line, path: column, message: `${value} is already on line ${first}. Choose a different value` }];
  });
}

function findUnknownUsers<Given extends object>(
  { user }: CsvColumns<Given>,
  lines: readonly Line<Given>[],
  userIds: ReadonlyMap<string, number>,
): Problem[] {
  return lines.flatMap(({ given, line }) => {
    const email = given[user];
    if (typeof email !== 'string' || userIds.has(email)) return [];
    return [{ line, path: user, message: `${email} ${noSuchUser}` }];
  });
}

/** Returns the id of a user. The argument is an email address or an id. */
function getUserId(user: unknown, userIds: ReadonlyMap<string, number>): number | null | undefined {
  return typeof user === 'string' ? userIds.get(user) : (user as number | null | undefined);
}

/**
 * Converts error details from `create` to problems. If the path of a detail begins with a row index, the problem has
 * the line number of the row.
 */
function locate(details: NonNullable<ApiError['details']>, entries: readonly { line: number }[]): Problem[] {
  return details.map(({ path, message }) => {
    const [, index, field] = /^(\d+)\.(.*)$/s.exec(path) ?? [];
    return { line: index === undefined ? undefined : entries[Number(index)]?.line, path: field ?? path, message };
  });
}
