import { readFile } from 'node:fs/promises';
import type { Context } from '../context.ts';
import { checkAssetFile, importAssetFile, type Problem } from '../resources/assets/import.ts';
import { CommandError } from './errors.ts';

/** How many assets a file may hold. */
const maxAssets = 100_000;
const shownProblems = 20;

interface Bar {
  start(total: number, done: number): void;
  update(done: number): void;
}

interface ImportOptions {
  /** Whether everything is only checked. */
  dryRun: boolean;
  progress: Bar;
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
  const bytes = await readBytes(file);
  const told = (created: number, total: number) =>
    created === 0 ? progress.start(total, created) : progress.update(created);
  const { entries, problems } = dryRun
    ? await checkAssetFile(context, bytes, maxAssets)
    : await importAssetFile(context, bytes, maxAssets, told);
  if (problems.length > 0) throw refusal(file, problems);
  return entries.length;
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
