import { resolve } from 'node:path';
import type { Command } from 'commander';
import type * as z from 'zod';
import { hasCluster } from '../embedded-postgres/cluster.ts';
import { readSettings, type Settings } from '../env.ts';
import { openRuntime, type Runtime } from '../runtime.ts';
import { checkSchema } from '../schema.ts';
import { detailsOf } from '../validation.ts';
import { CommandError, Interrupted, UsageError } from './errors.ts';

interface Closable {
  close(): Promise<void>;
}

interface Action<Opened, Input, Result> {
  /** Opens what the command works on. */
  open(settings: Settings): Promise<Opened>;
  /** What the options and arguments must be, by their names in camel case. */
  input: z.ZodType<Input>;
  /** @param say tells people on stderr how far it is; nothing with `--json` */
  work(opened: Opened, input: Input, say: (line: string) => void): Promise<Result>;
  /** The result for people, on stdout; with `--json` the result itself is printed. */
  format(result: Result): string;
  /** What people should know beside it, on stderr. */
  hint?(result: Result): string;
  /** Whether the command did what it should and yet ends with exit code 1. */
  failed?(result: Result): boolean;
}

/** The action of a command that works on a database that is up to date. */
export function action<Input, Result>(given: Omit<Action<Runtime, Input, Result>, 'open'>) {
  return actionOn({ ...given, open: openForCommand });
}

/**
 * A command's action: checks what it was given, opens the database, works, and lets go of the database whatever
 * happens. Errors are thrown, for `reportError`.
 */
export function actionOn<Opened extends Closable, Input, Result>(given: Action<Opened, Input, Result>) {
  const { open, input, work, format, hint, failed } = given;
  return async function (this: Command): Promise<void> {
    const { json, ...options } = this.opts();
    const values = this.registeredArguments.map((argument, index) => [argument.name(), this.processedArgs[index]]);
    const parsed = input.safeParse({ ...options, ...Object.fromEntries(values) });
    if (!parsed.success) throw new UsageError(detailsOf(parsed.error.issues, 'is unknown'));

    const say = (line: string) => json || process.stderr.write(`${line}\n`);
    const result = await untilInterrupted(open, (opened) => work(opened, parsed.data, say));
    if (hint !== undefined) say(hint(result));
    process.stdout.write(`${json ? JSON.stringify(result, undefined, 2) : format(result)}\n`);
    if (failed?.(result)) process.exitCode = 1;
  };
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

/** Opens the runtime without making or changing anything. @throws CommandError when there is no database */
async function openForCommand(settings: Settings): Promise<Runtime> {
  await refuseMissingDatabase(settings);
  return openRuntime(settings, {
    holder: { type: 'command' },
    worker: false,
    prepare: async (databaseUrl) => {
      const { ahead } = await checkSchema(databaseUrl);
      if (ahead.length === 0) return;
      process.stderr.write(
        `The database is ahead of this version of the program: a newer one has applied ${ahead.join(', ')}.\n`,
      );
    },
    // A broken connection shows as the error of the query that needs it.
    onConnectionError: () => undefined,
  });
}

/** Where there is no database a command makes none. @throws CommandError that says where it looked */
export async function refuseMissingDatabase({ DATABASE_URL, DATA_DIR }: Settings): Promise<void> {
  if (DATABASE_URL === undefined && !(await hasCluster(DATA_DIR))) {
    throw new CommandError(
      `There is no database in ${resolve(DATA_DIR)}. Run this in the server's folder, set DATA_DIR or DATABASE_URL as ` +
        'the server has it, or start the server, which makes one.',
    );
  }
}
