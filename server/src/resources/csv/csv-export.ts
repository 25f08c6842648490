import type { TenantClient } from '../../database/client/tenant-client.ts';
import type { FileFormat } from '../sync/export-batches.ts';
import { findEmails } from '../users/queries.ts';
import { toCustomFieldColumn } from './csv-columns.ts';
import { csvLine } from './csv-format.ts';
import type { CsvResource } from './csv-import.ts';

/** The parts of a CSV resource that an export needs. */
export interface CsvExport extends Pick<CsvResource<never, never, never>, 'customFields'> {
  columns: { names: readonly string[]; user: string };
}

interface CsvRow extends Record<string, unknown> {
  customFields?: Record<string, unknown>;
}

/** The byte order mark. Spreadsheet programs use it to recognize UTF-8. */
const byteOrderMark = '\uFEFF';

/**
 * Creates the CSV format for an export. Exports and imports have the same columns. An export identifies users by email
 * address, because ids differ between workspaces.
 */
export async function csvFile(db: TenantClient, { columns, customFields }: CsvExport): Promise<FileFormat> {
  const { names, user } = columns;
  const fields = await customFields(db);
  return {
    head: byteOrderMark + csvLine([...names, ...fields.map(toCustomFieldColumn)]),
    async lines(batch) {
      const rows = batch as readonly CsvRow[];
      const getUserId = (row: CsvRow) => (row[user] ?? null) as number | null;
      const emails = await findEmails({ db }, rows.map(getUserId));
      const toCell = (row: CsvRow, name: string) => (name === user ? emails.get(getUserId(row) ?? 0) : row[name]);
      return rows
        .map((row) =>
          csvLine([...names.map((name) => toCell(row, name)), ...fields.map((field) => row.customFields?.[field])]),
        )
        .join('');
    },
  };
}
