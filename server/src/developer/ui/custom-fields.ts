import { CustomFields } from '@itsm-api/contract';
import * as z from 'zod';
import { html, type SafeHtml } from './html.ts';

/*
 * Shows custom fields as lines of text, such as `name = value`, that users can edit. The format supports only
 * single-line strings. Forms don't change other values, such as numbers, lists and multi-line strings, but API clients
 * can.
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

/** Formats the custom fields that users can edit. Each field becomes a line, `name = value`. */
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

/** The schema that parses lines such as `name = value` to custom fields. */
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
 * Returns a patch that contains the changed custom fields. If the user removed a line, the value of its field is null.
 */
export function toPatch(before: CustomFields, lines: CustomFields): CustomFields {
  const shown = Object.entries(before).filter(isLine);
  const removed = shown.filter(([name]) => !Object.hasOwn(lines, name)).map(([name]) => [name, null]);
  const changed = Object.entries(lines).filter(([name, value]) => before[name] !== value);
  return Object.fromEntries([...removed, ...changed]);
}
