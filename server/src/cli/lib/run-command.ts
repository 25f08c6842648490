import { resolve } from 'node:path';
import type { Command } from 'commander';
import type * as z from 'zod';
import { readSettings, type Settings } from '../../config/env.ts';
import { hasCluster } from '../../embedded-postgres/cluster.ts';
import type { Runtime } from '../../process/runtime.ts';
import { detailsOf } from '../../shared/validation.ts';
import { CommandError, Interrupted, UsageError } from './cli-errors.ts';
import { programName } from './help.ts';
import { createOutput, type Output, textWidthFor } from './output.ts';

interface Closable {
  close(): Promise<void>;
}

/** Tells people on stderr how far a command is; nothing with `--json`. */
type Say = (line: string) => void;

interface Action<Opened, Input, Result> {
  /** Opens what the command works on. */
  open(settings: Settings, say: Say): Promise<Opened>;
  /** What the options and arguments must be, by their names in camel case. */
  input: z.ZodType<Input>;
  work(opened: Opened, input: Input, say: Say): Promise<Result>;
  /** The result for people, on stdout; with `--json` the result itself is printed. */
  format(result: Result, view: Output): string;
  /** What people should know beside it, on stderr; nothing where it is undefined. */
  hint?(result: NoInfer<Result>, input: NoInfer<Input>): string | undefined;
  /** What people may want to do next, on stderr: calls without the program's name, or others that begin with `$ `. */
  next?(result: NoInfer<Result>, input: NoInfer<Input>, opened: NoInfer<Opened>): string[];
  /** Whether the command did what it should and yet ends with exit code 1. */
  failed?(result: Result): boolean;
}

/** The action of a command that works on a database that is up to date. */
export function action<Input, Result>(given: Omit<Action<Runtime, Input, Result>, 'open'>) {
  return createAction({ ...given, open: openForCommand });
}

/**
 * A command's action: checks what it was given, opens the database, works, and lets go of the database whatever
 * happens. Errors are thrown, for `reportError`.
 */
export function createAction<Opened extends Closable, Input, Result>(given: Action<Opened, Input, Result>) {
  const { open, input, work, format, failed } = given;
  return async function (this: Command): Promise<void> {
    const { json, utc = false, ...options } = this.opts();
    const values = this.registeredArguments.map((argument, index) => [argument.name(), this.processedArgs[index]]);
    const parsed = input.safeParse({ ...options, ...Object.fromEntries(values) });
    if (!parsed.success) throw new UsageError(detailsOf(parsed.error.issues, 'is unknown'));

    const say: Say = json ? () => undefined : tell;
    const opening = (settings: Settings) => open(settings, say);
    const done = await untilInterrupted(opening, async (opened) => {
      return { opened, result: await work(opened, parsed.data, say) };
    });
    const { result } = done;
    for (const line of beside(done, parsed.data, given)) say(line);
    const whole = JSON.stringify(result, undefined, 2);
    const view = async () => {
      const textWidth = await textWidthFor(whole);
      return createOutput({ utc, width: process.stdout.columns, now: new Date(), textWidth });
    };
    process.stdout.write(`${json ? whole : format(result, await view())}\n`);
    if (failed?.(result)) process.exitCode = 1;
  };
}

function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}

function beside<Opened extends Closable, Input, Result>(
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
  // Not `once`: a terminal tells the whole process group, and a package manager then tells its child again.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => interrupt.abort(new Interrupted(signal)));
  }
  const interrupted = new Promise<never>((_, reject) => {
    interrupt.signal.addEventListener('abort', () => reject(interrupt.signal.reason));
  });
  // Raised again below; there may be nobody waiting yet.
  interrupted.catch(() => undefined);

  const opened = await open(settings);
  try {
    interrupt.signal.throwIfAborted();
    return await Promise.race([work(opened), interrupted]);
  } finally {
    await opened.close();
  }
}

/**
 * Opens the database for less than a command's action, such as a completion: what is done meanwhile ends by itself, and nothing
 * is said.
 * @throws CommandError when there is no database
 */
export async function withRuntime<Result>(work: (runtime: Runtime) => Promise<Result>): Promise<Result> {
  const runtime = await openForCommand(readSettings(process.env), () => undefined);
  try {
    return await work(runtime);
  } finally {
    await runtime.close();
  }
}

/** Opens the runtime without making or changing anything. @throws CommandError when there is no database */
async function openForCommand(settings: Settings, say: Say): Promise<Runtime> {
  await assertDatabaseExists(settings);
  // Takes longer to load than all that a command finds wrong before it needs a database.
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
      say(`The database is ahead of this version of the program: a newer one has applied ${ahead.join(', ')}.`);
    },
    // A broken connection shows as the error of the query that needs it.
    onConnectionError: () => undefined,
  });
}

/** Where there is no database a command makes none. @throws CommandError that says where it looked */
export async function assertDatabaseExists({ DATABASE_URL, DATA_DIR }: Settings): Promise<void> {
  if (DATABASE_URL === undefined && !(await hasCluster(DATA_DIR))) {
    throw new CommandError(
      `There is no database in ${resolve(DATA_DIR)}. That is DATA_DIR: run this in the server's folder, or set DATA_DIR or ` +
        'DATABASE_URL as the server has it. `npx -y pnpm@12 start` starts a server, which makes one.',
    );
  }
}
