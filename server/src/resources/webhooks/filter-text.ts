import { isDeepStrictEqual } from 'node:util';
import type { WebhookFilter } from '@itsm-api/contract';
import * as z from 'zod';

/*
 * Parses and formats webhook filters as text. The text has one pair per field, such as `priority=HIGH,CRITICAL`. If a
 * value can't be written as a pair, for example because it contains a comma, the filter is formatted as JSON.
 */

/** The schema for a webhook filter as `FIELD=VALUE,VALUE` pairs. It rejects repeated fields. */
export const FilterPairs = z
  .array(z.string().regex(/^(?!__proto__=)[^=]+=./, 'must have the form FIELD=VALUE,VALUE'))
  .transform((pairs, { addIssue }): WebhookFilter => {
    const fields = pairs.map(parsePair);
    const repeated = fields.find(([name], index) => fields.findIndex(([other]) => other === name) < index);
    if (repeated === undefined) return Object.fromEntries(fields);
    addIssue({
      code: 'custom',
      message: `contains ${repeated[0]} twice. Write ${repeated[0]} once, with all its values separated by commas.`,
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

/**
 * The schema for a webhook filter as text. The text is JSON or has one `FIELD=VALUE,VALUE` pair per line. The schema
 * converts empty text to null. The contract validates the fields and values, so this schema doesn't.
 */
export const FilterText = z.string().transform((text, { addIssue }): unknown => {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  const { data, error } = trimmed.startsWith('{')
    ? Json.safeParse(trimmed)
    : FilterPairs.safeParse(trimmed.split('\n').flatMap((line) => line.trim() || []));
  for (const { message } of error?.issues ?? []) addIssue({ code: 'custom', message });
  return data;
});

/** Formats a webhook filter as text that `FilterText` can parse. */
export function filterText(filter: WebhookFilter | null): string {
  if (filter === null) return '';
  const pairs = Object.entries(filter).map(([field, values]) => `${field}=${values.map(String).join(',')}`);
  const isSame = isDeepStrictEqual(FilterText.safeParse(pairs.join('\n')).data, filter);
  return isSame ? pairs.join('\n') : JSON.stringify(filter, null, 2);
}

function parsePair(pair: string): [string, WebhookFilter[string]] {
  const [field = '', ...values] = pair.split('=');
  return [field, values.join('=').split(',').map(parseValue)];
}

/** Parses one filter value. Converts numbers, booleans and null. Any other text remains a string. */
function parseValue(text: string): WebhookFilter[string][number] {
  return /^(-?(0|[1-9]\d{0,14})|true|false|null)$/.test(text) ? JSON.parse(text) : text;
}
