import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { csvTemplate } from '../../../resources/csv/csv-columns.ts';
import { csvFile } from '../../../resources/csv/csv-export.ts';
import type { CsvResource } from '../../../resources/csv/csv-import.ts';
import type { Rows } from '../../../resources/sync/change-feed.ts';
import { batchesOf, type FileFormat } from '../../../resources/sync/export-batches.ts';
import { TenantLimitExceeded } from '../../../shared/limiters/tenant-limiter.ts';
import { type AnyPage, page } from '../../framework/page.ts';
import type { UserContext } from '../../framework/request-context.ts';

const roles = ['ADMIN'] as const;
const type = 'text/csv; charset=utf-8';

/**
 * Defines the download pages of a resource: an export of all rows, and a CSV template. The files have the same format
 * as import files.
 */
export function csvFiles<Row extends { id: number }, Line extends object, New>(
  csv: CsvResource<Row, Line, New>,
): AnyPage[] {
  const { resource } = csv.columns;
  const name = `${resource}.csv`;
  return [
    page({
      path: `/developer/${resource}/export`,
      roles,
      async show({ visit }) {
        const format = await csvFile(visit.context.db, csv);
        // Disables read-ahead, so that the stream queries the next batch only when the client is ready to read it.
        const content = Readable.from(streamLines(visit, csv.rows, format), { highWaterMark: 0 });
        return { file: { name, type, content } };
      },
    }),
    page({
      path: `/developer/${resource}/template`,
      roles,
      show: async () => ({ file: { name, type, content: csvTemplate(csv.columns) } }),
    }),
  ];
}

async function* streamLines<Row extends { id: number }>(
  { context: { db }, user, runLimited, reloadUser }: UserContext,
  rows: Rows<Row>,
  { head, lines }: FileFormat,
): AsyncGenerator<string> {
  yield head;
  const batches = batchesOf(db, rows);
  // Each batch counts separately toward the concurrency limit, so a slow client occupies no database connection between
  // batches. The session may end during the download, so it is checked again before each batch.
  const next = () =>
    runLimited(async () => {
      const now = await reloadUser();
      if (now?.account.role !== user.account.role)
        throw new Error('The session that started this download has ended. Sign in and download the file again.');
      const { done, value } = await batches.next();
      return done ? undefined : lines(value);
    });
  for (let text = await retryOverLimit(next); text !== undefined; text = await retryOverLimit(next)) yield text;
}

/**
 * If the workspace exceeds its concurrency limit, retries the query. The server has already sent the status code, so it
 * can't respond with 429.
 */
async function retryOverLimit<Result>(query: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await query();
    } catch (error) {
      if (!(error instanceof TenantLimitExceeded)) throw error;
      await sleep(1000);
    }
  }
}
