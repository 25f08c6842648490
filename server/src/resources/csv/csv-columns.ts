import type * as z from 'zod';
import { csvLine } from './csv-format.ts';

/** The CSV format of a resource. It doesn't depend on the database. */
export interface CsvColumns<Line extends object> {
  resource: 'assets' | 'projects';
  /** The singular name of the resource, such as `asset`. */
  one: string;
  /** The schema of a line. A line identifies a user by id or email address. */
  line: z.ZodType<Line>;
  /** The columns of a CSV file, in the order of an export. The columns of custom fields come after these columns. */
  names: readonly (keyof Line & string)[];
  needed: readonly (keyof Line & string)[];
  /** The column whose value must be unique. */
  unique: keyof Line & string;
  /** The column that identifies a user. */
  user: keyof Line & string;
  hasCustomFields: boolean;
  /** Example values for the import template, by column. */
  example: Readonly<Record<string, string>>;
}

const customFieldPrefix = 'customFields.';

/** Returns the custom field of a column by the column's name, or undefined for any other column. */
export function parseCustomField(column: string): string | undefined {
  return /^customFields\.(?!__proto__$)(.+)$/s.exec(column)?.[1];
}

/** Returns the column name of a custom field. */
export function toCustomFieldColumn(customField: string): string {
  return customFieldPrefix + customField;
}

/** Creates an import template as CSV: the header and an example line. */
export function csvTemplate<Line extends object>({ names, hasCustomFields, example }: CsvColumns<Line>): string {
  const all = hasCustomFields ? [...names, `${customFieldPrefix}costCentre`] : names;
  return csvLine(all) + csvLine(all.map((name) => example[name]));
}

/** Formats a number of rows with the name of the resource, such as "1 asset" or "2 assets". */
export function counted({ resource, one }: { resource: string; one: string }, count: number): string {
  return `${count} ${count === 1 ? one : resource}`;
}
