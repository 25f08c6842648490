import { setImmediate } from 'node:timers/promises';
import { CustomFields, normalizeText } from '@itsm-api/contract';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { ApiError } from '../../shared/errors.ts';
import { detailsOf } from '../../shared/validation.ts';
import { type FieldTypes, findFieldTypes, parseFieldText, parseJson } from '../custom-fields/field-text.ts';
import { chunksOf } from '../shared/chunks.ts';
import type { Context } from '../shared/context.ts';
import { noSuchUser } from '../shared/foreign-keys.ts';
import type { Rows } from '../sync/change-feed.ts';
import { findUserIds } from '../users/queries.ts';
import { type CsvColumns, type ImportResults, parseCustomField, toCustomFieldColumn } from './csv-columns.ts';
import { type ColumnValues, type CsvExport, toCsvRows } from './csv-export.ts';
import { type CsvFile, type CsvRecord, cellText, findNames, NoCsv, parseCsv } from './csv-format.ts';
import type { ImportOptions } from './import-checks.ts';
import { isLocal, localToJson } from './local-values.ts';

/** The CSV export and import of a resource. */
export interface CsvResource<Row extends { id: number }, Line extends object, Input> extends CsvExport {
  columns: CsvColumns<Line>;
  rows: Rows<Row>;
  /**
   * Returns the rows with these values in the unique column. The values can be invalid. Undefined if an import can't
   * update rows.
   */
  findRows?(db: TenantClient, values: readonly string[]): Promise<object[]>;
  /** Converts a line and the id of its user to the input for `write`. */
  inputOf(line: Line, userId: number | null | undefined): Input;
  /** Checks that `write` would succeed, and returns the same results. @throws ApiError the same errors as `write` */
  check(context: Context, inputs: readonly Input[], options: ImportOptions): Promise<ImportResults>;
  /**
   * Writes all rows or none.
   * @throws ApiError VALIDATION_ERROR; if only one row causes an error, the path of the error detail begins with the
   * row index
   */
  write(context: Context, inputs: readonly Input[], options: ImportOptions): Promise<ImportResults>;
}

/** The parts of a CSV resource that an import needs. */
export type Importable<Line extends object, Input> = Omit<CsvResource<never, Line, Input>, 'rows'>;

/** The limit and the mode of an import. */
interface FileOptions {
  /** The maximum number of rows. */
  max: number;
  /** Whether the import updates rows that exist. */
  update: boolean;
}

/** The import yields to the event loop, and reads existing rows, after this number of lines. */
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
interface Line<Values> {
  line: number;
  /** The texts of the cells, by column. The texts of custom fields are in `customFields`, by name. */
  texts: Record<string, unknown>;
  /** The parsed values. The user is an email address or an id. */
  given: Values;
}

/** The content and the problems of a CSV file, both in line order. A file with problems can't be imported. */
export interface CheckedFile<Input> {
  entries: { line: number; texts: Record<string, unknown>; input: Input }[];
  problems: Problem[];
  /** The results of the import, if the file has no problems. */
  results: ImportResults;
  /** The number of custom fields of existing rows whose values get another type. */
  typeChanges: number;
}

const noResults: ImportResults = { created: 0, updated: 0, unchanged: 0 };

/** Checks whether a CSV file can be imported. */
export async function checkFile<Values extends object, Input>(
  context: Context,
  csv: Importable<Values, Input>,
  bytes: Uint8Array,
  { max, update }: FileOptions,
): Promise<CheckedFile<Input>> {
  const file = await readFile(context, csv, bytes, { max, update });
  const { problems, results } = await collectProblems({ ...file, problems: [] }, (inputs) =>
    csv.check(context, inputs, { update }),
  );
  return { ...file, results, problems: sortByLine([...file.problems, ...problems]) };
}

function sortByLine(problems: Problem[]): Problem[] {
  return problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
}

/** Imports a CSV file in one transaction. If the file has problems, imports nothing. */
export async function importFile<Values extends object, Input>(
  context: Context,
  csv: Importable<Values, Input>,
  bytes: Uint8Array,
  { max, update }: FileOptions,
  reportProgress?: (done: number, total: number) => void,
): Promise<CheckedFile<Input>> {
  const file = await readFile(context, csv, bytes, { max, update });
  return collectProblems(file, (inputs) => {
    const onProgress = (done: number) => reportProgress?.(done, inputs.length);
    onProgress(0);
    return csv.write(context, inputs, { update, onProgress });
  });
}

