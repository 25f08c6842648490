import type { FastifyBaseLogger } from 'fastify';

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
  /** A step that takes longer is logged, and again each time that this much has passed. Milliseconds. */
  watchAfter?: number;
}

/**
 * Runs a step over and over, never twice at a time: at once when the last one said that there is more or when woken,
 * else after the interval. A step that throws is logged and counts as one with nothing more.
 */
export function createLoop({ name, interval, step, logger, watchAfter = 30_000 }: LoopOptions): Loop {
  let stopped = false;
  let woken = false;
  let endWait = () => {};
  let began: number | undefined;
  let failed = false;

  const wake = () => {
    woken = true;
    endWait();
  };

  async function wait(): Promise<void> {
    if (woken || stopped) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, interval);
      endWait = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function watchedStep(): Promise<boolean> {
    began = performance.now();
    const watchdog = setInterval(() => {
      logger.error({ loop: name, seconds: secondsOf() }, 'a step of a webhook loop takes longer than it may');
    }, watchAfter);
    try {
      const more = await step();
      failed = false;
      return more;
    } catch (err) {
      failed = true;
      logger.error({ err, loop: name }, 'a step of a webhook loop failed');
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
      return { ok: !failed && secondsOf() * 1000 < watchAfter, stepSeconds: secondsOf() };
    },
    async stop() {
      stopped = true;
      endWait();
      await ended;
    },
  };
}
