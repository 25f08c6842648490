import type { TenantClient } from '../../database/client/tenant-client.ts';
import type { FileFormat } from '../sync/export-batches.ts';
import { emailsOf } from '../users/queries.ts';
import { columnOf } from './csv-columns.ts';
import { csvLine } from './csv-format.ts';
import type { CsvResource } from './csv-import.ts';

/** What of a resource's CSV its export needs. */
export interface CsvExport extends Pick<CsvResource<never, never, never>, 'customFields'> {
  columns: { names: readonly string[]; user: string };
}

interface CsvRow extends Record<string, unknown> {
  customFields?: Record<string, unknown>;
}

/** Spreadsheets tell UTF-8 by it. */
const byteOrderMark = '\uFEFF';

/**
 * Rows in the columns that an import takes: what was exported can be imported elsewhere. A user is named by the e-mail address,
 * since an id is somebody else's there.
 */
export async function csvFile(db: TenantClient, { columns, customFields }: CsvExport): Promise<FileFormat> {
  const { names, user } = columns;
  const fields = await customFields(db);
  return {
    head: byteOrderMark + csvLine([...names, ...fields.map(columnOf)]),
    async lines(batch) {
      const rows = batch as readonly CsvRow[];
      const idOf = (row: CsvRow) => (row[user] ?? null) as number | null;
      const emails = await emailsOf({ db }, rows.map(idOf));
      const cellOf = (row: CsvRow, name: string) => (name === user ? emails.get(idOf(row) ?? 0) : row[name]);
      return rows
        .map((row) =>
          csvLine([...names.map((name) => cellOf(row, name)), ...fields.map((field) => row.customFields?.[field])]),
        )
        .join('');
    },
  };
}
