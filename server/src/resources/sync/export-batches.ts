import type { TenantClient } from '../../database/client/tenant-client.ts';
import { cursorOfNow, type Rows } from './change-feed.ts';

/** The maximum number of rows in memory at the same time. One ticket can use 150 KB. */
const batchSize = 250;

/** A file format that serializes rows in batches. */
export interface FileFormat {
  head: string;
  lines(batch: readonly object[]): Promise<string>;
}

/**
 * Passes all rows of a resource to `write`, ordered by id. Doesn't keep a transaction open. Resolves to a cursor that
 * was created before the first row was read, so the change feed after this cursor contains all changes since the start
 * of the export.
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

/** Reads all rows of a resource in batches, ordered by id. Reads each batch only when the caller requests it. */
export async function* batchesOf<Row extends { id: number }>(db: TenantClient, rows: Rows<Row>): AsyncGenerator<Row[]> {
  for (let id = 0; ; ) {
    const batch = await rows.after(db, id, batchSize);
    const last = batch.at(-1);
    if (last === undefined) return;
    yield batch;
    id = last.id;
  }
}
