import type { CustomFieldDefinition, CustomFieldResource, CustomFields } from '@itsm-api/contract';
import { listCustomFieldDefinitions } from '../../resources/custom-fields/queries.ts';
import type { UserContext } from '../framework/request-context.ts';
import { factList, type SafeHtml, section } from './html.ts';

type Value = CustomFields[string];

/**
 * Renders the section with all custom fields of a resource: the labels and options of defined fields, and the names of
 * the others. Returns null if the resource has no custom fields.
 * @param maxLength the number of UTF-16 code units after which a value is cut
 */
export async function customFieldList(
  { context }: UserContext,
  resource: CustomFieldResource,
  fields: CustomFields,
  maxLength: number,
): Promise<SafeHtml | null> {
  if (Object.keys(fields).length === 0) return null;
  const { data } = await listCustomFieldDefinitions(context, { page: 1, perPage: 100, resource: [resource] });
  const definitions = new Map(data.map((definition) => [definition.key, definition]));
  const lines = Object.entries(fields).map(([name, value]): [string, string] => {
    const definition = definitions.get(name);
    const text = formatValue(value, definition);
    const shown = text.length > maxLength ? `${text.slice(0, maxLength).toWellFormed()}…` : text;
    return [definition?.label ?? name, shown];
  });
  return section('Custom fields', factList(lines));
}

function formatValue(value: Value, definition: CustomFieldDefinition | undefined): string {
  if (Array.isArray(value)) return value.map((item) => formatValue(item, definition)).join(', ');
  if (definition?.type === 'BOOLEAN' && typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (typeof value !== 'string') return JSON.stringify(value);
  return definition?.options?.find((option) => option.value === value)?.label ?? value;
}
