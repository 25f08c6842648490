import { setImmediate } from 'node:timers/promises';
import type { NewAsset } from '@itsm-api/contract';
import type { Context } from '../../context.ts';
import { ApiError } from '../../errors.ts';
import { detailsOf } from '../../validation.ts';
import { type CsvRecord, NoCsv, parseCsv } from '../csv.ts';
import { noSuchUser } from '../references.ts';
import { findUserIds } from '../users/queries.ts';
import { AssetLine, assetColumns, neededAssetColumns } from './columns.ts';
import { checkAssets, createAssets, type Progress } from './queries.ts';

const customFieldColumn = /^customFields\.(?!__proto__$)(.+)$/;

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
interface Entry {
  line: number;
  /** As the file has it: who holds the asset is still named by an e-mail address. */
  given: AssetLine;
  asset: NewAsset;
}

/** What a file holds, and what is wrong with it, in the order of its lines. Where something is, nothing is created. */
export interface AssetFile {
  entries: Entry[];
  problems: Problem[];
}

/** Looks whether the assets of a CSV file could be created. @param most how many it may hold */
export async function checkAssetFile(context: Context, bytes: Uint8Array, most: number): Promise<AssetFile> {
  const file = await readAssetFile(context, bytes, most);
  return unlessRefused(file, (assets) => checkAssets(context, assets));
}

/**
 * Creates the assets of a CSV file in one transaction, all or, where there are problems, none.
 * @param most how many it may hold
 */
export async function importAssetFile(
  context: Context,
  bytes: Uint8Array,
  most: number,
  onProgress?: (created: number, total: number) => void,
): Promise<AssetFile> {
  const file = await readAssetFile(context, bytes, most);
  return unlessRefused(file, (assets) => {
    const told: Progress = (created) => onProgress?.(created, assets.length);
    told(0);
    return createAssets(context, assets, told);
  });
}

/** Does the work on the assets of a file that has no problem; where the database stands against them, it has. */
async function unlessRefused(file: AssetFile, work: (assets: NewAsset[]) => Promise<void>): Promise<AssetFile> {
  if (file.problems.length > 0) return file;
  try {
    await work(file.entries.map(({ asset }) => asset));
    return file;
  } catch (error) {
    if (!(error instanceof ApiError && error.details)) throw error;
    return { ...file, problems: locate(error.details, file.entries) };
  }
}

/** Reads a file, and finds the users whom it names. */
async function readAssetFile(context: Context, bytes: Uint8Array, most: number): Promise<AssetFile> {
  const { records, problems } = readRecords(bytes, most);
  const [header, ...others] = records;
  const lines: { line: number; given: AssetLine }[] = [];
  for (const [index, record] of others.entries()) {
    if (problems.length >= mostProblems) break;
    if (index % linesAtOnce === 0) await setImmediate();
    const result = readLine(header?.cells ?? [], record);
    if ('problems' in result) problems.push(...result.problems);
    else lines.push({ line: record.line, given: result.given });
  }
  const userIds = await findUserIds(
    context,
    lines.flatMap(({ given }) => emailOf(given)),
  );
  const all = [...problems, ...findRepeatedTags(lines), ...findUnknownUsers(lines, userIds)];
  return {
    entries: lines.map(({ line, given }) => ({
      line,
      given,
      asset: { ...given, assignedToId: idOf(given, userIds) },
    })),
    problems: all.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)),
  };
}

/** The records of a file, the header first; none where they can't be read as assets. */
function readRecords(bytes: Uint8Array, most: number): { records: CsvRecord[]; problems: Problem[] } {
  try {
    const records = parseCsv(bytes, most + 2);
    const messages = records.length === 0 ? ['it is empty'] : faultsOfHeader(records[0]?.cells ?? []);
    if (records.length === 1) messages.push('it has no line below its header');
    if (records.length > most + 1) messages.push(`it has more than ${most} assets; split it`);
    return messages.length > 0 ? { records: [], problems: messages.map(ofFile) } : { records, problems: [] };
  } catch (error) {
    if (error instanceof NoCsv) return { records: [], problems: [ofFile(error.message)] };
    throw error;
  }
}

function ofFile(message: string): Problem {
  return { line: undefined, path: '', message };
}

function faultsOfHeader(header: readonly string[]): string[] {
  if (header.length > mostColumns) return [`it has ${header.length} columns, and may have ${mostColumns}`];
  const columns: readonly string[] = assetColumns;
  const unknown = header.filter((name) => !columns.includes(name) && !customFieldColumn.test(name));
  const missing = neededAssetColumns.filter((name) => !header.includes(name));
  const repeated = new Set(header.filter((name, index) => header.indexOf(name) !== index));
  const known = `${assetColumns.join(', ')} and customFields.NAME`;
  return [
    ...unknown
      .slice(0, 20)
      .map((name) => `there is no column "${name.slice(0, 100).toWellFormed()}"; there are ${known}`),
    ...missing.map((name) => `the column ${name} is missing`),
    ...[...repeated].slice(0, 20).map((name) => `the column ${name} is there twice`),
  ];
}

function readLine(
  header: readonly string[],
  { line, cells }: CsvRecord,
): { given: AssetLine } | { problems: Problem[] } {
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
  if (result.success) return { given: result.data };
  return { problems: detailsOf(result.error.issues, 'is unknown').map((detail) => ({ line, ...detail })) };
}

function findRepeatedTags(lines: readonly Omit<Entry, 'asset'>[]): Problem[] {
  const firstLines = new Map<string, number>();
  return lines.flatMap(({ given: { assetTag }, line }) => {
    const first = firstLines.get(assetTag);
    if (first === undefined) firstLines.set(assetTag, line);
    return first === undefined ? [] : [{ line, path: 'assetTag', message: `${assetTag} is already on line ${first}` }];
  });
}

function findUnknownUsers(lines: readonly Omit<Entry, 'asset'>[], userIds: ReadonlyMap<string, number>): Problem[] {
  return lines.flatMap(({ given, line }) =>
    emailOf(given)
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

/** The details of `createAssets`, whose paths begin with an index where they are of one asset, as problems of lines. */
function locate(details: NonNullable<ApiError['details']>, entries: readonly Entry[]): Problem[] {
  return details.map(({ path, message }) => {
    const [, index, field] = /^(\d+)\.(.*)$/s.exec(path) ?? [];
    return { line: index === undefined ? undefined : entries[Number(index)]?.line, path: field ?? path, message };
  });
}
