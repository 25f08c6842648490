import { Readable } from 'node:stream';
import { csvFormat, csvTemplate } from '../resources/csv-columns.ts';
import type { CsvResource } from '../resources/csv-import.ts';
import { batchesOf } from '../resources/export.ts';
import { type AnyPage, page } from './page.ts';
import type { UserVisit } from './visit.ts';

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
        const customFields = await csv.customFields(visit.context.db);
        return { file: { name, type, content: Readable.from(linesOf(visit, csv, customFields)) } };
      },
    }),
    page({
      path: `/developer/${resource}/template`,
      roles,
      show: async () => ({ file: { name, type, content: csvTemplate(csv.columns) } }),
    }),
  ];
}

async function* linesOf<Row extends { id: number }, Line extends object, New>(
  { context: { db }, inItsTurn }: UserVisit,
  { columns, rows }: CsvResource<Row, Line, New>,
  customFields: readonly string[],
): AsyncGenerator<string> {
  const { head, line } = csvFormat(columns, customFields);
  // Spreadsheets tell UTF-8 by its byte order mark.
  yield `\uFEFF${head}`;
  const batches = batchesOf(db, rows);
  // Whoever reads slowly has no connection meanwhile.
  for (let next = await inItsTurn(() => batches.next()); !next.done; next = await inItsTurn(() => batches.next())) {
    yield next.value.map(line).join('');
  }
}
