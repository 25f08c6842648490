import { setImmediate } from 'node:timers/promises';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { ApiError } from '../../shared/errors.ts';
import { detailsOf } from '../../shared/validation.ts';
import type { Progress } from '../shared/bulk-preconditions.ts';
import type { Context } from '../shared/context.ts';
import { noSuchUser } from '../shared/foreign-keys.ts';
import type { Rows } from '../sync/change-feed.ts';
import { findUserIds } from '../users/queries.ts';
import { type CsvColumns, customFieldOf } from './csv-columns.ts';
import { type CsvRecord, NoCsv, parseCsv } from './csv-format.ts';

/** A resource as CSV, out and in. */
export interface CsvResource<Row extends { id: number }, Line extends object, New> {
  columns: CsvColumns<Line>;
  rows: Rows<Row>;
  /** The names of all custom fields that rows of the tenant have. */
  customFields(db: TenantClient): Promise<string[]>;
  /** What a line makes, once it is known who the user is whom it names. */
  newOf(line: Line, userId: number | null | undefined): New;
  /** Looks whether they could be created. @throws ApiError as `create` does */
  check(context: Context, inputs: readonly New[]): Promise<void>;
  /** Creates all or none. @throws ApiError VALIDATION_ERROR whose details begin with an index where they are of one */
  create(context: Context, inputs: readonly New[], onProgress: Progress): Promise<void>;
}

/** What an import needs of it. */
type Importable<Line extends object, New> = Omit<CsvResource<never, Line, New>, 'rows' | 'customFields'>;

/** After so many lines others have their turn. */
const linesAtOnce = 250;

const mostColumns = 500;

/** With so many a file is read no further. */
const mostProblems = 10_000;

/** One thing that is wrong with a file. */
export interface Problem {
  /** Where, from 1; undefined where it is the file as a whole. */
  line: number | undefined;
  /** The column; empty where it is the whole line. */
  path: string;
  /** To be read after the column's name, or after the file's. */
  message: string;
}

/** A line that is right by itself. */
interface Line<Given> {
  line: number;
  /** As the file has it: a user is still named by an e-mail address. */
  given: Given;
}

/** What a file holds, and what is wrong with it, in the order of its lines. Where something is, nothing is created. */
export interface CheckedFile<Given, New> {
  entries: (Line<Given> & { input: New })[];
  problems: Problem[];
}

/** Looks whether what a CSV file holds could be created. @param most how many lines it may have */
export async function checkFile<Given extends object, New>(
  context: Context,
  csv: Importable<Given, New>,
  bytes: Uint8Array,
  most: number,
): Promise<CheckedFile<Given, New>> {
  const file = await readFile(context, csv, bytes, most);
  const { problems } = await unlessRefused({ ...file, problems: [] }, (inputs) => csv.check(context, inputs));
  return { ...file, problems: inOrder([...file.problems, ...problems]) };
}

function inOrder(problems: Problem[]): Problem[] {
  return problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
}

/**
 * Creates what a CSV file holds in one transaction, all or, where there are problems, none.
 * @param most how many lines it may have
 */
export async function importFile<Given extends object, New>(
  context: Context,
  csv: Importable<Given, New>,
  bytes: Uint8Array,
  most: number,
  onProgress?: (created: number, total: number) => void,
): Promise<CheckedFile<Given, New>> {
  const file = await readFile(context, csv, bytes, most);
  return unlessRefused(file, (inputs) => {
    const told: Progress = (created) => onProgress?.(created, inputs.length);
    told(0);
    return csv.create(context, inputs, told);
  });
}

