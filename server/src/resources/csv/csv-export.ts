import type { TenantClient } from '../../database/client/tenant-client.ts';
import type { FileFormat } from '../sync/export-batches.ts';
import { findUsersById } from '../users/queries.ts';
import { parseCustomField, toCustomFieldColumn } from './csv-columns.ts';
import { csvLine } from './csv-format.ts';

/** The parts of a CSV resource that an export needs. */
export interface CsvExport {
  /** Returns the names of all custom fields in the tenant's rows. */
  customFields(db: TenantClient): Promise<string[]>;
  columns: { names: readonly string[]; user?: string };
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
  const all = [...columns.names, ...(await customFields(db)).map(toCustomFieldColumn)];
  return {
    head: byteOrderMark + csvLine(all),
    async lines(batch) {
      const rows = await toCsvRows(db, columns, batch);
      return rows.map((valueIn) => csvLine(all.map(valueIn))).join('');
    },
  };
}

/** Returns the value in a column of a row. */
export type ColumnValues = (column: string) => unknown;

/** Converts rows to functions that return the values in an export, in the given order. */
export async function toCsvRows(
  db: TenantClient,
  { user }: { user?: string },
  rows: readonly object[],
): Promise<ColumnValues[]> {
  const userIdOf = (row: CsvRow) => (user === undefined ? null : (row[user] ?? null)) as number | null;
  const given = rows as readonly CsvRow[];
  const users = await findUsersById({ db }, given.map(userIdOf));
  const emails = new Map(users.map(({ id, email }) => [id, email]));
  return given.map((row) => (column) => {
    if (column === user) return emails.get(userIdOf(row) ?? 0);
    const field = parseCustomField(column);
    if (field !== undefined) return row.customFields?.[field];
    const value = row[column];
    return Array.isArray(value) ? value.join(',') : value;
  });
}
