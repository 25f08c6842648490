import { access, type FileHandle, open, rename, rm } from 'node:fs/promises';
import { pathPrefix } from '@itsm-api/contract';
import type { Command } from 'commander';
import * as z from 'zod';
import type { Rows } from '../resources/change-feed.ts';
import { exportRows } from '../resources/export.ts';
import { tenantContext } from '../resources/tenants/queries.ts';
import type { Runtime } from '../runtime.ts';
import { confirm } from './confirm.ts';
import { CommandError } from './errors.ts';
import { examples } from './help.ts';
import { action } from './run.ts';

/** After so many rows it is said how far it is. */
const toldEvery = 100_000;

/** Adds the command that copies all rows of a resource into a file, as the API presents them. */
export function addExport<Row extends { id: number }>(noun: Command, rows: Rows<Row>): void {
  const { resource } = rows;
  noun
    .command('export')
    .description(
      `Write all ${resource} of a tenant to a file, and tell the cursor by which to follow what changes after`,
    )
    .argument('<file>', 'JSON Lines: a row on each line, as the API answers it; a file that is not there yet')
    .requiredOption('--tenant <tenant>', 'name or id of the tenant')
    .option('--yes', 'replace the file if it is there')
    .addHelpText('after', examples(`${resource} export ${resource}.jsonl --tenant Acme`))
    .action(
      action({
        input: z.strictObject({ file: z.string().min(1), tenant: z.string(), yes: z.boolean().default(false) }),
        work: (runtime, { tenant, ...target }, say) => exportTo(runtime, { ...target, tenant, rows, say }),
        format: ({ exported, cursor }) =>
          `Exported ${exported} ${resource}. What changes after it: GET ${pathPrefix}/${resource}/changes?cursor=${cursor}`,
      }),
    );
}

interface Export<Row> {
  file: string;
  yes: boolean;
  tenant: string;
  rows: Rows<Row>;
  say(line: string): unknown;
}

/** Writes beside the file first, so that what stands at its name is whole. @throws CommandError, ApiError NOT_FOUND */
async function exportTo<Row extends { id: number }>(
  runtime: Runtime,
  { file, yes, tenant, rows, say }: Export<Row>,
): Promise<{ exported: number; cursor: string }> {
  const { db } = await tenantContext(runtime, tenant);
  const isKept = (await exists(file)) && !yes && !(await confirm(`replace ${file}`));
  if (isKept) throw new CommandError(`${file} is there already, and is left as it is`);
  const partial = `${file}.partial`;
  const handle = await open(partial, 'w').catch((error: Error) => {
    throw new CommandError(`${file} can't be written: ${error.message}`);
  });
  try {
    let exported = 0;
    const { cursor } = await exportRows(db, rows, async (batch) => {
      await handle.write(batch.map((row) => `${JSON.stringify(row)}\n`).join(''));
      const told = Math.floor(exported / toldEvery);
      exported += batch.length;
      if (Math.floor(exported / toldEvery) > told) say(`${exported} ${rows.resource} …`);
    });
    await finish(handle);
    await rename(partial, file);
    return { exported, cursor };
  } catch (error) {
    await handle.close().catch(() => undefined);
    await rm(partial, { force: true });
    throw error;
  }
}

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