/** Does the work on a file that has no problem; where the database stands against it, it has. */
async function unlessRefused<Given, New>(
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

/** Reads a file, and finds the users whom it names. */
async function readFile<Given extends object, New>(
  context: Context,
  { columns, newOf }: Importable<Given, New>,
  bytes: Uint8Array,
  most: number,
): Promise<CheckedFile<Given, New>> {
  const { records, problems } = readRecords(columns, bytes, most);
  const [header, ...others] = records;
  const lines: Line<Given>[] = [];
  for (const [index, record] of others.entries()) {
    if (problems.length >= mostProblems) break;
    if (index % linesAtOnce === 0) await setImmediate();
    const result = readLine(columns, header?.cells ?? [], record);
    problems.push(...result.problems);
    if (result.given !== undefined) lines.push({ line: record.line, given: result.given });
  }
  const users = lines.map(({ given }) => given[columns.user]);
  const userIds = await findUserIds(
    context,
    users.filter((user) => typeof user === 'string'),
  );
  const all = [...problems, ...findRepeated(columns, lines), ...findUnknownUsers(columns, lines, userIds)];
  return {
    entries: lines.map(({ line, given }) => ({ line, given, input: newOf(given, idOf(given[columns.user], userIds)) })),
    problems: inOrder(all),
  };
}

/** Parses a file. Returns its records, the header first, or none if they can't be checked line by line. */
function readRecords<Given extends object>(
  columns: CsvColumns<Given>,
  bytes: Uint8Array,
  most: number,
): { records: CsvRecord[]; problems: Problem[] } {
  try {
    const records = parseCsv(bytes, most + 2);
    const messages =
      records.length === 0
        ? ['it is empty. Add a header and at least one row']
        : faultsOfHeader(columns, records[0]?.cells ?? []);
    if (records.length === 1) messages.push('it has no rows below the header. Add at least one');
    if (records.length > most + 1) messages.push(`it has more than ${most} ${columns.resource}. Split it`);
    return messages.length > 0 ? { records: [], problems: messages.map(ofFile) } : { records, problems: [] };
  } catch (error) {
    if (error instanceof NoCsv) return { records: [], problems: [ofFile(error.message)] };
    throw error;
  }
}

function ofFile(message: string): Problem {
  return { line: undefined, path: '', message };
}

function faultsOfHeader<Given extends object>(
  { names, needed, hasCustomFields }: CsvColumns<Given>,
  header: readonly string[],
): string[] {
  if (header.length > mostColumns)
    return [`it has ${header.length} columns, and the maximum is ${mostColumns}. Remove columns`];
  const columns: readonly string[] = names;
  const isCustom = (name: string) => hasCustomFields && customFieldOf(name) !== undefined;
  const unknown = header.filter((name) => !columns.includes(name) && !isCustom(name));
  const missing = needed.filter((name) => !header.includes(name));
  const repeated = new Set(header.filter((name, index) => header.indexOf(name) !== index));
  const known = `${columns.join(', ')}${hasCustomFields ? ' and customFields.NAME' : ''}`;
  return [
    ...unknown.slice(0, 20).map((name) => `the column "${named(name)}" is unknown. Use ${known}`),
    ...missing.map((name) => `the column ${name} is missing. Add it`),
    ...[...repeated].slice(0, 20).map((name) => `the column ${named(name)} occurs twice. Remove one`),
  ];
}

/** As much of a column's name as is repeated. */
function named(column: string): string {
  return column.slice(0, 100).toWellFormed();
}

/**
 * Reads a line. Of one with faults the rest is given as well, so that it is held to the other lines and to the database: an
 * example takes the place of what is needed and at fault.
 */
function readLine<Given extends object>(
  columns: CsvColumns<Given>,
  header: readonly string[],
  { line, cells }: CsvRecord,
): { given?: Given; problems: Problem[] } {
  if (cells.length !== header.length) {
    const message = `it has ${cells.length} cells, but the header has ${header.length}. Correct the commas and quotes`;
    return { problems: [{ line, path: '', message }] };
  }
  const needed: readonly string[] = columns.needed;
  const known: readonly string[] = columns.names;
  // The header's own faults are reported once, not on each line.
  const missing = needed.filter((name) => !header.includes(name));
  const fields: Record<string, unknown> = Object.fromEntries(missing.map((name) => [name, columns.example[name]]));
  const customFields: [string, string][] = [];
  for (const [index, name] of header.entries()) {
    const cell = cells[index] ?? '';
    const customField = customFieldOf(name);
    if (cell === '') continue;
    if (customField !== undefined) customFields.push([customField, cell]);
    else if (known.includes(name)) fields[name] = cell;
  }
  if (columns.hasCustomFields) fields.customFields = Object.fromEntries(customFields);
  const result = columns.line.safeParse(fields);
  if (result.success) return missing.includes(columns.unique) ? { problems: [] } : { given: result.data, problems: [] };
  const problems = detailsOf(result.error.issues, 'is unknown').map((detail) => ({ line, ...detail }));
  const wrong = new Set(problems.map(({ path }) => path.split('.')[0] ?? ''));
  if (wrong.has(columns.unique) || missing.includes(columns.unique)) return { problems };
  for (const name of wrong) fields[name] = needed.includes(name) ? columns.example[name] : undefined;
  return { given: columns.line.safeParse(fields).data, problems };
}

function findRepeated<Given extends object>({ unique }: CsvColumns<Given>, lines: readonly Line<Given>[]): Problem[] {
  const firstLines = new Map<string, number>();
  return lines.flatMap(({ given, line }) => {
    const value = String(given[unique]);
    const first = firstLines.get(value);
    if (first === undefined) firstLines.set(value, line);
    return first === undefined
      ? []
      : [{ line, path: unique, message: `${value} is already on line ${first}. Choose a different value` }];
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

/** The id of who is named by an e-mail address or an id. */
function idOf(named: unknown, userIds: ReadonlyMap<string, number>): number | null | undefined {
  return typeof named === 'string' ? userIds.get(named) : (named as number | null | undefined);
}

/** The details of `create`, whose paths begin with an index where they are of one row, as problems of lines. */
function locate(details: NonNullable<ApiError['details']>, entries: readonly { line: number }[]): Problem[] {
  return details.map(({ path, message }) => {
    const [, index, field] = /^(\d+)\.(.*)$/s.exec(path) ?? [];
    return { line: index === undefined ? undefined : entries[Number(index)]?.line, path: field ?? path, message };
  });
}
