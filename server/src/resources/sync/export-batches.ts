import type { TenantClient } from '../../database/client/tenant-client.ts';
import { cursorOfNow, type Rows } from './change-feed.ts';

/** Rows per batch in memory. A ticket may have 150 KB. */
const batchSize = 250;

/** Writes rows into a file, batch by batch. */
export interface FileFormat {
  head: string;
  lines(batch: readonly object[]): Promise<string>;
}

/**
 * Passes all rows of a resource to `write`, ordered by id. Returns a cursor from before the first read, so that the
 * change feed contains all later changes. Holds no transaction open. Resolves when the last batch is written.
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

/** Reads all rows of a resource in batches, ordered by id. Reads each batch on demand. */
export async function* batchesOf<Row extends { id: number }>(db: TenantClient, rows: Rows<Row>): AsyncGenerator<Row[]> {
  for (let id = 0; ; ) {
    const batch = await rows.after(db, id, batchSize);
    const last = batch.at(-1);
    if (last === undefined) return;
    yield batch;
    id = last.id;
  }
}
