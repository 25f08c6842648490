import { CustomFields } from '@itsm-api/contract';
import * as z from 'zod';
import { html, type SafeHtml } from './html.ts';

/*
 * Custom fields as lines to be edited, `name = value`. Only those are that look the same as such a line: other values
 * (numbers, lists, longer texts) stay as they are, for the API to change.
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

/** The lines that a text field shows. */
export function linesOf(fields: CustomFields): string {
  return Object.entries(fields)
    .filter(isLine)
    .map(([name, value]) => `${name} = ${value}`)
    .join('\n');
}

/** What is said of those that can't be edited. */
export function othersOf(fields: CustomFields): SafeHtml | null {
  const names = Object.entries(fields)
    .filter((field) => !isLine(field))
    .map(([name]) => name);
  if (names.length === 0) return null;
  return html`<p class="hint">Only the API can change these fields: ${names.join(', ')}.</p>`;
}

/** The lines as they are sent. */
export const CustomFieldLines = z
  .string()
  .transform((text, { addIssue }): CustomFields => {
    const pairs: [string, string][] = [];
    for (const [index, line] of text.split(/\r\n?|\n/).entries()) {
      if (line.trim() === '') continue;
      // To `.` a line may end in more ways than in these.
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

/** What the lines change: those that differ, and null for those that are gone. */
export function patchOf(before: CustomFields, lines: CustomFields): CustomFields {
  const shown = Object.entries(before).filter(isLine);
  const gone = shown.filter(([name]) => !Object.hasOwn(lines, name)).map(([name]) => [name, null]);
  const given = Object.entries(lines).filter(([name, value]) => before[name] !== value);
  return Object.fromEntries([...gone, ...given]);
}
