import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { csvTemplate } from '../../../resources/csv/csv-columns.ts';
import { csvFile } from '../../../resources/csv/csv-export.ts';
import type { CsvResource } from '../../../resources/csv/csv-import.ts';
import type { Rows } from '../../../resources/sync/change-feed.ts';
import { batchesOf, type FileFormat } from '../../../resources/sync/export-batches.ts';
import { TenantLimitExceeded } from '../../../shared/tenant-limiter.ts';
import { type AnyPage, page } from '../../framework/page.ts';
import type { UserContext } from '../../framework/request-context.ts';

const roles = ['ADMIN'] as const;
const type = 'text/csv; charset=utf-8';

/** A resource as a file that an import takes: all its rows, and one to begin with. */
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
        // No part is made before it is asked for.
        const content = Readable.from(linesOf(visit, csv.rows, format), { highWaterMark: 0 });
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

async function* linesOf<Row extends { id: number }>(
  { context: { db }, user, inItsTurn, again }: UserContext,
  rows: Rows<Row>,
  { head, lines }: FileFormat,
): AsyncGenerator<string> {
  yield head;
  const batches = batchesOf(db, rows);
  // Whoever reads slowly has no connection meanwhile, and may be signed out before the end.
  const next = () =>
    inItsTurn(async () => {
      const now = await again();
      if (now?.account.role !== user.account.role)
        throw new Error('The session of this download has ended. Sign in and download the file again.');
      const { done, value } = await batches.next();
      return done ? undefined : lines(value);
    });
  for (let text = await patiently(next); text !== undefined; text = await patiently(next)) yield text;
}

/** Asks again while the workspace has too many requests under way: a file that is being sent can't be refused any more. */
async function patiently<Result>(ask: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof TenantLimitExceeded)) throw error;
      await sleep(1000);
    }
  }
}
