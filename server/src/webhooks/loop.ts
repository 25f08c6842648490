export interface Loop {
  /** Runs the step as soon as it isn't running. */
  wake(): void;
  /** Runs it no more; resolves when it has ended. */
  stop(): Promise<void>;
}

/**
 * Runs a step over and over, never twice at a time: at once when the last one said that there is more or when woken,
 * else after `interval` milliseconds. A step that throws is told to `onError` and counts as one with nothing more.
 */
export function createLoop(interval: number, step: () => Promise<boolean>, onError: (error: unknown) => void): Loop {
  let stopped = false;
  let woken = false;
  let endWait = () => {};

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

  const ended = (async () => {
    while (!stopped) {
      woken = false;
      const more = await step().catch((error) => {
        onError(error);
        return false;
      });
      if (!more) await wait();
    }
  })();

  return {
    wake,
    async stop() {
      stopped = true;
      endWait();
      await ended;
    },
  };
}
