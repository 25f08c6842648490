import type { CustomFieldDefinition } from '@itsm-api/contract';
import { listCustomFieldDefinitions } from '../resources/custom-fields/queries.ts';
import type { Context } from '../resources/shared/context.ts';
import { joinLines } from './tool-result.ts';

/** The maximum number of options in the text. An agent reads the whole text. */
const maxOptions = 500;

/** Returns the active definitions of custom fields as JSON, one line for each definition. */
export async function describeDefinitions(context: Pick<Context, 'db'>): Promise<string> {
  const { data } = await listCustomFieldDefinitions(context, { page: 1, perPage: 100, resource: undefined });
  const definitions = data.filter(({ active }) => active);
  const withOptions = definitions.filter(({ options }) => options !== null).length;
  const share = Math.floor(maxOptions / Math.max(1, withOptions));
  const lines = definitions.map((definition) => JSON.stringify(shorten(definition, share)));
  return lines.length === 0 ? 'No custom fields are defined. They can have any names and values.' : joinLines(lines);
}

/** Returns what an agent needs of a definition. @param share the maximum number of its options */
function shorten({ resource, key, type, label, description, required, options }: CustomFieldDefinition, share: number) {
  const active = options?.filter((option) => option.active);
  return {
    ...{ resource, key, type, label },
    ...(description !== null && { description: description.slice(0, 200) }),
    ...(required && { required }),
    // The labels help an agent to choose a value.
    ...(active && { options: Object.fromEntries(active.slice(0, share).map(({ value, label }) => [value, label])) }),
    ...(active && active.length > share && { omittedOptions: active.length - share }),
  };
}
