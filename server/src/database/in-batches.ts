import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Processes many rows in batches, until a batch is not full. Each batch commits separately. After each batch, pauses
 * for the duration of the batch, so that this work uses at most half of the time.
 * @param work processes one batch and resolves to its number of rows
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
