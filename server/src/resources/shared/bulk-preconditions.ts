import type { ErrorDetail } from '@itsm-api/contract';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { ApiError, takenBy } from '../../shared/errors.ts';
import type { CsvColumns } from '../csv/csv-columns.ts';
import { noSuchUser } from './foreign-keys.ts';

/** Called with how many of many rows are created so far. */
export type Progress = (created: number) => void;

/** What of a row to be created the database may stand against. */
interface NewRow {
  unique: string;
  userId: number | null | undefined;
}

/**
 * Looks whether many rows can be created: whether what must be unique is free, and who is named an active user.
 * @param findTaken which of some values others have
 * @throws ApiError VALIDATION_ERROR whose details name every row that can't be, by its index: `0.assetTag`
 */
export async function checkNewRows<Line extends object>(
  db: TenantClient,
  { resource, one, unique, user }: CsvColumns<Line>,
  rows: readonly NewRow[],
  findTaken: (values: string[]) => Promise<string[]>,
): Promise<void> {
  const taken = new Set<string>();
  const users = new Set<number>();
  for (const chunk of chunksOf(rows, 5000)) {
    const ids = [...new Set(chunk.flatMap(({ userId }) => userId ?? []))];
    for (const value of await findTaken(chunk.map((row) => row.unique))) taken.add(value);
    const found = await db.user.findMany({ where: { id: { in: ids }, active: true }, select: { id: true } });
    for (const { id } of found) users.add(Number(id));
  }
  const details = rows.flatMap((row, index): ErrorDetail[] => [
    ...(taken.has(row.unique) ? [{ path: `${index}.${unique}`, message: takenBy(one, row.unique) }] : []),
    ...(row.userId != null && !users.has(row.userId) ? [{ path: `${index}.${user}`, message: noSuchUser }] : []),
  ]);
  if (details.length === 0) return;
  throw new ApiError(
    'VALIDATION_ERROR',
    `${details.length} of the ${resource} can't be created. Correct the rows in \`details\`.`,
    { details },
  );
}

/** Some of the items at a time, in their order. */
export function* chunksOf<Item>(items: readonly Item[], size: number): Generator<Item[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
