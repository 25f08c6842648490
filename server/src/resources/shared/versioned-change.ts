import type { Changes } from '@itsm-api/contract';
import { requireMatch, type Versioned } from '../../shared/etag.ts';
import { type Context, type Transaction, transaction } from './context.ts';
import { diffFields } from './diff.ts';

/** The steps of a change of a row with a version. */
interface VersionedChange<Row extends Versioned> {
  /** Locks the row until the end of the transaction. */
  lock(context: Context): Promise<unknown>;
  /** Returns the latest version of the row. @throws ApiError NOT_FOUND */
  read(context: Context): Promise<Row>;
  /** Returns the row after the change. */
  merge(before: Row): Row;
  /** Writes a change that isn't empty, and returns the written row. */
  write(context: Context & Transaction, change: { before: Row; after: Row; changes: Changes }): Promise<Row>;
}

/**
 * Changes a row in a transaction, if `If-Match` contains its entity tag. If the change changes nothing, writes nothing,
 * so that the version and `updatedAt` stay the same.
 * @throws ApiError PRECONDITION_FAILED, and the errors of the steps
 */
export function changeVersioned<Row extends Versioned>(
  context: Context,
  { lock, read, merge, write }: VersionedChange<Row>,
): Promise<Row> {
  return transaction(context, async (context) => {
    await lock(context);
    const before = await read(context);
    requireMatch(context.ifMatch, before);
    const after = merge(before);
    const changes = diffFields(before, after);
    return Object.keys(changes).length === 0 ? before : write(context, { before, after, changes });
  });
}
