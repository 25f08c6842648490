import { type CsvColumns, csvTemplate } from '../../resources/csv/csv-columns.ts';
import type { Action } from './command.ts';

/** Prints a CSV file to begin an import with, whatever the database is. */
export function csvTemplateAction<Line extends object>(columns: CsvColumns<Line>): Action {
  return async () => {
    process.stdout.write(csvTemplate(columns));
  };
}
