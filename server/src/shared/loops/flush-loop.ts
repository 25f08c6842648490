/** Writes values that a process collects in memory. Writes run one after another. */
export interface FlushLoop {
  /** Waits for a running write to finish, and then writes everything that is pending. */
  flush(): Promise<void>;
  /** Starts a write, unless one is already running. */
  flushSoon(): void;
  /** Stops the timer, and writes everything that is pending. */
  close(): Promise<void>;
}

/** Calls `write` every 5 seconds. @param write must not reject */
export function startFlushLoop(write: () => Promise<void>): FlushLoop {
  let last = Promise.resolve();
  let running = 0;

  function flush(): Promise<void> {
    running++;
    last = last.then(write).finally(() => running--);
    return last;
  }

  function flushSoon(): void {
    if (running === 0) flush();
  }

  const timer = setInterval(flushSoon, 5000);
  timer.unref();

  return {
    flush,
    flushSoon,
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}
