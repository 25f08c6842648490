import type { ErrorDetail } from '@itsm-api/contract';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { ApiError, takenBy } from '../../shared/errors.ts';
import { chunksOf } from '../shared/chunks.ts';
import { noSuchUser } from '../shared/foreign-keys.ts';
import type { CsvColumns } from './csv-columns.ts';

/** How an import writes its rows. */
export interface ImportOptions {
  /** Whether the import updates rows that exist. Otherwise, these rows are errors. */
  update: boolean;
  /** Called with the number of rows that are done. */
  onProgress?: (done: number) => void;
}

/** The values of a new row that are checked against the database. */
interface NewRow {
  /** The values that no other row may have, by field. */
  unique: Record<string, string | null | undefined>;
  userId: number | null | undefined;
}

/**
 * Checks that rows can be created. Their unique values must not be in use, and the users that they reference must be
 * active.
 * @param findTaken for each unique field, returns the values that are already in use
 * @throws ApiError VALIDATION_ERROR; the paths in the details begin with the row index, as in `0.assetTag`
 */
export async function checkNewRows<Line extends object>(
  db: TenantClient,
  { resource, one, user }: CsvColumns<Line>,
  rows: readonly NewRow[],
  findTaken: Record<string, (values: string[]) => Promise<string[]>>,
): Promise<void> {
  const fields = Object.entries(findTaken).map(([field, find]) => ({ field, find, taken: new Set<string>() }));
  const users = new Set<number>();
  for (const chunk of chunksOf(rows, 5000)) {
    const ids = [...new Set(chunk.flatMap(({ userId }) => userId ?? []))];
    for (const { field, find, taken } of fields) {
      const values = chunk.flatMap(({ unique }) => unique[field] ?? []);
      for (const value of await find(values)) taken.add(value);
    }
    const found = await db.user.findMany({ where: { id: { in: ids }, active: true }, select: { id: true } });
    for (const { id } of found) users.add(Number(id));
  }
  const details = rows.flatMap((row, index): ErrorDetail[] => [
    ...fields.flatMap(({ field, taken }) => {
      const value = row.unique[field];
      return value != null && taken.has(value) ? [{ path: `${index}.${field}`, message: takenBy(one, value) }] : [];
    }),
    ...(row.userId != null && !users.has(row.userId) ? [{ path: `${index}.${user}`, message: noSuchUser }] : []),
  ]);
  if (details.length === 0) return;
  throw new ApiError(
    'VALIDATION_ERROR',
    `No ${resource} were created, because the rows have ${details.length} ${details.length === 1 ? 'error' : 'errors'}. ` +
      'Correct the rows in `details`.',
    { details },
  );
}
