import type * as z from 'zod';
import { csvLine } from './csv-format.ts';

/** Describes the CSV format of a resource, without access to a database. */
export interface CsvColumns<Line extends object> {
  resource: 'assets' | 'projects';
  /** The singular name of the resource. */
  one: string;
  /** The schema of a line, which identifies a user by id or email address. */
  line: z.ZodType<Line>;
  /** The columns of a file, in the order of an export. Custom fields follow them. */
  names: readonly (keyof Line & string)[];
  needed: readonly (keyof Line & string)[];
  /** The column whose value must be unique. */
  unique: keyof Line & string;
  /** The column that contains a user. */
  user: keyof Line & string;
  hasCustomFields: boolean;
  /** Example values by column. */
  example: Readonly<Record<string, string>>;
}

const customFieldPrefix = 'customFields.';

/** Returns the custom field of a column, or undefined if the column is not a custom field. */
export function parseCustomField(column: string): string | undefined {
  return /^customFields\.(?!__proto__$)(.+)$/s.exec(column)?.[1];
}

/** Returns the column of a custom field. */
export function toCustomFieldColumn(customField: string): string {
  return customFieldPrefix + customField;
}

/** Creates an import template as CSV: the header and an example line. */
export function csvTemplate<Line extends object>({ names, hasCustomFields, example }: CsvColumns<Line>): string {
  const all = hasCustomFields ? [...names, `${customFieldPrefix}costCentre`] : names;
  return csvLine(all) + csvLine(all.map((name) => example[name]));
}

/** Formats a number of rows, such as "1 asset" or "2 assets". */
export function counted({ resource, one }: { resource: string; one: string }, count: number): string {
  return `${count} ${count === 1 ? one : resource}`;
}
