import closeWithGrace from 'close-with-grace';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** A package manager repeats to its child what the terminal has told both: within this it is the same signal. */
const sameSignalMs = 1000;

/** What is not done by then is given up: longer than what is in flight may take (app.ts, webhooks/worker.ts). */
const longestStopMs = 45_000;

/**
 * Ends the process well on the first signal, and at once on a second one; an error that nobody caught ends it well,
 * too, but with 1. `stop` is called once, also while the process is still starting.
 */
export function shutDownWith(stop: () => Promise<void>): void {
  const report = (text: string) => process.stderr.write(`${text}\n`);
  const { close } = closeWithGrace(
    {
      skip: [...signals],
      delay: longestStopMs,
      logger: { error: (error) => report(error instanceof Error ? error.message : String(error)) },
      onTimeout: () => report(`Not everything was done within ${longestStopMs / 1000} seconds.`),
    },
    async ({ err }) => {
      report(err === undefined ? '\nStopping …' : `\nStopping after an error: ${err.stack}`);
      await stop();
    },
  );

  let stoppingSince: number | undefined;
  const onSignal = () => {
    if (stoppingSince !== undefined && performance.now() - stoppingSince > sameSignalMs) process.exit(130);
    if (stoppingSince !== undefined) return;
    stoppingSince = performance.now();
    close();
  };
  for (const signal of signals) process.on(signal, onSignal);
}
