import type { FastifyBaseLogger } from 'fastify';
import { backoffMs } from '../backoff.ts';

/**
 * The maximum duration of a step in milliseconds. If a step takes longer, the loop is unhealthy, and it logs an error
 * each time this duration passes.
 */
const maxStepMs = 30_000;

export interface Loop {
  /**
   * Starts the next step immediately, or when the running step finishes. After a failed step, the next step still waits
   * for the backoff delay.
   */
  wake(): void;
  /** The health of the loop. `ok` is false if the last step failed or the running step takes longer than 30 seconds. */
  readonly health: LoopHealth;
  /** Stops the loop. Resolves after the running step has finished. */
  stop(): Promise<void>;
}

export interface LoopHealth {
  ok: boolean;
  /** The number of seconds since the running step started, or 0 if no step is running. */
  stepSeconds: number;
}

interface LoopOptions {
  /** The name of the loop in log entries. */
  name: string;
  /** The time in milliseconds between two steps if `wake()` isn't called. */
  interval: number;
  /** Runs one step. Resolves to true if the next step should follow immediately. */
  step(): Promise<boolean>;
  logger: Pick<FastifyBaseLogger, 'error'>;
  /**
   * Returns true if a database outage caused the error. The loop doesn't log these errors, because `OutageTracker` logs
   * outages.
   */
  isOutage(error: unknown): boolean;
}

/**
 * Runs a step repeatedly, but never concurrently. The next step starts immediately if the last step resolved to true or
 * `wake()` was called. Otherwise, it starts after the interval. If a step fails, the loop logs the error and delays the
 * next step with exponential backoff, even after `wake()`.
 */
export function createLoop({ name, interval, step, logger, isOutage }: LoopOptions): Loop {
  let stopped = false;
  let woken = false;
  let failures = 0;
  let endWait = () => {};
  let startedAt: number | undefined;

  const wake = () => {
    woken = true;
    if (failures === 0) endWait();
  };

  async function wait(): Promise<void> {
    if (stopped || (woken && failures === 0)) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, failures === 0 ? interval : Math.max(interval, backoffMs(failures)));
      endWait = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function watchedStep(): Promise<boolean> {
    startedAt = performance.now();
    const watchdog = setInterval(() => {
      logger.error({ loop: name, seconds: getStepSeconds() }, 'a loop step is taking longer than 30 seconds');
    }, maxStepMs);
    try {
      const more = await step();
      failures = 0;
      return more;
    } catch (err) {
      failures++;
      if (!isOutage(err)) logger.error({ err, loop: name }, 'a loop step failed');
      return false;
    } finally {
      startedAt = undefined;
      clearInterval(watchdog);
    }
  }

  function getStepSeconds(): number {
    return startedAt === undefined ? 0 : Math.round((performance.now() - startedAt) / 1000);
  }

  const ended = (async () => {
    while (!stopped) {
      woken = false;
      const more = await watchedStep();
      if (!more) await wait();
    }
  })();

  return {
    wake,
    get health() {
      return { ok: failures === 0 && getStepSeconds() * 1000 < maxStepMs, stepSeconds: getStepSeconds() };
    },
    async stop() {
      stopped = true;
      endWait();
      await ended;
    },
  };
}
