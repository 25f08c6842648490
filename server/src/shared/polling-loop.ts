import type { FastifyBaseLogger } from 'fastify';
import { backoffMs } from './backoff.ts';

/** Milliseconds after which a running step is logged, and again after each further interval. */
const maxStepMs = 30_000;

export interface Loop {
  /** Runs the step immediately or, if it is running, again after it. */
  wake(): void;
  /** The health. Not ok if the last step failed, or if the running step exceeds 30 seconds. */
  readonly health: LoopHealth;
  /** Stops the loop. Resolves when the running step has finished. */
  stop(): Promise<void>;
}

export interface LoopHealth {
  ok: boolean;
  /** The seconds since the running step started, or 0 if none is running. */
  stepSeconds: number;
}

interface LoopOptions {
  /** The name in the log. */
  name: string;
  /** Milliseconds between two steps, unless `wake()` is called. */
  interval: number;
  /** Runs one step. Resolves to true if the next one should follow immediately. */
  step(): Promise<boolean>;
  logger: Pick<FastifyBaseLogger, 'error'>;
  /** Whether an error is part of a database outage, which is logged elsewhere. */
  isOutage(error: unknown): boolean;
}

/**
 * Runs a step repeatedly, never concurrently. The next step starts immediately if the last one returned true or `wake()` was
 * called, and otherwise after the interval. An error is logged and delays the next step with exponential backoff, also after
 * `wake()`.
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
