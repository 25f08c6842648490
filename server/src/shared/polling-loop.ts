import type { FastifyBaseLogger } from 'fastify';
import { backoffMs } from './backoff.ts';

/** A step that takes longer is logged, and again after each such interval. Milliseconds. */
const maxStepMs = 30_000;

export interface Loop {
  /** Runs the step as soon as it isn't running. */
  wake(): void;
  /** How it is; not well while its last step failed, or its step takes longer than it may. */
  readonly health: LoopHealth;
  /** Runs it no more; resolves when it has ended. */
  stop(): Promise<void>;
}

export interface LoopHealth {
  ok: boolean;
  /** For how long the step that runs has been running; 0 between two. */
  stepSeconds: number;
}

interface LoopOptions {
  /** What it does, for the log. */
  name: string;
  /** How long it waits between two steps unless it is woken. Milliseconds. */
  interval: number;
  /** Resolves to whether there is more to do at once. */
  step(): Promise<boolean>;
  logger: Pick<FastifyBaseLogger, 'error'>;
  /** Whether a step failed since the database can't be reached; whoever says so has it logged. */
  isOutage(error: unknown): boolean;
}

/**
 * Runs a step over and over, never twice at a time: at once when the last one said that there is more or when woken,
 * else after the interval. A step that throws is logged, and the next one comes later each time, woken or not.
 */
export function createLoop({ name, interval, step, logger, isOutage }: LoopOptions): Loop {
  let stopped = false;
  let woken = false;
  let failures = 0;
  let endWait = () => {};
  let began: number | undefined;

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
    began = performance.now();
    const watchdog = setInterval(() => {
      logger.error({ loop: name, seconds: secondsOf() }, 'a step of a loop takes longer than it may');
    }, maxStepMs);
    try {
      const more = await step();
      failures = 0;
      return more;
    } catch (err) {
      failures++;
      if (!isOutage(err)) logger.error({ err, loop: name }, 'a step of a loop failed');
      return false;
    } finally {
      began = undefined;
      clearInterval(watchdog);
    }
  }

  function secondsOf(): number {
    return began === undefined ? 0 : Math.round((performance.now() - began) / 1000);
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
      return { ok: failures === 0 && secondsOf() * 1000 < maxStepMs, stepSeconds: secondsOf() };
    },
    async stop() {
      stopped = true;
      endWait();
      await ended;
    },
  };
}
