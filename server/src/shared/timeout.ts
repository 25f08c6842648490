import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for what is to end, and no longer than so many milliseconds; resolves to whether it ended in time. */
export async function endsWithin(milliseconds: number, ending: Promise<unknown>): Promise<boolean> {
  const over = new AbortController();
  try {
    return await Promise.race([ending.then(() => true), sleep(milliseconds, false, { signal: over.signal })]);
  } finally {
    over.abort();
  }
}