/**
 * Runs `work` if the file has no problems. If `work` throws an error with details, returns these details as problems.
 */
async function collectProblems<Input>(
  file: CheckedFile<Input>,
  work: (inputs: Input[]) => Promise<ImportResults>,
): Promise<CheckedFile<Input>> {
  if (file.problems.length > 0) return file;
  try {
    return { ...file, results: await work(file.entries.map(({ input }) => input)) };
  } catch (error) {
    if (!(error instanceof ApiError && error.details)) throw error;
    return { ...file, problems: locate(error.details, file.entries) };
  }
}

/** Reads a CSV file and looks up the users in it. */
async function readFile<Values extends object, Input>(
  context: Context,
  csv: Importable<Values, Input>,
  bytes: Uint8Array,
  { max, update }: FileOptions,
): Promise<CheckedFile<Input>> {
  const { columns } = csv;
  const needed = update ? [columns.unique] : columns.needed;
  const types: FieldTypes = columns.hasCustomFields
    ? await findFieldTypes(context, { resource: 'ASSET', active: true })
    : new Map();
  const findFieldNames = async () => [...types.keys(), ...(await csv.customFields(context.db))];
  const { delimiter, records, problems } = await readRecords({ ...columns, needed }, findFieldNames, bytes, max);
  const [{ cells: header } = { cells: [] as string[] }, ...others] = records;
  // The header check has already reported these columns.
  const missing = needed.filter((name) => !header.includes(name));
  const unique = header.indexOf(columns.unique);
  // The schemas of the unique columns also normalize their values.
  const uniqueOf = ({ cells }: CsvRecord) => normalizeText((cells[unique] ?? '').trim(), 'NFC');
  const lines: Line<Values>[] = [];
  let typeChanges = 0;
  for (const chunk of chunksOf(others, linesPerTurn)) {
    if (problems.length >= maxProblems) break;
    await setImmediate();
    const existing = update ? await findExisting(context, csv, chunk.map(uniqueOf)) : undefined;
    for (const record of chunk) {
      const before = existing?.get(uniqueOf(record));
      const result = readLine(columns, header, record, { delimiter, missing, before, types });
      problems.push(...result.problems);
      typeChanges += result.typeChanges;
      if (result.given !== undefined) lines.push({ line: record.line, texts: result.texts, given: result.given });
    }
  }
  const userOf = (given: Values) => (columns.user === undefined ? undefined : given[columns.user]);
  const users = lines.map(({ given }) => userOf(given));
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
    entries: lines.map(({ line, texts, given }) => ({
      line,
      texts,
      input: csv.inputOf(given, getUserId(userOf(given), userIds)),
    })),
    problems: sortByLine(all),
    results: noResults,
    typeChanges,
  };
}

/** Finds the rows that an import updates, by the value in the unique column. */
async function findExisting<Values extends object, Input>(
  { db }: Context,
  { columns, findRows }: Importable<Values, Input>,
  values: readonly string[],
): Promise<Map<string, ColumnValues>> {
  const rows = (await findRows?.(db, values)) ?? [];
  const found = await toCsvRows(db, columns, rows);
  return new Map(found.map((valueIn) => [String(valueIn(columns.unique)), valueIn]));
}

/**
 * Parses a CSV file. Returns its records, starting with the header, which contains the names of the columns. If the lines
 * can't be checked, returns only problems.
 * @param findFieldNames resolves to the names of the custom fields that the workspace defines or uses
 */
