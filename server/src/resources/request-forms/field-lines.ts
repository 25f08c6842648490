import { isDeepStrictEqual } from 'node:util';
import type { RequestFormField } from '@itsm-api/contract';
import * as z from 'zod';
import { formatFieldText, parseJson } from '../custom-fields/field-text.ts';

/*
 * Parses and formats the fields of a form as text. The text has one line per field, such as `site; required; help=Where?`.
 * If the fields can't be written as lines, for example because a value contains a semicolon, the text is JSON.
 */

/** The schema of the fields as text: JSON, lines, or the values of a repeated option. A value in a line is text. */
export const FieldLines = z
  .union([z.array(z.string()), z.string().transform((text) => text.split(/\r\n?|\n/))])
  .transform((lines, { addIssue }): unknown => {
    const text = lines.join('\n').trim();
    if (!text.startsWith('[')) return lines.filter((line) => line.trim() !== '').map(parseLine);
    const parsed = parseJson(text);
    if (parsed === undefined) addIssue({ code: 'custom', message: 'must be valid JSON, or have one line per field' });
    return parsed;
  });

function parseLine(line: string): Record<string, unknown> {
  const [key, ...parts] = line.split(';').map((part) => part.trim());
  const pairs = parts.map((part): [string, unknown] => {
    const [name = '', ...value] = part.split('=');
    return value.length === 0 ? [name, true] : [name, value.join('=')];
  });
  return { key, ...Object.fromEntries(pairs) };
}

/** Formats the fields as text that `FieldLines` can parse. */
export function formatFields(fields: readonly RequestFormField[]): string {
  const text = fields.map(formatLine).join('\n');
  return isDeepStrictEqual(FieldLines.parse(text), fields.map(toTexts)) ? text : JSON.stringify(fields, null, 2);
}

function formatLine(field: RequestFormField): string {
  const { key, required, ...texts } = toTexts(field);
  const pairs = Object.entries(texts).map(([name, value]) => `${name}=${value}`);
  return [key, ...(required === undefined ? [] : ['required']), ...pairs].join('; ');
}

/** Returns what is set of a field, with values as text. */
function toTexts({ key, required, ...values }: RequestFormField) {
  const texts = Object.entries(values).flatMap(([name, value]) =>
    value === null ? [] : [[name, formatFieldText(value)]],
  );
  return { key, ...(required && { required }), ...Object.fromEntries(texts) };
}
