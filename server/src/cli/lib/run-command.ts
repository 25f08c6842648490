import { resolve } from 'node:path';
import type { Command } from 'commander';
import type * as z from 'zod';
import { readSettings, type Settings } from '../../config/env.ts';
import { hasCluster } from '../../embedded-postgres/cluster.ts';
import type { Runtime } from '../../process/runtime.ts';
import { detailsOf } from '../../shared/validation.ts';
import { CommandError, Interrupted, type Signal, signals, UsageError } from './cli-errors.ts';
import { programName } from './help.ts';
import { createOutput, type Output, textWidthFor } from './output.ts';

interface Closable {
  close(): Promise<void>;
}

/** Prints a progress message on stderr. With the option `--json`, prints nothing. */
type Report = (line: string) => void;

interface Action<Opened, Input, Result> {
  /** Opens the resources that the command needs, such as the database. */
  open(settings: Settings, report: Report): Promise<Opened>;
  /** The schema of the options and arguments. All names are in camel case. */
  input: z.ZodType<Input>;
  work(opened: Opened, input: Input, report: Report): Promise<Result>;
  /**
   * Formats the result for stdout. With the option `--json`, the command prints the result as JSON and doesn't call
   * this function.
   */
  format(result: Result, output: Output): string;
  /** Returns a note about the result, or undefined. The command prints the note on stderr. */
  hint?(result: NoInfer<Result>, input: NoInfer<Input>): string | undefined;
  /**
   * Returns the next steps, which the command prints on stderr. An entry that starts with `$ ` is a shell command.
   * Every other entry is an `itsm` command without the program name.
   */
  next?(result: NoInfer<Result>, input: NoInfer<Input>, opened: NoInfer<Opened>): string[];
  /** Returns true if the result causes exit code 1. */
  failed?(result: Result): boolean;
}

/** Creates the action of a command that needs a database with the current schema. */
export function action<Input, Result>(given: Omit<Action<Runtime, Input, Result>, 'open'>) {
  return createAction({ ...given, open: openForCommand });
}

/**
 * Creates the action of a command. The action validates the input, opens the database, runs the command and always
 * closes the database. `reportError` prints the errors that the action throws.
 */
export function createAction<Opened extends Closable, Input, Result>(given: Action<Opened, Input, Result>) {
  const { open, input, work, format, failed } = given;
  return async function (this: Command): Promise<void> {
    const { json, utc = false, ...options } = this.opts();
    const values = this.registeredArguments.map((argument, index) => [argument.name(), this.processedArgs[index]]);
    const parsed = input.safeParse({ ...options, ...Object.fromEntries(values) });
    if (!parsed.success) throw new UsageError(detailsOf(parsed.error.issues, 'is unknown'));

    const report: Report = json ? () => undefined : writeLine;
    const opening = (settings: Settings) => open(settings, report);
    const outcome = await untilInterrupted(opening, async (opened) => {
      return { opened, result: await work(opened, parsed.data, report) };
    });
    const { result } = outcome;
    for (const line of formatNotes(outcome, parsed.data, given)) report(line);
    const whole = JSON.stringify(result, undefined, 2);
    const output = async () => {
      const textWidth = await textWidthFor(whole);
      return createOutput({ utc, width: process.stdout.columns, now: new Date(), textWidth });
    };
    process.stdout.write(`${json ? whole : format(result, await output())}\n`);
    if (failed?.(result)) throw new CommandError([]);
  };
}

/** Returns the value of a setting whose name is in a file, such as a database URL in `deploy/cells.yaml`. */
export function readSetting(name: string): string | undefined {
  return process.env[name];
}

function writeLine(line: string): void {
  process.stderr.write(`${line}\n`);
}

function formatNotes<Opened extends Closable, Input, Result>(
  { opened, result }: { opened: Opened; result: Result },
  input: Input,
  { hint, next }: Pick<Action<Opened, Input, Result>, 'hint' | 'next'>,
): string[] {
  const calls = next?.(result, input, opened) ?? [];
  const lines = calls.map((call) => (call.startsWith('$ ') ? `  ${call}` : `  $ ${programName} ${call}`));
  return [...[hint?.(result, input) ?? []].flat(), ...(lines.length > 0 ? ['Next:', ...lines] : [])];
}

async function untilInterrupted<Opened extends Closable, Result>(
  open: (settings: Settings) => Promise<Opened>,
  work: (opened: Opened) => Promise<Result>,
): Promise<Result> {
  const settings = readSettings(process.env);
  const interrupt = new AbortController();
  // The terminal and the package manager can both send the same signal. With `once`, the second one would end the
  // process.
  const abort = (signal: Signal) => interrupt.abort(new Interrupted(signal));
  for (const signal of signals) process.on(signal, abort);
  const interrupted = new Promise<never>((_, reject) => {
    interrupt.signal.addEventListener('abort', () => reject(interrupt.signal.reason));
  });
  // A signal can arrive before `Promise.race` runs. This handler prevents an unhandled rejection in that case.
  interrupted.catch(() => undefined);

  try {
    const opened = await open(settings);
    try {
      interrupt.signal.throwIfAborted();
      return await Promise.race([work(opened), interrupted]);
    } finally {
      await opened.close();
    }
  } finally {
    for (const signal of signals) process.off(signal, abort);
  }
}

/**
 * Opens the database for completions and `itsm listen`. Doesn't handle signals or print progress.
 * @throws CommandError if no database exists
 */
export async function withRuntime<Result>(work: (runtime: Runtime) => Promise<Result>): Promise<Result> {
  const runtime = await openForCommand(readSettings(process.env), () => undefined);
  try {
    return await work(runtime);
  } finally {
    await runtime.close();
  }
}

/**
 * Opens the runtime, but doesn't create or migrate a database.
 * @throws CommandError if no database exists
 */
async function openForCommand(settings: Settings, report: Report): Promise<Runtime> {
  await assertDatabaseExists(settings);
  // Imports these modules only after the database check, so a command that finds no database doesn't load them.
  const [{ openRuntime }, { checkSchema }] = await Promise.all([
    import('../../process/runtime.ts'),
    import('../../process/ensure-schema.ts'),
  ]);
  return openRuntime(settings, {
    holder: { type: 'command' },
    worker: false,
    prepare: async (databaseUrl) => {
      const { ahead } = await checkSchema(databaseUrl);
      if (ahead.length === 0) return;
      report(
        `The database is newer than this version of the program. A newer version has applied ${ahead.join(', ')}.`,
      );
    },
    // Ignores connection errors, because the query on the lost connection reports the error.
    onConnectionError: () => undefined,
    onStorageFailure: ({ message }) => report(message),
    onStorageNotice: report,
  });
}

/**
 * Checks that a database exists.
 * @throws CommandError with the path of the data folder, if DATABASE_URL is not set and DATA_DIR contains no database
 */
export async function assertDatabaseExists({ DATABASE_URL, DATA_DIR }: Settings): Promise<void> {
  if (DATABASE_URL === undefined && !(await hasCluster(DATA_DIR))) {
    throw new CommandError(
      `There is no database in DATA_DIR, ${resolve(DATA_DIR)}. Run the command in the server's folder, or set DATA_DIR or ` +
        'DATABASE_URL to the same value as for the server. To create a database, run `npx -y pnpm@12.21.0 start`.',
    );
  }
}