async function readRecords<Values extends object>(
  columns: CsvColumns<Values>,
  findFieldNames: () => Promise<string[]>,
  bytes: Uint8Array,
  max: number,
): Promise<CsvFile & { problems: Problem[] }> {
  try {
    const { delimiter, records: given } = parseCsv(bytes, columns.names, max + 2);
    const isTooWide = (given[0]?.cells.length ?? 0) > maxColumns;
    const records = isTooWide ? given : withoutEmptyColumns(given);
    const headings = records[0]?.cells ?? [];
    const fieldNames = headings.some((heading) => customHeading.test(heading)) ? await findFieldNames() : [];
    const header = headings.map((heading) => toColumn(heading, columns.names, fieldNames));
    if (records[0] !== undefined) records[0] = { ...records[0], cells: header };
    const messages =
      records.length === 0
        ? ['the file is empty. Add a header and at least one row']
        : [...findHeaderProblems(columns, header), ...findAmbiguous(headings, fieldNames)];
    if (records.length === 1) messages.push('the file has no rows below the header. Add at least one row');
    if (records.length > max + 1) messages.push(`the file has more than ${max} ${columns.resource}. Split it`);
    const checked = isTooWide ? [] : records.slice(0, max + 1);
    const problems = messages.map((message) => ({ line: undefined, path: '', message }));
    return { delimiter, records: checked, problems };
  } catch (error) {
    if (!(error instanceof NoCsv)) throw error;
    const problem = { line: error.line, path: shorten(error.column), message: error.message };
    return { delimiter: ',', records: [], problems: [problem] };
  }
}

/** Removes the columns without a name whose cells are all empty, which spreadsheet programs add. */
function withoutEmptyColumns(records: readonly CsvRecord[]): CsvRecord[] {
  const header = records[0]?.cells ?? [];
  const used = new Set(header.flatMap((heading, index) => (heading === '' ? [] : index)));
  for (const { cells } of records) {
    for (const [index, cell] of cells.entries()) if (cell !== '') used.add(index);
  }
  return records.map(({ line, cells }) => ({ line, cells: cells.filter((_, index) => used.has(index)) }));
}

const customHeading = /^customFields\.(.+)$/is;

/** Returns the name of the column that a heading means. Upper and lower case make no difference. */
function toColumn(heading: string, names: readonly string[], fieldNames: readonly string[]): string {
  const field = customHeading.exec(heading)?.[1];
  if (field !== undefined) return toCustomFieldColumn(findNames(fieldNames, field)[0] ?? field);
  return findNames(names, heading)[0] ?? heading;
}

/** Describes the headings that can mean several custom fields, because the names of the fields differ only in case. */
function findAmbiguous(headings: readonly string[], fieldNames: readonly string[]): string[] {
  return headings.slice(0, maxColumns).flatMap((heading) => {
    const [first, second] = findNames(fieldNames, customHeading.exec(heading)?.[1] ?? '');
    if (first === undefined || second === undefined) return [];
    const remedy = `Write ${shorten(toCustomFieldColumn(first))} or ${shorten(toCustomFieldColumn(second))}`;
    return [`the column "${shorten(heading)}" can mean several fields. ${remedy}`];
  });
}

/** The names of delimiters in error messages. */
const delimiterNames: Record<string, string> = { ',': 'commas', ';': 'semicolons', '\t': 'tabs' };

function findHeaderProblems<Values extends object>(
  { names, needed, hasCustomFields }: CsvColumns<Values>,
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
  const describe = (name: string) =>
    name === ''
      ? 'a column with values has no name. Name it, or remove it'
      : `the column "${shorten(name)}" is unknown. ${remedy}`;
  return [
    ...unknown.slice(0, 20).map(describe),
    ...missing.map((name) => `the column ${name} is missing. Add it`),
    ...[...repeated].slice(0, 20).map((name) => `the column ${shorten(name)} occurs twice. Remove one`),
  ];
}

/** Shortens a column name for an error message. */
function shorten(column: string): string {
  return column.slice(0, 100).toWellFormed();
}

interface LineOptions {
  delimiter: string;
  /** Required columns that the file lacks. They are reported once, not for each line. */
  missing: readonly string[];
  /** The row that the line updates. */
  before: ColumnValues | undefined;
  /** The types of the defined custom fields. */
  types: FieldTypes;
}

/**
 * Reads a line of a CSV file. If a required value is missing or invalid, replaces it with an example, so that the
 * schema can still check the other values. If the line updates a row, omits the values that the row already has.
 */
