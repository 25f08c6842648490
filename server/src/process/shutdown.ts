import closeWithGrace from 'close-with-grace';
import { createLogger, isTerminal } from '../http/logger.ts';
import { onLauncherExit } from './launcher-watch.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Milliseconds in which a second signal counts as a duplicate: the terminal and the package manager both send the
 * signal.
 */
const sameSignalMs = 1000;

interface ShutdownOptions {
  /** Stops the process. Called once, possibly while the process is still starting. */
  stop(how: { drain: boolean }): Promise<void>;
  /** Maximum milliseconds for the shutdown. Then the process exits. */
  maxShutdownMs: number;
  /** Whether npm started the package manager that started this process. */
  byNpm: boolean;
}

/**
 * Handles signals and uncaught errors. The first signal starts a graceful shutdown, and a second one exits immediately.
 * An uncaught error starts a graceful shutdown with exit code 1. Drains requests if a supervisor stops the process, but
 * not if a person stops it in a terminal.
 */
export function handleShutdown({ stop, maxShutdownMs, byNpm }: ShutdownOptions): void {
  let drain = false;
  let stopping = false;
  const { close } = closeWithGrace(
    {
      skip: [...signals],
      delay: maxShutdownMs,
      logger: { error: (error) => report('error', error instanceof Error ? error.message : String(error)) },
      onTimeout: () => report('error', `The shutdown did not finish within ${maxShutdownMs / 1000} seconds.`),
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
    // If a shutdown after an error is already running, it continues and keeps its exit code.
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

/** Writes to stderr if stdout is a terminal. Otherwise, logs the message, regardless of LOG_LEVEL. */
function report(level: 'info' | 'error', message: string, err?: Error): void {
  if (isTerminal()) process.stderr.write(`\n${message}\n${err === undefined ? '' : `${err.stack}\n`}`);
  else createLogger('info')[level]({ err }, message);
}
