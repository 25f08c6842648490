import type * as z from 'zod';
import { csvLine } from './csv-format.ts';

/** The CSV format of a resource, independent of the database. */
export interface CsvColumns<Line extends object> {
  resource: 'assets' | 'projects' | 'categories';
  /** The singular name of the resource, such as `asset`. */
  one: 'asset' | 'project' | 'category';
  /** The schema of a CSV line. A line identifies the user, if it has one, by id or email address. */
  line: z.ZodType<Line>;
  /** The schema of a line that updates an existing row. Undefined if an import can't update rows. */
  changeLine?: z.ZodType<Line>;
  /** The columns of a CSV file, in the order that an export uses. Custom fields follow these columns. */
  names: readonly (keyof Line & string)[];
  needed: readonly (keyof Line & string)[];
  /** The column whose value must be unique in each row. */
  unique: keyof Line & string;
  /** Another column whose value must be unique, unless it is empty. */
  uniqueIfSet?: keyof Line & string;
  /** The column that identifies a user. Undefined if no column does. */
  user?: keyof Line & string;
  hasCustomFields: boolean;
  /** The columns that the developer area shows before an import, by title. Undefined if it has no import. */
  preview?: Readonly<Record<string, keyof Line & string>>;
  /** Example values for the import template, by column. */
  example: Readonly<Record<string, string>>;
}

const customFieldPrefix = 'customFields.';

/** Returns the name of the custom field in a CSV column. Returns undefined if the column isn't a custom field. */
export function parseCustomField(column: string): string | undefined {
  return /^customFields\.(?!__proto__$)(.+)$/s.exec(column)?.[1];
}

/** Returns the column name for a custom field. */
export function toCustomFieldColumn(customField: string): string {
  return customFieldPrefix + customField;
}

/** Creates an import template: a CSV file with a header and an example line. */
export function csvTemplate<Line extends object>({ names, hasCustomFields, example }: CsvColumns<Line>): string {
  const all = hasCustomFields ? [...names, `${customFieldPrefix}costCentre`] : names;
  return csvLine(all) + csvLine(all.map((name) => example[name]));
}

/** Formats a count with the name of the resource, such as "1 asset" or "2 assets". */
export function counted({ resource, one }: { resource: string; one: string }, count: number): string {
  return `${count} ${count === 1 ? one : resource}`;
}

/** The numbers of rows that an import creates, updates and leaves unchanged. */
export interface ImportResults {
  created: number;
  updated: number;
  unchanged: number;
}

/** Describes how many values of custom fields get another type. Returns an empty text if none does. */
export function formatTypeChanges(count: number | undefined): string {
  if (!count) return '';
  return count === 1
    ? ' One custom field gets a value of another type.'
    : ` ${count} custom fields get values of other types.`;
}

/** Formats the results of an import that can update rows, such as "3 new, 1 changed, 2 unchanged". */
export function formatResults({ created, updated, unchanged }: ImportResults): string {
  return `${created} new, ${updated} changed, ${unchanged} unchanged`;
}
