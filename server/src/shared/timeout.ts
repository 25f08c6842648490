import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits at most `milliseconds` for a promise. Resolves to true if the promise resolves in time, otherwise to false. If
 * the promise rejects in time, rejects with the same error.
 */
export async function endsWithin(milliseconds: number, ending: Promise<unknown>): Promise<boolean> {
  const timer = new AbortController();
  try {
    return await Promise.race([ending.then(() => true), sleep(milliseconds, false, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}
