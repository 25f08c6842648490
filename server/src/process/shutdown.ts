import closeWithGrace from 'close-with-grace';
import { createLogger, isTerminal } from '../http/logging/logger.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * For this many milliseconds after the first signal, another signal counts as a duplicate, because the terminal and the
 * package manager can both send the same signal.
 */
const sameSignalMs = 1000;

interface ShutdownOptions {
  /** Stops all components of the process, which may still be starting. Called only once. */
  stop(how: { drain: boolean }): Promise<void>;
  /** The maximum duration of the shutdown in milliseconds. After this time, the process exits immediately. */
  maxShutdownMs: number;
}

/**
 * Shuts the process down gracefully after a signal or an uncaught error. After an uncaught error, the exit code is 1. A
 * second signal ends the process immediately. The graceful shutdown drains requests if a supervisor stops the process,
 * but not if a person stops it in a terminal.
 */
export function handleShutdown({ stop, maxShutdownMs }: ShutdownOptions): void {
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
  const onSignal = (signal: NodeJS.Signals) => {
    if (signalledAt !== undefined && performance.now() - signalledAt > sameSignalMs) process.exit(130);
    if (signalledAt !== undefined) return;
    signalledAt = performance.now();
    // If an error has already started a shutdown, the signal doesn't change its exit code.
    if (stopping) return;
    drain = signal === 'SIGTERM' || !(process.stdin.isTTY || process.stdout.isTTY);
    close();
  };
  for (const signal of signals) process.on(signal, onSignal);
}

/** If stdout is a terminal, writes the message to stderr. Otherwise, logs the message regardless of LOG_LEVEL. */
function report(level: 'info' | 'error', message: string, err?: Error): void {
  if (isTerminal()) process.stderr.write(`\n${message}\n${err === undefined ? '' : `${err.stack}\n`}`);
  else createLogger('info')[level]({ err }, message);
}
