import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits for a promise for at most `milliseconds`. Resolves to true if the promise resolves within this time, otherwise
 * to false. If the promise rejects within this time, rejects with the same error.
 */
export async function endsWithin(milliseconds: number, ending: Promise<unknown>): Promise<boolean> {
  const timer = new AbortController();
  try {
    return await Promise.race([ending.then(() => true), sleep(milliseconds, false, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}
