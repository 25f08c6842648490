import { setImmediate } from 'node:timers/promises';

/**
 * Returns a function that waits for the event loop. In each iteration of the event loop, at most one of its callers
 * continues, so that long work for many requests doesn't delay short requests.
 */
export function shareEventLoop(): () => Promise<void> {
  let lastYield = Promise.resolve();
  return () => {
    lastYield = lastYield.then(() => setImmediate());
    return lastYield;
  };
}
