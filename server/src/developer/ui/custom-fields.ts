import { isDeepStrictEqual } from 'node:util';
import { CustomFields } from '@itsm-api/contract';
import * as z from 'zod';
import {
  type FieldTypes,
  formatFieldText,
  parseFieldText,
  parseFieldTexts,
} from '../../resources/custom-fields/field-text.ts';
import { html, type SafeHtml } from './html.ts';

/*
 * Shows custom fields as editable lines of text in the format `name = value`. The format supports single-line strings,
 * and values that fit the type of their definition. Other values, such as multi-line strings and numbers without a
 * definition, can't be changed in forms, but API clients can change them.
 */

function isLine(types: FieldTypes, [name, value]: Entry): boolean {
  const text = formatFieldText(value);
  return (
    isDeepStrictEqual(parseFieldText(types.get(name), text), value) &&
    !/[=\r\n]/.test(name) &&
    !/[\r\n]/.test(text) &&
    name === name.trim() &&
    name !== '' &&
    text === text.trim()
  );
}

type Entry = [name: string, value: CustomFields[string]];

/** Formats the custom fields that users can edit, one per line, as `name = value`. */
export function toLines(types: FieldTypes, fields: CustomFields): string {
  return Object.entries(fields)
    .filter((field) => isLine(types, field))
    .map(([name, value]) => `${name} = ${formatFieldText(value)}`)
    .join('\n');
}

/**
 * Renders the names of the custom fields that users can't edit in the form. Returns null if all fields are editable.
 */
export function renderOtherFields(types: FieldTypes, fields: CustomFields): SafeHtml | null {
  const names = Object.entries(fields)
    .filter((field) => !isLine(types, field))
    .map(([name]) => name);
  if (names.length === 0) return null;
  return html`<p class="hint">Only the API can change these fields: ${names.join(', ')}.</p>`;
}

/** The schema that parses lines in the format `name = value` into custom fields. */
export const CustomFieldLines = z
  .string()
  .transform((text, { addIssue }): CustomFields => {
    const pairs: [string, string][] = [];
    for (const [index, line] of text.split(/\r\n?|\n/).entries()) {
      if (line.trim() === '') continue;
      // Without the flag `s`, `.` doesn't match line separators such as U+2028.
      const [, name = '', value = ''] = (/^([^=]+)=(.*)$/s.exec(line) ?? []).map((part) => part.trim());
      if (name === '' || name === '__proto__') {
        addIssue({
          code: 'custom',
          message: `must contain lines such as costCentre = CC-104. Line ${index + 1} is invalid.`,
        });
        return z.NEVER;
      }
      pairs.push([name, value]);
    }
    return Object.fromEntries(pairs);
  })
  .pipe(CustomFields);

/**
 * Returns a patch that contains the changed custom fields. If the user removed the line of a field, the patch sets the
 * field to null.
 */
export function toPatch(types: FieldTypes, before: CustomFields, lines: CustomFields): CustomFields {
  const given = parseFieldTexts(types, lines);
  const shown = Object.entries(before).filter((field) => isLine(types, field));
  const removed = shown.filter(([name]) => !Object.hasOwn(given, name)).map(([name]) => [name, null]);
  const changed = Object.entries(given).filter(([name, value]) => !isDeepStrictEqual(before[name], value));
  return Object.fromEntries([...removed, ...changed]);
}