function readLine<Values extends object>(
  columns: CsvColumns<Values>,
  header: readonly string[],
  { line, cells }: CsvRecord,
  { delimiter, missing, before, types }: LineOptions,
): { given?: Values | undefined; texts: Record<string, unknown>; problems: Problem[]; typeChanges: number } {
  const texts: Record<string, unknown> = {};
  let typeChanges = 0;
  if (cells.length !== header.length) {
    const message = `the line has ${cells.length} cells, but the header has ${header.length}. Correct the ${delimiterNames[delimiter] ?? 'separators'} and quotes`;
    return { texts, problems: [{ line, path: '', message }], typeChanges };
  }
  const needed: readonly string[] = columns.needed;
  const known: readonly string[] = columns.names;
  const fields: Record<string, unknown> = Object.fromEntries(missing.map((name) => [name, columns.example[name]]));
  const customTexts: [string, string][] = [];
  const customFields: [string, unknown][] = [];
  const cellProblems: (Problem & { line: number })[] = [];
  for (const [index, name] of header.entries()) {
    const cell = cells[index] ?? '';
    const customField = parseCustomField(name);
    if (cell === '') continue;
    const stored = before?.(name);
    if (customField !== undefined) {
      customTexts.push([customField, cell]);
      const type = types.get(customField);
      const kind = type === undefined ? kindOf(stored) : type.toLowerCase();
      const text = delimiter === ';' ? localToJson(cell, kind) : cell;
      if (text === cellText(stored)) continue;
      const value = type === undefined ? readAsType(text, stored) : parseFieldText(type, text);
      customFields.push([customField, value]);
      if (stored == null || kindOf(value) === kindOf(stored)) continue;
      typeChanges += 1;
      const message = type === undefined ? localErrors[kind] : undefined;
      if (message !== undefined && isLocal(cell)) cellProblems.push({ line, path: name, message });
    } else if (known.includes(name)) {
      texts[name] = cell;
      if (name === columns.unique || cell !== cellText(stored)) fields[name] = cell;
    }
  }
  if (customFields.length > 0) fields.customFields = Object.fromEntries(customFields);
  if (customTexts.length > 0) texts.customFields = Object.fromEntries(customTexts);
  const schema = before === undefined ? columns.line : (columns.changeLine ?? columns.line);
  const result = schema.safeParse(fields);
  if (result.success) {
    const given = missing.includes(columns.unique) ? undefined : result.data;
    return { given, texts, problems: cellProblems, typeChanges };
  }
  const problems = detailsOf(result.error.issues, 'is unknown').map((detail) => ({ line, ...detail }));
  const invalid = new Set(problems.map(({ path }) => path.split('.')[0] ?? ''));
  problems.push(...cellProblems);
  if (invalid.has(columns.unique) || missing.includes(columns.unique)) return { texts, problems, typeChanges };
  for (const name of invalid) fields[name] = needed.includes(name) ? columns.example[name] : undefined;
  return { given: schema.safeParse(fields).data, texts, problems, typeChanges };
}

/** Returns the type of a JSON value. */
function kindOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : typeof value;
}

/** The errors for values that are written as in other languages, by the type of the stored value. */
const localErrors: Record<string, string> = {
  number:
    'must be a number such as 4.5, without thousands separators. A decimal comma requires semicolons between the cells',
  boolean: 'must be true or false. Words of other languages require semicolons between the cells',
};

/**
 * Converts the text of a custom field without a definition to the type of the stored value. Returns the text if it has
 * another type, or if the converted value would be invalid.
 */
function readAsType(text: string, stored: unknown): unknown {
  // Spreadsheet programs write booleans in capitals.
  const value = parseJson(typeof stored === 'boolean' ? text.toLowerCase() : text);
  return kindOf(value) === kindOf(stored) && typeof value !== 'string' && CustomFields.safeParse({ value }).success
    ? value
    : text;
}

function findRepeated<Values extends object>(
  column: (keyof Values & string) | undefined,
  lines: readonly Line<Values>[],
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

function findUnknownUsers<Values extends object>(
  { user }: CsvColumns<Values>,
  lines: readonly Line<Values>[],
  userIds: ReadonlyMap<string, number>,
): Problem[] {
  if (user === undefined) return [];
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
 * Converts error details from `write` to problems. If the path of a detail begins with a row index, the problem has
 * the line number of the row.
 */
function locate(details: NonNullable<ApiError['details']>, entries: readonly { line: number }[]): Problem[] {
  return details.map(({ path, message }) => {
    const [, index, field] = /^(\d+)\.(.*)$/s.exec(path) ?? [];
    return { line: index === undefined ? undefined : entries[Number(index)]?.line, path: field ?? path, message };
  });
}
