import type { CustomFieldDefinition, CustomFieldValue, ItsmClient } from '@itsm-api/client';
import type { Settings } from './settings.ts';

/** Returns the active definitions of the custom fields of tickets. @throws ItsmError */
export async function findDefinitions(
  client: ItsmClient,
  options: { signal?: AbortSignal } = {},
): Promise<CustomFieldDefinition[]> {
  // A workspace has at most 50 definitions for tickets, so one page contains all of them.
  const { data } = await client.fields.list({ resource: 'TICKET', perPage: 100 }, options);
  return data.filter(({ active }) => active);
}

/** Returns the keys of the required custom fields for which a label or the settings may have no value. */
export function findUnfilled(definitions: CustomFieldDefinition[], { customFields }: Settings): string[] {
  return definitions.flatMap(({ key, required }) => (required && customFields[key]?.({}) === undefined ? [key] : []));
}

/** Describes a required custom field that the settings may not fill. */
export function describeUnfilled(key: string): string {
  return `New tickets require the custom field "${key}". Give it a default in customFields, or the service can reject tickets.`;
}

/** Converts the value of a label or a setting to the type of a custom field. If it can't, returns the value unchanged. */
export function toFieldValue(type: string | undefined, value: string | number | boolean): CustomFieldValue {
  const text = String(value).trim();
  if (type === 'TEXT' || type === 'SELECT') return text;
  if (type === 'NUMBER' || type === 'USER') return text !== '' && Number.isFinite(Number(text)) ? Number(text) : value;
  if (type === 'BOOLEAN') return /^(true|false)$/i.test(text) ? text.toLowerCase() === 'true' : value;
  // A time contains the date.
  if (type === 'DATE') return /^\d{4}-\d{2}-\d{2}(?=[T ]|$)/.exec(text)?.[0] ?? value;
  if (type === 'MULTI_SELECT') return [...new Set(text.split(',').flatMap((part) => part.trim() || []))];
  return value;
}
