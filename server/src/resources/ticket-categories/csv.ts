import type { NewCategoryConfig } from '@itsm-api/contract';
import type { Importable } from '../csv/csv-import.ts';
import { categoryColumns } from './columns.ts';
import { checkTicketCategories, importTicketCategories } from './queries.ts';

/** The CSV import of ticket categories. */
export const categoryCsv: Importable<NewCategoryConfig, NewCategoryConfig> = {
  columns: categoryColumns,
  customFields: async () => [],
  inputOf: (line) => line,
  check: checkTicketCategories,
  write: importTicketCategories,
};
