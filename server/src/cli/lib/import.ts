import { readFile } from 'node:fs/promises';
import { SingleBar } from 'cli-progress';
import * as z from 'zod';
import type { Runtime } from '../../process/runtime.ts';
import { counted, formatResults, formatTypeChanges, type ImportResults } from '../../resources/csv/csv-columns.ts';
import { checkFile, type Importable, importFile, type Problem } from '../../resources/csv/csv-import.ts';
import { activeTenantContext } from '../../resources/tenants/queries.ts';
import { CommandError } from './cli-errors.ts';
import type { Action } from './command.ts';
import { shell } from './help.ts';
import { action } from './run-command.ts';

/** Maximum number of lines in a CSV file, without the header. */
const maxLines = 100_000;
const maxShownProblems = 20;

interface ImportInput {
  file: string;
  tenant: string;
  /** Whether the command only validates the file and imports nothing. */
  dryRun: boolean;
  /** Whether the command also updates existing rows. */
  update: boolean;
}

interface ImportOutput {
  importable: number;
  imported: number;
  /** Present if the command also updates existing rows. */
  results?: ImportResults;
  /** The number of custom fields whose values get another type. Present if the command also updates existing rows. */
  typeChanges?: number;
}

/**
 * Creates the action that imports a CSV file in one transaction. If lines are invalid, reports the first
 * `maxShownProblems` problems and imports nothing.
 */
export function importAction<Line extends object, New>(csv: Importable<Line, New>): Action {
  const { columns } = csv;
  return action({
    input: z.strictObject({
      file: z.string(),
      tenant: z.string(),
      dryRun: z.boolean().default(false),
      update: z.boolean().default(false),
    }),
    work: (runtime, given) => importWithProgress(runtime, csv, given),
    format: ({ imported, importable, results, typeChanges }) => {
      const all = `${counted(columns, importable)}${results === undefined ? '' : ` (${formatResults(results)})`}`;
      const changed = formatTypeChanges(typeChanges);
      return imported === 0
        ? `The file is valid: ${all}. Nothing was imported.${changed}`
        : `Imported ${all}.${changed}`;
    },
    next: ({ imported }, { file, tenant, update }) => {
      const call = `${columns.resource} ${shell`import ${file} --tenant ${tenant}`}`;
      return imported === 0 ? [update ? `${call} --update` : call] : [];
    },
  });
}

/**
 * Imports or validates a CSV file, and shows a progress bar. If all lines are well-formed, also checks for conflicts
 * with the database.
 * @throws CommandError with the invalid lines
 */
async function importWithProgress<Line extends object, New>(
  runtime: Runtime,
  csv: Importable<Line, New>,
  { file, tenant, dryRun, update }: ImportInput,
): Promise<ImportOutput> {
  const context = await activeTenantContext(runtime, tenant);
  const bytes = await readBytes(file);
  // The progress bar prints nothing if stderr is not a terminal. `gracefulExit` restores the terminal after Ctrl-C.
  const format = `{bar} {value} of {total} ${csv.columns.resource}`;
  const bar = new SingleBar({ format, clearOnComplete: true, gracefulExit: true });
  const onProgress = (done: number, total: number) => (done === 0 ? bar.start(total, done) : bar.update(done));
  const options = { max: maxLines, update };
  try {
    const { entries, problems, results, typeChanges } = dryRun
      ? await checkFile(context, csv, bytes, options)
      : await importFile(context, csv, bytes, options, onProgress);
    if (problems.length > 0) throw toError(file, problems);
    const counts = { importable: entries.length, imported: dryRun ? 0 : entries.length };
    return update ? { ...counts, results, typeChanges } : counts;
  } finally {
    bar.stop();
  }
}

async function readBytes(file: string): Promise<Uint8Array> {
  return readFile(file).catch((error: NodeJS.ErrnoException) => {
    const reasons: Record<string, string> = { ENOENT: 'the file does not exist', EISDIR: 'it is a folder' };
    throw new CommandError(
      `${file} can't be read: ${reasons[error.code ?? ''] ?? error.message}. Choose a CSV file that you can read`,
    );
  });
}

function toError(file: string, problems: readonly Problem[]): CommandError {
  const shown = problems.slice(0, maxShownProblems);
  const lines = shown.map(({ line, path, message }) =>
    [line === undefined ? `${file}:` : `${file}, line ${line}:`, path, message].filter((part) => part !== '').join(' '),
  );
  const more = problems.length - shown.length;
  if (more > 0) lines.push(`${file}: and ${more} more`);
  // An error without a line number means that the whole file is invalid. In that case, users don't expect a partial
  // import, so the message omits "nothing was imported".
  const hasLines = shown.some(({ line }) => line !== undefined);
  return hasLines ? new CommandError([...lines, `${file}: nothing was imported`], shown) : new CommandError(lines);
}
