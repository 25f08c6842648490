import type { TenantClient } from '../../database/client/tenant-client.ts';
import { cursorOfNow, type Rows } from './change-feed.ts';

/** Rows that are held in memory at once; a ticket may have 150 KB. */
const batchSize = 250;

/** How rows are written into a file, a batch after the other. */
export interface FileFormat {
  head: string;
  lines(batch: readonly object[]): Promise<string>;
}

/**
 * Gives all rows of a resource to `write`, in the order of their ids. The cursor is from before the first was read: what
 * has changed meanwhile comes after it, so no transaction is held open. Resolves when the last batch was written.
 */
export async function exportRows<Row extends { id: number }>(
  db: TenantClient,
  rows: Rows<Row>,
  write: (batch: Row[]) => Promise<void>,
): Promise<{ cursor: string }> {
  const cursor = await cursorOfNow(db, rows.resource);
  for await (const batch of batchesOf(db, rows)) await write(batch);
  return { cursor };
}

/** All rows of a resource, in the order of their ids: each batch is read when it is asked for. */
export async function* batchesOf<Row extends { id: number }>(db: TenantClient, rows: Rows<Row>): AsyncGenerator<Row[]> {
  for (let id = 0; ; ) {
    const batch = await rows.after(db, id, batchSize);
    const last = batch.at(-1);
    if (last === undefined) return;
    yield batch;
    id = last.id;
  }
}
