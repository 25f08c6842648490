import type * as z from 'zod';
import { csvLine } from './csv-format.ts';

/** How a resource stands in a CSV file: what is to be known of it without a database. */
export interface CsvColumns<Line extends object> {
  resource: 'assets' | 'projects';
  /** What one of them is called. */
  one: string;
  /** What a line must be. It names a user by an id or an e-mail address. */
  line: z.ZodType<Line>;
  /** The columns that a file may have, in the order of an export; those of custom fields come after them. */
  names: readonly (keyof Line & string)[];
  needed: readonly (keyof Line & string)[];
  /** The column whose value no two of them share. */
  unique: keyof Line & string;
  /** The column that names a user. */
  user: keyof Line & string;
  hasCustomFields: boolean;
  /** What the columns hold, by their names. */
  example: Readonly<Record<string, string>>;
}

const customFieldPrefix = 'customFields.';

/** The custom field that a column is of; undefined where it is of none. */
export function customFieldOf(column: string): string | undefined {
  return /^customFields\.(?!__proto__$)(.+)$/s.exec(column)?.[1];
}

/** The column of a custom field. */
export function columnOf(customField: string): string {
  return customFieldPrefix + customField;
}

/** A file to begin an import with, as CSV: the columns, and a line that shows what they hold. */
export function csvTemplate<Line extends object>({ names, hasCustomFields, example }: CsvColumns<Line>): string {
  const all = hasCustomFields ? [...names, `${customFieldPrefix}costCentre`] : names;
  return csvLine(all) + csvLine(all.map((name) => example[name]));
}

/** How many of them, in words. */
export function counted({ resource, one }: { resource: string; one: string }, count: number): string {
  return `${count} ${count === 1 ? one : resource}`;
}
