import { CustomFields } from '@itsm-api/contract';
import * as z from 'zod';
import { html, type SafeHtml } from './html.ts';

/*
 * Shows custom fields without a definition as editable lines of text in the format `name = value`. The format supports
 * only single-line strings. Other values, such as numbers, lists and multi-line strings, can't be changed in forms, but
 * API clients can change them.
 */

function isLine([name, value]: [string, unknown]): boolean {
  return (
    typeof value === 'string' &&
    !/[=\r\n]/.test(name) &&
    !/[\r\n]/.test(value) &&
    name === name.trim() &&
    name !== '' &&
    value === value.trim()
  );
}

/** Formats the custom fields that users can edit, one per line, as `name = value`. */
export function toLines(fields: CustomFields): string {
  return Object.entries(fields)
    .filter(isLine)
    .map(([name, value]) => `${name} = ${value}`)
    .join('\n');
}

/**
 * Renders the names of the custom fields that users can't edit in the form. Returns null if all fields are editable.
 */
export function renderOtherFields(fields: CustomFields): SafeHtml | null {
  const names = Object.entries(fields)
    .filter((field) => !isLine(field))
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
export function toPatch(before: CustomFields, lines: CustomFields): CustomFields {
  const shown = Object.entries(before).filter(isLine);
  const removed = shown.filter(([name]) => !Object.hasOwn(lines, name)).map(([name]) => [name, null]);
  const changed = Object.entries(lines).filter(([name, value]) => before[name] !== value);
  return Object.fromEntries([...removed, ...changed]);
}
