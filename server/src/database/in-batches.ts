import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Does long work over many rows in batches that each commit, until one is not full. After each it rests for as long as that
 * took: requests have the other half of what it uses of the database. Resolves to how many rows there were.
 * @param work does one batch, and resolves to its rows
 */
export async function inBatches(size: number, work: () => Promise<number>): Promise<number> {
  let sum = 0;
  for (;;) {
    const began = performance.now();
    const count = await work();
    sum += count;
    if (count < size) return sum;
    await sleep(performance.now() - began);
  }
}
