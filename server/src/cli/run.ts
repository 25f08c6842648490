import type { Command } from 'commander';
import type * as z from 'zod';
import { readSettings } from '../env.ts';
import { openRuntime, type Runtime } from '../runtime.ts';
import { detailsOf } from '../validation.ts';
import { Interrupted, UsageError } from './errors.ts';

interface Action<Input, Result> {
  /** What the options and arguments must be, by their names in camel case. */
  input: z.ZodType<Input>;
  work(runtime: Runtime, input: Input): Promise<Result>;
  /** The result for people, on stdout; with `--json` the result itself is printed. */
  tell(result: Result): string;
  /** What people should know beside it, on stderr. */
  note?(result: Result): string;
}

/**
 * A command's action: checks what it was given, opens the database, works, and lets go of the database whatever
 * happens. Errors are thrown, for `reportError`.
 */
export function action<Input, Result>({ input, work, tell, note }: Action<Input, Result>) {
  return async function (this: Command): Promise<void> {
    const { json, ...options } = this.opts();
    const values = this.registeredArguments.map((argument, index) => [argument.name(), this.processedArgs[index]]);
    const parsed = input.safeParse({ ...options, ...Object.fromEntries(values) });
    if (!parsed.success) throw new UsageError(detailsOf(parsed.error.issues, 'is unknown'));

    const result = await withRuntime((runtime) => work(runtime, parsed.data));
    if (note !== undefined && !json) process.stderr.write(`${note(result)}\n`);
    process.stdout.write(`${json ? JSON.stringify(result, undefined, 2) : tell(result)}\n`);
  };
}

async function withRuntime<Result>(work: (runtime: Runtime) => Promise<Result>): Promise<Result> {
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

  // A broken connection shows as the error of the query that needs it.
  const runtime = await openRuntime(settings, {
    holder: { kind: 'command' },
    worker: false,
    onConnectionError: () => undefined,
  });
  try {
    interrupt.signal.throwIfAborted();
    return await Promise.race([work(runtime), interrupted]);
  } finally {
    await runtime.close();
  }
}
