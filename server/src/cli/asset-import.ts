import { readFile } from 'node:fs/promises';
import { CsvError, parse } from 'csv-parse/sync';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { checkAssets, createAssets } from '../resources/assets/queries.ts';
import { detailsOf } from '../validation.ts';
import { AssetLine, assetColumns, neededAssetColumns } from './asset-columns.ts';
import { CommandError } from './errors.ts';
import { findUserIds, noSuchUser } from './user-reference.ts';

const maxAssets = 100_000;
const shownProblems = 20;

const customFieldColumn = /^customFields\.(?!__proto__$)(.+)$/;

interface CsvRecord {
  /** Where it begins, from 1. */
  line: number;
  cells: string[];
}

interface Problem {
  line: number;
  /** The column; empty when the whole line is wrong. */
  path: string;
  message: string;
}

interface Progress {
  start(total: number, done: number): void;
  update(done: number): void;
}

interface ImportOptions {
  /** Whether everything is only checked. */
  dryRun: boolean;
  progress: Progress;
}

/**
 * Creates the assets of a CSV file in one transaction, all or none, and resolves to how many.
 * @throws CommandError naming the lines that are wrong: first what they say, then what the database says to them
 */
export async function importAssets(
  context: Context,
  file: string,
  { dryRun, progress }: ImportOptions,
): Promise<number> {
  const lines = new Map<AssetLine, number>();
  const problems: Problem[] = [];
  const [header, ...records] = parseRecords(file, await readText(file));
  checkHeader(file, header?.cells ?? []);
  if (records.length === 0) throw new CommandError(`${file} has no line below its header`);
  if (records.length > maxAssets) throw new CommandError(`${file} has more than ${maxAssets} assets; split it`);

  for (const record of records) {
    const result = readAsset(header?.cells ?? [], record);
    if ('problems' in result) problems.push(...result.problems);
    else lines.set(result.asset, record.line);
  }
  const userIds = await findUserIds(context, [...lines.keys()].flatMap(emailOf));
  problems.push(...findRepeatedTags(lines), ...findUnknownUsers(lines, userIds));
  refuse(file, problems);

  const assets = [...lines.keys()].map((asset) => ({ ...asset, assignedToId: idOf(asset, userIds) }));
  try {
    if (dryRun) {
      await checkAssets(context, assets);
      return assets.length;
    }
    progress.start(assets.length, 0);
    await createAssets(context, assets, (created) => progress.update(created));
  } catch (error) {
    if (error instanceof ApiError && error.details) refuse(file, locate(error.details, [...lines.values()]));
    throw error;
  }
  return assets.length;
}

async function readText(file: string): Promise<string> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    const reasons: Record<string, string> = { ENOENT: 'there is no such file', EISDIR: 'it is a folder' };
    throw new CommandError(`${file} can't be read: ${reasons[error.code ?? ''] ?? error.message}`);
  });
  try {
    // Takes off the byte order mark, too.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new CommandError(`${file} is not in UTF-8; save it as "CSV UTF-8"`);
  }
}

function parseRecords(file: string, text: string): CsvRecord[] {
  try {
    const records = parse(
      // The parser counts a line break of two characters within quotes as two lines.
      text.replaceAll(/\r\n?/g, '\n'),
      {
        info: true,
        trim: true,
        relax_column_count: true,
        skip_empty_lines: true,
        skip_records_with_empty_values: true,
      },
    ) as unknown as { record: string[]; info: { lines: number } }[];
    return records.map(({ record, info }) => ({
      cells: record,
      line: info.lines - record.join('').split('\n').length + 1,
    }));
  } catch (error) {
    if (error instanceof CsvError) throw new CommandError(`${file} is not valid CSV: ${error.message}`);
    throw error;
  }
}

function checkHeader(file: string, header: readonly string[]): void {
  const columns: readonly string[] = assetColumns;
  const unknown = header.filter((name) => !columns.includes(name) && !customFieldColumn.test(name));
  const missing = neededAssetColumns.filter((name) => !header.includes(name));
  const repeated = new Set(header.filter((name, index) => header.indexOf(name) !== index));
  const known = `${assetColumns.join(', ')} and customFields.NAME`;
  const lines = [
    ...unknown.map((name) => `${file}: there is no column "${name}"; there are ${known}`),
    ...missing.map((name) => `${file}: the column ${name} is missing`),
    ...[...repeated].map((name) => `${file}: the column ${name} is there twice`),
  ];
  if (lines.length > 0) throw new CommandError(lines);
}

function readAsset(
  header: readonly string[],
  { line, cells }: CsvRecord,
): { asset: AssetLine } | { problems: Problem[] } {
  if (cells.length !== header.length) {
    const message = `it has ${cells.length} cells, and the header ${header.length}`;
    return { problems: [{ line, path: '', message }] };
  }
  const filled = header
    .map((name, index): [string, string] => [name, cells[index] ?? ''])
    .filter(([, cell]) => cell !== '');
  const fields = filled.filter(([name]) => !customFieldColumn.test(name));
  const custom = filled.flatMap(([name, cell]) => {
    const field = customFieldColumn.exec(name)?.[1];
    return field === undefined ? [] : [[field, cell]];
  });
  const result = AssetLine.safeParse({ ...Object.fromEntries(fields), customFields: Object.fromEntries(custom) });
  if (result.success) return { asset: result.data };
  return { problems: detailsOf(result.error.issues, 'is unknown').map((detail) => ({ line, ...detail })) };
}

function findRepeatedTags(lines: ReadonlyMap<AssetLine, number>): Problem[] {
  const firstLines = new Map<string, number>();
  return [...lines].flatMap(([{ assetTag }, line]) => {
    const first = firstLines.get(assetTag);
    if (first === undefined) firstLines.set(assetTag, line);
    return first === undefined ? [] : [{ line, path: 'assetTag', message: `${assetTag} is already on line ${first}` }];
  });
}

function findUnknownUsers(lines: ReadonlyMap<AssetLine, number>, userIds: ReadonlyMap<string, number>): Problem[] {
  return [...lines].flatMap(([asset, line]) =>
    emailOf(asset)
      .filter((email) => !userIds.has(email))
      .map((email) => ({ line, path: 'assignedToId', message: `${email} ${noSuchUser}` })),
  );
}

function emailOf({ assignedToId }: AssetLine): string[] {
  return typeof assignedToId === 'string' ? [assignedToId] : [];
}

function idOf({ assignedToId }: AssetLine, userIds: ReadonlyMap<string, number>): number | null | undefined {
  return typeof assignedToId === 'string' ? userIds.get(assignedToId) : assignedToId;
}

/** The details of `createAssets`, whose paths begin with an index, as problems of lines. */
function locate(details: NonNullable<ApiError['details']>, lines: readonly number[]): Problem[] {
  return details.map(({ path, message }) => {
    const [index, ...field] = path.split('.');
    return { line: lines[Number(index)] ?? 0, path: field.join('.'), message };
  });
}

function refuse(file: string, problems: readonly Problem[]): void {
  if (problems.length === 0) return;
  const shown = problems.toSorted((a, b) => a.line - b.line).slice(0, shownProblems);
  const lines = shown.map(({ line, path, message }) =>
    `${file}, line ${line}: ${path} ${message}`.replace(':  ', ': '),
  );
  const more = problems.length - shown.length;
  if (more > 0) lines.push(`${file}: and ${more} more`);
  throw new CommandError([...lines, `${file}: nothing was imported`], shown);
}
