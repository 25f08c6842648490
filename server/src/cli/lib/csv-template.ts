import { type CsvColumns, csvTemplate } from '../../resources/csv/csv-columns.ts';
import type { Action } from './command.ts';

/** Creates the action that prints a CSV template for imports. */
export function csvTemplateAction<Line extends object>(columns: CsvColumns<Line>): Action {
  return async () => {
    process.stdout.write(csvTemplate(columns));
  };
}
