import closeWithGrace from 'close-with-grace';
import { createLogger, isWatched } from '../http/logger.ts';
import { onLauncherExit } from './launcher-watch.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** A package manager repeats to its child what the terminal has told both: within this it is the same signal. */
const sameSignalMs = 1000;

interface ShutdownOptions {
  /** Called once, also while the process is still starting. */
  stop(how: { drain: boolean }): Promise<void>;
  /** What is not done by then is given up. Milliseconds. */
  longestMs: number;
  /** Whether npm started the package manager that started this process. */
  byNpm: boolean;
}

/**
 * Ends the process well on the first signal, and at once on a second one; an error that nobody caught ends it well,
 * too, but with 1. Requests are drained when a supervisor wants the process to end, and not when a person at its
 * terminal does.
 */
export function handleShutdown({ stop, longestMs, byNpm }: ShutdownOptions): void {
  let drain = false;
  let stopping = false;
  const { close } = closeWithGrace(
    {
      skip: [...signals],
      delay: longestMs,
      logger: { error: (error) => report('error', error instanceof Error ? error.message : String(error)) },
      onTimeout: () => report('error', `Not everything was done within ${longestMs / 1000} seconds.`),
    },
    async ({ err }) => {
      stopping = true;
      if (err === undefined) report('info', 'Stopping …');
      else report('error', `Stopping after an error: ${err}`, err);
      await stop({ drain });
    },
  );

  let signalledAt: number | undefined;
  const begin = (bySupervisor: boolean) => {
    if (signalledAt !== undefined) return;
    signalledAt = performance.now();
    // What an error has begun goes on, and ends with its exit code.
    if (stopping) return;
    drain = bySupervisor;
    close();
  };
  const onSignal = (signal: NodeJS.Signals) => {
    if (signalledAt !== undefined && performance.now() - signalledAt > sameSignalMs) process.exit(130);
    begin(signal === 'SIGTERM' || !(process.stdin.isTTY || process.stdout.isTTY));
  };
  for (const signal of signals) process.on(signal, onSignal);
  if (byNpm) void onLauncherExit(() => begin(true));
}

/** Writes to the terminal if a person watches it, else a line of the log, whatever LOG_LEVEL is. */
function report(level: 'info' | 'error', message: string, err?: Error): void {
  if (isWatched()) process.stderr.write(`\n${message}\n${err === undefined ? '' : `${err.stack}\n`}`);
  else createLogger('info')[level]({ err }, message);
}
