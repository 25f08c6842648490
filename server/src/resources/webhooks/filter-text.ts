import { isDeepStrictEqual } from 'node:util';
import type { WebhookFilter } from '@itsm-api/contract';
import * as z from 'zod';

/*
 * A filter as people write it: `priority=HIGH,CRITICAL` for each field, or JSON where a value has a comma.
 */

/** `FIELD=VALUE,VALUE`, any number of times. */
export const FilterPairs = z
  .array(z.string().regex(/^(?!__proto__=)[^=]+=./, 'must have the form FIELD=VALUE,VALUE'))
  .transform((pairs, { addIssue }): WebhookFilter => {
    const fields = pairs.map(fieldOf);
    const repeated = fields.find(([name], index) => fields.findIndex(([other]) => other === name) < index);
    if (repeated === undefined) return Object.fromEntries(fields);
    addIssue({
      code: 'custom',
      message: `contains ${repeated[0]} twice. List all its values once, separated by commas.`,
    });
    return z.NEVER;
  });

const Json = z.string().transform((text, { addIssue }): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    addIssue({ code: 'custom', message: 'must be valid JSON, or one line such as FIELD=VALUE,VALUE for each field' });
    return z.NEVER;
  }
});

/** A pair on each line, or JSON; null for nothing. What it names is for the contract to check. */
export const FilterText = z.string().transform((text, { addIssue }): unknown => {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  const { data, error } = trimmed.startsWith('{') ? Json.safeParse(trimmed) : FilterPairs.safeParse(linesOf(trimmed));
  for (const { message } of error?.issues ?? []) addIssue({ code: 'custom', message });
  return data;
});

/** A filter as `FilterText` reads it. */
export function filterText(filter: WebhookFilter | null): string {
  if (filter === null) return '';
  const pairs = Object.entries(filter).map(([field, values]) => `${field}=${values.join(',')}`);
  const isSame = isDeepStrictEqual(FilterText.safeParse(pairs.join('\n')).data, filter);
  return isSame ? pairs.join('\n') : JSON.stringify(filter, null, 2);
}

function linesOf(text: string): string[] {
  return text.split(/\r?\n/).flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
}

function fieldOf(pair: string): [string, WebhookFilter[string]] {
  const [field = '', ...values] = pair.split('=');
  return [field, values.join('=').split(',').map(valueFrom)];
}

/** A value as JSON would have it, where it is no text. */
function valueFrom(text: string): WebhookFilter[string][number] {
  return /^(-?(0|[1-9]\d{0,14})|true|false|null)$/.test(text) ? JSON.parse(text) : text;
}
