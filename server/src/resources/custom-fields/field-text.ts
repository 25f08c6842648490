import type { CustomFieldDefinition, CustomFieldResource, CustomFields, CustomFieldType } from '@itsm-api/contract';
import * as z from 'zod';
import type { Context } from '../shared/context.ts';

/* Reads custom fields and options that people write as text: in CSV files, in forms and on the command line. */

type Value = CustomFields[string];

/** The types of definitions, by key. */
export type FieldTypes = ReadonlyMap<string, CustomFieldType>;

/** Returns the types of the definitions of a resource, or only of the active ones. */
export async function findFieldTypes(
  context: Context,
  where: { resource: CustomFieldResource; active?: true },
): Promise<FieldTypes> {
  const definitions = await context.db.customFieldDefinition.findMany({ where, select: { key: true, type: true } });
  return new Map(definitions.map(({ key, type }) => [key, type]));
}

/**
 * Converts text to a value of a type. Returns the text if the field has no definition. If the text doesn't fit the type,
 * returns it unchanged, so that validation rejects it.
 */
export function parseFieldText(type: CustomFieldType | undefined, text: string): Value {
  if (type === 'NUMBER' || type === 'USER') return /^-?\d+(\.\d+)?(e-\d)?$/.test(text) ? Number(text) : text;
  // Spreadsheet programs write booleans in capitals.
  if (type === 'BOOLEAN') return /^(true|false)$/i.test(text) ? text.toLowerCase() === 'true' : text;
  return type === 'MULTI_SELECT' ? parseList(text) : text;
}

/** Converts the texts of several fields. A value that isn't text stays the same. */
export function parseFieldTexts(types: FieldTypes, texts: CustomFields): CustomFields {
  const parse = ([key, value]: [string, Value]): [string, Value] => {
    return [key, typeof value === 'string' ? parseFieldText(types.get(key), value) : value];
  };
  return Object.fromEntries(Object.entries(texts).map(parse));
}

/** Converts a value to text for a form. `parseFieldText` converts it back, if the value fits its type. */
export function formatFieldText(value: Value): string {
  return Array.isArray(value) ? value.join(', ') : String(value);
}

/** Parses a JSON array, as in a CSV export, or values that are separated by commas. */
function parseList(text: string): Value {
  const parsed = parseJson(text);
  return Array.isArray(parsed) ? parsed : text.split(',').flatMap((part) => part.trim() || []);
}

/** Parses JSON. Returns undefined if the text isn't JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The schema of an option as text: its value, or its value and its label as in `berlin = Berlin`. */
export const OptionText = z.string().transform((text) => {
  const [value = '', ...label] = text.split('=');
  return { value, label: label.length === 0 ? value : label.join('=') };
});

/** Formats the active options of a definition, one per line. */
export function formatOptions(options: CustomFieldDefinition['options']): string {
  return (options ?? []).flatMap(({ value, label, active }) => (active ? `${value} = ${label}` : [])).join('\n');
}
