import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Processes many rows in batches until a batch has fewer than `size` rows. After each full batch, waits as long as the
 * batch took, so the work runs at most half of the time.
 * @param work processes and commits one batch, and resolves to the number of rows in the batch
 * @returns the total number of rows
 */
export async function inBatches(size: number, work: () => Promise<number>): Promise<number> {
  let total = 0;
  for (;;) {
    const startedAt = performance.now();
    const count = await work();
    total += count;
    if (count < size) return total;
    await sleep(performance.now() - startedAt);
  }
}
