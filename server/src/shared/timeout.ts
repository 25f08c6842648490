import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for a promise, for at most `milliseconds`. Resolves to true if it settled in time. */
export async function endsWithin(milliseconds: number, ending: Promise<unknown>): Promise<boolean> {
  const timer = new AbortController();
  try {
    return await Promise.race([ending.then(() => true), sleep(milliseconds, false, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}
