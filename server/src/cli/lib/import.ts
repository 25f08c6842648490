import { readFile } from 'node:fs/promises';
import { SingleBar } from 'cli-progress';
import * as z from 'zod';
import type { Runtime } from '../../process/runtime.ts';
import { counted } from '../../resources/csv/csv-columns.ts';
import { type CsvResource, checkFile, importFile, type Problem } from '../../resources/csv/csv-import.ts';
import { activeTenantContext } from '../../resources/tenants/queries.ts';
import { CommandError } from './cli-errors.ts';
import type { Action } from './command.ts';
import { shell } from './help.ts';
import { action } from './run-command.ts';

/** How many lines a file may have, beside the one that names the columns. */
const mostLines = 100_000;
const shownProblems = 20;

interface Given {
  file: string;
  tenant: string;
  /** Whether everything is only checked. */
  dryRun: boolean;
}

/** Creates what a CSV file holds in one transaction, all or none, and tells the lines that are wrong. */
export function importAction<Row extends { id: number }, Line extends object, New>(
  csv: CsvResource<Row, Line, New>,
): Action {
  const { columns } = csv;
  return action({
    input: z.strictObject({ file: z.string(), tenant: z.string(), dryRun: z.boolean().default(false) }),
    work: (runtime, given) => importWithProgress(runtime, csv, given),
    format: ({ imported, importable }) =>
      imported === 0
        ? `${counted(columns, importable)} could be imported; nothing was.`
        : `Imported ${counted(columns, imported)}.`,
    next: ({ imported }, { file, tenant }) => {
      return imported === 0 ? [`${columns.resource} ${shell`import ${file} --tenant ${tenant}`}`] : [];
    },
  });
}

/** @throws CommandError naming the lines that are wrong: first what they say, then what the database says to them */
async function importWithProgress<Row extends { id: number }, Line extends object, New>(
  runtime: Runtime,
  csv: CsvResource<Row, Line, New>,
  { file, tenant, dryRun }: Given,
): Promise<{ importable: number; imported: number }> {
  const context = await activeTenantContext(runtime, tenant);
  const bytes = await readBytes(file);
  // Draws nothing where stderr is no terminal. `gracefulExit` gives the terminal back before Ctrl-C ends the process.
  const format = `{bar} {value} of {total} ${csv.columns.resource}`;
  const bar = new SingleBar({ format, clearOnComplete: true, gracefulExit: true });
  const told = (created: number, total: number) => (created === 0 ? bar.start(total, created) : bar.update(created));
  try {
    const { entries, problems } = dryRun
      ? await checkFile(context, csv, bytes, mostLines)
      : await importFile(context, csv, bytes, mostLines, told);
    if (problems.length > 0) throw refusal(file, problems);
    return { importable: entries.length, imported: dryRun ? 0 : entries.length };
  } finally {
    bar.stop();
  }
}

async function readBytes(file: string): Promise<Uint8Array> {
  return readFile(file).catch((error: NodeJS.ErrnoException) => {
    const reasons: Record<string, string> = { ENOENT: 'there is no such file', EISDIR: 'it is a folder' };
    throw new CommandError(`${file} can't be read: ${reasons[error.code ?? ''] ?? error.message}`);
  });
}

function refusal(file: string, problems: readonly Problem[]): CommandError {
  const shown = problems.slice(0, shownProblems);
  const lines = shown.map(({ line, path, message }) =>
    [line === undefined ? `${file}:` : `${file}, line ${line}:`, path, message].filter((part) => part !== '').join(' '),
  );
  const more = problems.length - shown.length;
  if (more > 0) lines.push(`${file}: and ${more} more`);
  // Where it is the file as a whole, that nothing came of it is plain.
  const isOfLines = shown.some(({ line }) => line !== undefined);
  return isOfLines ? new CommandError([...lines, `${file}: nothing was imported`], shown) : new CommandError(lines);
}
