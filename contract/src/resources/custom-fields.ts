import * as z from 'zod';
import { endpoints, filter, list, listQuery, meta } from '../endpoint.ts';
import { Count, responseText, trimmedText, versionFields } from '../fields.ts';

/** The maximum number of definitions of a resource, and of options of a definition. Both include inactive ones. */
export const [maxCustomFieldDefinitions, maxCustomFieldOptions] = [50, 200];

/** The maximum number of options of all definitions of a workspace, including inactive ones. */
export const maxWorkspaceOptions = 2000;

/** The maximum number of filterable fields of a resource, and of filters by a field in one request. */
export const [maxFilterableFields, maxFieldFilters] = [10, 3];

export const CustomFieldResource = z
  .enum(['TICKET', 'ASSET'])
  .meta({ id: 'CustomFieldResource', description: 'The resource whose custom fields a definition describes.' });
export type CustomFieldResource = z.output<typeof CustomFieldResource>;

export const CustomFieldType = z.enum(['TEXT', 'NUMBER', 'BOOLEAN', 'DATE', 'SELECT', 'MULTI_SELECT', 'USER']).meta({
  id: 'CustomFieldType',
  description:
    'The type of the values: a string, a number, a boolean, a date such as `2026-11-20`, the value of an option, ' +
    'an array of different values of options, or the id of a user.',
});
export type CustomFieldType = z.output<typeof CustomFieldType>;

/** Returns true if the values of a type come from a list of options. */
export function hasOptions(type: CustomFieldType): boolean {
  return type === 'SELECT' || type === 'MULTI_SELECT';
}

/** Returns true if lists can have a filter by fields of a type. */
export function canFilter(type: CustomFieldType): boolean {
  return hasOptions(type) || type === 'BOOLEAN' || type === 'USER';
}

export const CustomFieldKey = z
  .string()
  .regex(/^[a-z][A-Za-z0-9_]{0,62}$/, 'must start with a lower-case letter, and have at most 63 letters, digits and _')
  .meta({ description: 'The name of the custom field. It never changes.', example: 'site' });
const Label = trimmedText(1, 100).meta({ description: 'The name of the field for people.' });
const Description = trimmedText(1, 1000).meta({ description: 'What the field means, or null if not set.' });
const Required = z.boolean().meta({
  description: 'Whether a new ticket or asset must have a value. Imports and changes of existing ones need no value.',
});
const Filterable = z.boolean().meta({
  description:
    'Whether lists have the filter `customFields[key]`. Possible for `SELECT`, `MULTI_SELECT`, `BOOLEAN` and `USER`.',
});
const Active = z
  .boolean()
  .meta({ description: 'Whether the server checks values. It accepts any value of an inactive field.' });
const OptionValue = trimmedText(1, 100)
  .regex(/^[^,]*$/, 'must not contain a comma')
  .meta({ description: 'The value that a ticket or an asset stores. It never changes, and has no commas.' });
const OptionLabel = trimmedText(1, 100).meta({ description: 'The name of the value for people.' });

export const CustomFieldOption = z
  .object({
    value: OptionValue,
    label: OptionLabel,
    active: z.boolean().meta({ description: 'Whether requests can set the value. Stored values stay.' }),
  })
  .meta({ id: 'CustomFieldOption', description: 'A value that a custom field can have.' });
export type CustomFieldOption = z.output<typeof CustomFieldOption>;

export const CustomFieldDefinition = z
  .object({
    key: CustomFieldKey,
    resource: CustomFieldResource,
    type: CustomFieldType.meta({ description: 'The type of the values. It never changes.' }),
    label: responseText(Label),
    description: responseText(Description).nullable(),
    options: z.array(CustomFieldOption).nullable().meta({
      description: 'The values that the field can have. Null unless the type is `SELECT` or `MULTI_SELECT`.',
    }),
    required: Required,
    filterable: Filterable,
    active: Active,
    nonconforming: Count.meta({
      description:
        'The number of stored values that a request could no longer set. The server counts them every night.',
    }),
    ...versionFields,
  })
  .meta({
    id: 'CustomFieldDefinition',
    description: 'The type and the rules of a custom field of tickets or assets.',
    example: {
      key: 'site',
      resource: 'TICKET',
      type: 'SELECT',
      label: 'Site',
      description: 'Where the problem occurs.',
      options: [
        { value: 'Berlin', label: 'Berlin', active: true },
        { value: 'Leipzig', label: 'Leipzig', active: true },
        { value: 'home office', label: 'Home office', active: true },
      ],
      required: false,
      filterable: true,
      active: true,
      nonconforming: 0,
      createdAt: '2025-02-01T08:00:00.000Z',
      updatedAt: '2025-02-01T08:00:00.000Z',
      etag: '"1-m6lwkjk0"',
    },
  });
export type CustomFieldDefinition = z.output<typeof CustomFieldDefinition>;

const writtenFields = {
  label: Label,
  description: Description.nullish(),
  /** The active options. An update deactivates the options that it omits. */
  options: z
    .array(CustomFieldOption.omit({ active: true }).strict())
    .max(maxCustomFieldOptions)
    .optional(),
  required: Required.optional(),
  filterable: Filterable.optional(),
};

/** A new definition. */
export const NewCustomFieldDefinition = z.strictObject({
  resource: CustomFieldResource,
  key: CustomFieldKey,
  type: CustomFieldType,
  ...writtenFields,
});
export type NewCustomFieldDefinition = z.output<typeof NewCustomFieldDefinition>;

/** Changes to a definition. */
export const CustomFieldDefinitionPatch = z.strictObject({ ...writtenFields, active: Active }).partial();
export type CustomFieldDefinitionPatch = z.output<typeof CustomFieldDefinitionPatch>;

/**
 * Returns the schema of the list filter by custom fields, such as `customFields[site]=berlin,bonn`. The server checks
 * that the workspace has such filters (docs/decisions/custom-fields-design.md#filters).
 */
export function customFieldFilter() {
  const Values = filter(z.string().min(1).max(100)).unwrap();
  return z
    .record(z.string(), Values, 'must have the form customFields[key]=value')
    .refine((fields) => Object.keys(fields).length <= maxFieldFilters, {
      // Otherwise, an error about a value would hide this error.
      when: ({ value }) => typeof value === 'object',
      error: `must name at most ${maxFieldFilters} fields`,
    })
    .meta({
      description:
        'Returns only items whose custom field has one of these values: `customFields[site]=berlin,bonn`. ' +
        `The field must be filterable (\`GET /custom-fields\`). One request can filter by ${maxFieldFilters} fields.`,
    })
    .optional();
}

export const CustomFieldQuery = listQuery({ resource: filter(CustomFieldResource) });
export type CustomFieldQuery = z.output<typeof CustomFieldQuery>;

export const fields = endpoints({
  list: {
    method: 'GET',
    path: '/custom-fields',
    summary: 'List the definitions of custom fields',
    description:
      'Returns the definitions in the order of their resources and keys, including inactive ones. ' +
      'Every API key can list them. With `perPage=100`, the first page contains all definitions.',
    metadata: meta({ scope: 'any', group: 'users' }),
    query: CustomFieldQuery,
    responses: { 200: list(CustomFieldDefinition) },
  },
});
