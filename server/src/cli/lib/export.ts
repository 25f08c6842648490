import { access, open } from 'node:fs/promises';
import { pathPrefix } from '@itsm-api/contract';
import * as z from 'zod';
import type { Runtime } from '../../process/runtime.ts';
import { type CsvExport, csvFile } from '../../resources/csv/csv-export.ts';
import { writePartial } from '../../resources/shared/partial-export.ts';
import type { Rows } from '../../resources/sync/change-feed.ts';
import { exportRows, type FileFormat } from '../../resources/sync/export-batches.ts';
import { tenantContext } from '../../resources/tenants/queries.ts';
import { CommandError } from './cli-errors.ts';
import type { Action } from './command.ts';
import { confirm } from './confirm.ts';
import { action } from './run-command.ts';

/** Number of rows that the export writes between two progress messages. */
export const progressInterval = 100_000;

/**
 * Creates the action that exports all rows of a resource to a file. In JSON Lines files, each row has the format of the
 * API.
 * @param csv the CSV format for file names that end with `.csv`; if undefined, the resource has no CSV export
 */
export function exportAction<Row extends { id: number }>(rows: Rows<Row>, csv?: CsvExport): Action {
  const { resource } = rows;
  return action({
    input: z.strictObject({ file: z.string().min(1), tenant: z.string(), yes: z.boolean().default(false) }),
    work: (runtime, { tenant, ...target }, report) => exportTo(runtime, { ...target, tenant, rows, csv, report }),
    format: ({ exported, cursor }) =>
      `Exported ${exported} ${resource}. To get later changes: GET ${pathPrefix}/${resource}/changes?cursor=${cursor}`,
  });
}

interface Export<Row> {
  file: string;
  yes: boolean;
  tenant: string;
  rows: Rows<Row>;
  csv: CsvExport | undefined;
  report(line: string): unknown;
}

async function exportTo<Row extends { id: number }>(
  runtime: Runtime,
  { file, yes, tenant, rows, csv, report }: Export<Row>,
): Promise<{ exported: number; cursor: string }> {
  const { db } = await tenantContext(runtime, tenant);
  const isCsv = /\.csv$/i.test(file);
  if (isCsv && csv === undefined)
    throw new CommandError(`${rows.resource} can't be exported as CSV. Choose a file name that ends with .jsonl`);
  return writeFile(runtime, { file, yes, report }, async (append) => {
    const { head, lines } = isCsv && csv !== undefined ? await csvFile(db, csv) : jsonLines;
    await append(head);
    let exported = 0;
    const { cursor } = await exportRows(db, rows, async (batch) => {
      await append(await lines(batch));
      const reported = Math.floor(exported / progressInterval);
      exported += batch.length;
      if (Math.floor(exported / progressInterval) > reported) report(`${exported} ${rows.resource} …`);
    });
    return { exported, cursor };
  });
}

/**
 * Writes to a temporary file and renames it when `work` is complete. The target file is therefore never incomplete.
 * @param yes replaces an existing file without confirmation
 * @throws CommandError if the file can't be written, or if it exists and the user doesn't confirm
 */
export async function writeFile<Result>(
  { databases }: Pick<Runtime, 'databases'>,
  { file, yes, report }: { file: string; yes: boolean; report: (line: string) => unknown },
  work: (append: (text: string) => Promise<void>) => Promise<Result>,
): Promise<Result> {
  const isKept = (await exists(file)) && !yes && !(await confirm(`replace ${file}`));
  if (isKept)
    throw new CommandError(
      `${file} already exists and was not changed. Choose another file, or use --yes to replace it`,
    );
  return writePartial(databases.system.pool, { target: file, report }, async (partial) => {
    await using handle = await open(partial, 'wx').catch((error: Error) => {
      throw new CommandError(
        `${file} can't be written: ${error.message}. Correct the permissions of its folder, or choose another file`,
      );
    });
    // Uses `appendFile`, because `write` may write only part of the data.
    const result = await work((text) => handle.appendFile(text));
    await handle.sync();
    return result;
  });
}

const jsonLines: FileFormat = {
  head: '',
  lines: async (batch) => toJsonLines(batch),
};

/** Returns the rows in the format JSON Lines. */
export function toJsonLines(rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
