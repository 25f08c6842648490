import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { access, type FileHandle, open, rename } from 'node:fs/promises';
import { pathPrefix } from '@itsm-api/contract';
import * as z from 'zod';
import type { Runtime } from '../../process/runtime.ts';
import { type CsvExport, csvFile } from '../../resources/csv/csv-export.ts';
import type { Rows } from '../../resources/sync/change-feed.ts';
import { exportRows, type FileFormat } from '../../resources/sync/export-batches.ts';
import { tenantContext } from '../../resources/tenants/queries.ts';
import { CommandError } from './cli-errors.ts';
import type { Action } from './command.ts';
import { confirm } from './confirm.ts';
import { action } from './run-command.ts';

/** After so many rows it is said how far it is. */
const toldEvery = 100_000;

/**
 * Copies all rows of a resource into a file, as the API presents them.
 * @param csv how, where the file's name ends with `.csv`; without it there is no CSV
 */
export function exportAction<Row extends { id: number }>(rows: Rows<Row>, csv?: CsvExport): Action {
  const { resource } = rows;
  return action({
    input: z.strictObject({ file: z.string().min(1), tenant: z.string(), yes: z.boolean().default(false) }),
    work: (runtime, { tenant, ...target }, say) => exportTo(runtime, { ...target, tenant, rows, csv, say }),
    format: ({ exported, cursor }) =>
      `Exported ${exported} ${resource}. What changes after it: GET ${pathPrefix}/${resource}/changes?cursor=${cursor}`,
  });
}

interface Export<Row> {
  file: string;
  yes: boolean;
  tenant: string;
  rows: Rows<Row>;
  csv: CsvExport | undefined;
  say(line: string): unknown;
}

/** Writes beside the file first, so that what stands at its name is whole. @throws CommandError, ApiError */
async function exportTo<Row extends { id: number }>(
  runtime: Runtime,
  { file, yes, tenant, rows, csv, say }: Export<Row>,
): Promise<{ exported: number; cursor: string }> {
  const { db } = await tenantContext(runtime, tenant);
  const isCsv = /\.csv$/i.test(file);
  if (isCsv && csv === undefined) throw new CommandError(`There is no CSV of ${rows.resource}: name a .jsonl file`);
  const isKept = (await exists(file)) && !yes && !(await confirm(`replace ${file}`));
  if (isKept) throw new CommandError(`${file} is there already, and is left as it is`);
  const { head, lines } = isCsv && csv !== undefined ? await csvFile(db, csv) : jsonLines;
  // Each of several exports to one file has its own, and the last to end has the name.
  const partial = `${file}.${randomUUID().slice(0, 8)}.partial`;
  const handle = await open(partial, 'wx').catch((error: Error) => {
    throw new CommandError(`${file} can't be written: ${error.message}`);
  });
  // Who interrupts the command has nothing left of it either.
  const clear = () => rmSync(partial, { force: true });
  process.once('exit', clear);
  try {
    // `write` writes what fits, and says nothing of the rest.
    await handle.appendFile(head);
    let exported = 0;
    const { cursor } = await exportRows(db, rows, async (batch) => {
      await handle.appendFile(await lines(batch));
      const told = Math.floor(exported / toldEvery);
      exported += batch.length;
      if (Math.floor(exported / toldEvery) > told) say(`${exported} ${rows.resource} …`);
    });
    await finish(handle);
    await rename(partial, file);
    return { exported, cursor };
  } catch (error) {
    await handle.close().catch(() => undefined);
    clear();
    throw error;
  } finally {
    process.off('exit', clear);
  }
}

const jsonLines: FileFormat = {
  head: '',
  lines: async (batch) => batch.map((row) => `${JSON.stringify(row)}\n`).join(''),
};

async function finish(handle: FileHandle): Promise<void> {
  await handle.sync();
  await handle.close();
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
