import { type CustomFieldDefinition, type CustomFieldType, hasOptions } from '../resources/custom-fields.ts';
import type { CategoryConfig } from '../resources/ticket-categories.ts';
import { componentNamed, mapSchema } from './schemas.ts';
import type { OpenApi, Operation, Parameter, Schema } from './types.ts';

/** The maximum number of active ticket categories that the document lists. */
export const maxListedCategories = 100;

/** The maximum number of bytes of the document with all texts. A larger document omits most texts (`shorten`). */
const maxCompleteBytes = 3_000_000;

/** The definition of a custom field, as far as the document describes it. */
export interface DescribedField
  extends Pick<
    CustomFieldDefinition,
    'resource' | 'key' | 'type' | 'label' | 'description' | 'required' | 'filterable' | 'active'
  > {
  /** Null if the type has no options, or the document doesn't list them because there are too many. */
  options: CustomFieldDefinition['options'];
  /** Whether every stored value has the JSON type of the field. */
  isUniform: boolean;
  /** Whether responses don't list the options. */
  isShort?: boolean;
}

/** The content of a workspace that its document describes. */
export interface DescribedWorkspace {
  fields: DescribedField[];
  /** Whether the server rejects fields without a definition. */
  isStrict: boolean;
  /** Whether a new ticket or asset needs the required fields. Imports don't need them. */
  isRequiring: boolean;
  /** Whether the workspace has ticket categories, including inactive ones. */
  hasCategories: boolean;
  /** The active ticket categories, or the first `maxListedCategories + 1` of them. */
  categories: Pick<CategoryConfig, 'id' | 'name'>[];
}

/** The OpenAPI document without the parts that depend on a workspace. */
export interface DocumentTemplate {
  /** The chunks that all workspaces share. */
  shared: readonly Uint8Array[];
  /** Returns the chunks of the document of a workspace. */
  complete(workspace: DescribedWorkspace): Uint8Array[];
}

const owners = [
  ['TICKET', 'Ticket'],
  ['ASSET', 'Asset'],
] as const;

const utf8 = new TextEncoder();

/** Marks the name of a part in the template. */
const mark = '\uE000';

/** A marked name, and the comma before it if the part consists of further items of a list. */
const markedName = /,?"\uE000(\w+)"/;

/**
 * Serializes the OpenAPI document once, and splits its text at the parts that depend on a workspace, so that a request
 * serializes and encodes only these parts (docs/decisions/api-documentation.md).
 */
export function splitDocument(document: OpenApi): DocumentTemplate {
  const { schemas } = document.components;
  const template = withFilters({ ...document, components: { ...document.components, schemas: templateOf(schemas) } });
  const texts = JSON.stringify(mapSchema(template, withoutExampleFields)).split(markedName);
  // Every second text is the name of a part.
  const names = texts.filter((_, index) => index % 2 === 1);
  const shared = texts.filter((_, index) => index % 2 === 0).map((text) => utf8.encode(text));
  const anyCategory = propertiesOf(schemas.NewTicket).categoryConfigId as Schema;
  const fill = (parts: Record<string, string>) =>
    shared.flatMap((chunk, index) => [chunk, utf8.encode(parts[names[index] ?? ''])]);
  return {
    shared,
    complete: (workspace) => {
      const chunks = fill(partsOf(workspace, anyCategory));
      const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
      return bytes <= maxCompleteBytes ? chunks : fill(partsOf(shorten(workspace), anyCategory));
    },
  };
}

/** Removes the texts of a workspace that don't affect generated types, except the labels of its fields. */
function shorten(workspace: DescribedWorkspace): DescribedWorkspace {
  const fields = workspace.fields.map((field) => ({
    ...field,
    description: null,
    options: field.options?.map((option) => ({ ...option, label: option.value })) ?? null,
    isShort: true,
  }));
  return { ...workspace, fields };
}

/** Replaces the parameter `customFields` of lists by marked names, because code generators need one parameter per field. */
function withFilters(template: OpenApi): OpenApi {
  const parameters = { ...template.components.parameters };
  const paths = { ...template.paths };
  for (const [, owner] of owners) {
    const filter = `${owner}CustomFieldsFilter`;
    const path = `/${owner.toLowerCase()}s`;
    const get = paths[path]?.get as Operation;
    const others = get.parameters?.filter((each) => !('$ref' in each && each.$ref.endsWith(`/${filter}`))) ?? [];
    paths[path] = { ...paths[path], get: { ...get, parameters: [...others, `${mark}filters${owner}` as never] } };
    delete parameters[filter];
  }
  return { ...template, paths, components: { ...template.components, parameters } };
}

/** Returns the schemas with references to the schemas of the workspace, whose contents are marked names. */
function templateOf(schemas: Record<string, Schema>): Record<string, Schema> {
  const template: Record<string, unknown> = { ...schemas, ActiveCategoryConfigId: `${mark}category` };
  for (const [, owner] of owners) {
    template[`New${owner}CustomFields`] = `${mark}created${owner}`;
    template[`${owner}CustomFieldsPatch`] = `${mark}changed${owner}`;
    template[`${owner}CustomFields`] = `${mark}stored${owner}`;
  }
  template.NullableAssetCustomFieldsPatch = {
    description: '`AssetCustomFieldsPatch`, or null.',
    anyOf: [referTo('AssetCustomFieldsPatch'), { type: 'null' }],
  };
  for (const [name, schema] of Object.entries(schemas)) {
    const { categoryConfigId, customFields } = propertiesOf(schema);
    // In events and activity, the changes of custom fields contain values of any time.
    if (customFields?.$ref === undefined) continue;
    const owner = name.includes('Asset') ? 'Asset' : 'Ticket';
    const general = componentNamed(String(customFields.$ref));
    const isNew = general === 'NullableCustomFields';
    const own = isNew ? `New${owner}CustomFields` : general.replace('CustomFields', `${owner}CustomFields`);
    template[name] = {
      ...schema,
      properties: {
        ...propertiesOf(schema),
        ...(categoryConfigId && name !== owner && { categoryConfigId: referTo('ActiveCategoryConfigId') }),
        customFields: referTo(own),
      },
      ...(isNew && { required: [...(schema.required as string[]), `${mark}required${owner}`] }),
    };
  }
  for (const unused of ['CustomFieldsPatch', 'NullableCustomFields', 'NullableCustomFieldsPatch'])
    delete template[unused];
  return template as Record<string, Schema>;
}

/** Returns the text of each part. */
function partsOf(workspace: DescribedWorkspace, anyCategory: Schema): Record<string, string> {
  const parts: Record<string, string> = { category: JSON.stringify(describeCategory(workspace, anyCategory)) };
  for (const [resource, owner] of owners) {
    const fields = withNames(workspace.fields.filter((field) => field.resource === resource));
    const required = fields.filter((field) => workspace.isRequiring && field.required && field.active);
    parts[`created${owner}`] = JSON.stringify(describeRequest(workspace, fields, required));
    parts[`changed${owner}`] = JSON.stringify({ ...describeRequest(workspace, fields), type: 'object' });
    parts[`stored${owner}`] = JSON.stringify(describeResponse(fields));
    parts[`required${owner}`] = required.length === 0 ? '' : ',"customFields"';
    const filters = fields.filter(({ filterable }) => filterable).map((field) => JSON.stringify(describeFilter(field)));
    parts[`filters${owner}`] = filters.map((filter) => `,${filter}`).join('');
  }
  return parts;
}

/** A field, and how code generators handle its key. */
interface NamedField extends DescribedField {
  /** Whether every object of JavaScript has a member with this name, such as `constructor`. */
  isInherited: boolean;
  /** Whether code generators give the types of the options of two fields the same name. */
  isAmbiguous: boolean;
}

/** Adds how code generators handle the keys. They ignore underscores and capitals, and append `Item` to lists. */
function withNames(fields: readonly DescribedField[]): NamedField[] {
  const typeName = ({ key }: DescribedField) =>
    key
      .replaceAll('_', '')
      .toLowerCase()
      .replace(/(?:item)+$/, '');
  const counts = new Map<string, number>();
  for (const field of fields) counts.set(typeName(field), (counts.get(typeName(field)) ?? 0) + 1);
  return fields.map((field) => ({
    ...field,
    isInherited: isInherited(field.key),
    isAmbiguous: counts.get(typeName(field)) !== 1,
  }));
}

const isInherited = (name: string): boolean => name in Object.prototype;

/** Returns the schema of the custom fields in a request. Null removes a field, unless it is required. */
function describeRequest(
  { isStrict }: DescribedWorkspace,
  fields: readonly NamedField[],
  required: readonly NamedField[] = [],
): Schema {
  const describe = (field: NamedField) => describeGiven(field, { isNullable: !required.includes(field) });
  const inherited = fields.filter((field) => field.isInherited);
  return {
    type: required.length === 0 ? ['object', 'null'] : 'object',
    propertyNames,
    properties: describeProperties(fields, describe),
    ...(required.length > 0 && { required: required.map(({ key }) => key) }),
    ...describeHidden({
      ...Object.fromEntries(inherited.map((field) => [`^${field.key}$`, describe(field)])),
      // Requests can remove every field.
      ...(isStrict && { [`^(?!(?:${fields.map(({ key }) => key).join('|')})$)`]: { type: 'null' } }),
    }),
    ...((!isStrict || inherited.length > 0) && { additionalProperties: anyValue }),
    description: `The custom fields of the workspace. ${isStrict ? 'The server rejects other fields.' : 'Other fields can have any value.'}`,
  };
}

/**
 * Returns the schemas of the properties. Omits the names that all objects of JavaScript have: some code generators fail,
 * and the types of others would require these properties in each request.
 */
function describeProperties(fields: readonly NamedField[], describe: (field: NamedField) => Schema): Schema {
  return Object.fromEntries(fields.filter((field) => !field.isInherited).map((field) => [field.key, describe(field)]));
}

/**
 * Returns keywords with schemas of properties, by pattern, that code generators ignore, because they ignore `if`. From
 * `patternProperties` alone, they would generate an index signature that contradicts the types of the properties.
 */
function describeHidden(patternProperties: Schema): Schema {
  if (Object.keys(patternProperties).length === 0) return {};
  return { if: { type: 'null' }, else: { patternProperties } };
}

/** Returns the schema of the custom fields in a response. It allows every stored value. */
function describeResponse(fields: readonly NamedField[]): Schema {
  return {
    type: 'object',
    properties: describeProperties(fields, describeStored),
    additionalProperties: anyValue,
    description: 'The custom fields of the resource, by name. Stored values can be older than the definitions.',
  };
}

const referTo = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
const anyValue = referTo('CustomFieldValue');
const propertyNames = { type: 'string', minLength: 1, maxLength: 255 };

/** The JSON type of each type of fields, and its limits in requests. */
const jsonTypes: Record<CustomFieldType, { type: string; limits?: Schema }> = {
  TEXT: { type: 'string', limits: { maxLength: 16_384 } },
  NUMBER: { type: 'number' },
  BOOLEAN: { type: 'boolean' },
  DATE: { type: 'string', limits: { format: 'date' } },
  SELECT: { type: 'string' },
  MULTI_SELECT: { type: 'array', limits: { uniqueItems: true } },
  USER: { type: 'integer', limits: { format: 'int64', minimum: 1 } },
};

/** Returns the schema of a field in a request. An inactive field accepts any value. */
function describeGiven(field: NamedField, { isNullable }: { isNullable: boolean }): Schema {
  const description = describeField(field);
  if (!field.active) return { ...anyValue, description };
  const { type, limits } = jsonTypes[field.type];
  const { isAmbiguous } = field;
  const options = field.options?.filter(({ active }) => active);
  if (field.type === 'SELECT') return { ...describeOption(options, { isNullable, isAmbiguous }), description };
  return {
    type: isNullable ? [type, 'null'] : type,
    ...limits,
    ...(field.type === 'MULTI_SELECT' && { items: describeOption(options, { isAmbiguous }) }),
    description,
  };
}

/** Returns the schema of a field in a response. */
function describeStored(field: DescribedField): Schema {
  const known = field.options && !field.isShort && { 'x-known-values': field.options.map(({ value }) => value) };
  const description = describeField(field);
  if (!field.isUniform) return { ...anyValue, ...known, description };
  const { type } = jsonTypes[field.type];
  const isList = type === 'array';
  return {
    type: [type, 'null'],
    ...(isList ? { items: { type: 'string', ...known } } : known),
    description,
  };
}

/** Returns the parameter of a list that filters by a field. Inactive options also match stored values. */
function describeFilter({ key, type, label, options, isAmbiguous }: NamedField): Parameter {
  const { type: jsonType, limits } = jsonTypes[type];
  const item = hasOptions(type) ? describeOption(options, { isAmbiguous }) : { type: jsonType, ...limits };
  return {
    ...{ name: `customFields[${key}]`, in: 'query', required: false, style: 'form', explode: true },
    description: `${toPlainMarkdown(label)}. Returns only items whose field has one of these values. Repeat the parameter, or separate the values with commas.`,
    schema: { type: 'array', minItems: 1, maxItems: 100, items: item },
  };
}

function describeField({ label, description, active }: DescribedField): string {
  return toPlainMarkdown(`${label}${description === null ? '' : `: ${description}`}${active ? '' : ' (inactive)'}`);
}

/** Returns the schema of `categoryConfigId` in requests. */
function describeCategory({ hasCategories, categories }: DescribedWorkspace, anyCategory: Schema): Schema {
  if (!hasCategories) return anyCategory;
  const description = 'The ticket category, or null if it has none. You can set only active categories.';
  if (categories.length > maxListedCategories) return { ...anyCategory, description };
  const listed = categories.map(({ id, name }) => ({ value: id, label: name }));
  return { ...describeOption(listed, { isNullable: true }), description };
}

/** Returns the schema of a text that is one of the options. Without a list of options, it can be any text. */
function describeOption(
  options: readonly { value: string; label: string }[] | null | undefined,
  { isNullable = false, isAmbiguous = false },
): Schema {
  const type = isNullable ? ['string', 'null'] : 'string';
  if (!options) return { type };
  const values = [...options.map(({ value }) => value), ...(isNullable ? [null] : [])];
  // Code generators name the type of an enum, but not of constants.
  if (isAmbiguous) return { anyOf: values.map((value) => (value === null ? { type: 'null' } : { const: value })) };
  const named = options.filter(({ value, label }) => label !== value);
  const descriptions = named.map(({ value, label }) => [value, toPlainMarkdown(label)]);
  // As names of an object, some values are references, such as `$ref`, or inherited members.
  const isDescribed = named.length > 0 && !options.some(({ value }) => value.startsWith('$') || isInherited(value));
  return { type, enum: values, ...(isDescribed && { 'x-enumDescriptions': Object.fromEntries(descriptions) }) };
}

/** The characters that have a meaning in CommonMark, in GitHub's extension of it, or in JSDoc where they are. */
const markup =
  /\\(?=[!-/:-@[-`{-~]|$)|[`*~@]|<(?=[a-z/!?])|&(?=#?\w+;)|\](?=\()|(?<!\w)_|_(?!\w)|(?<=\*)\/|:(?=\/\/)|(?<=www)\./gi;

/**
 * Converts a text to one line of CommonMark that shows the same text. The result also stays a part of a comment in
 * generated code: it can't end the comment, start a JSDoc tag or a directive of a compiler, or change the direction of
 * the code.
 */
function toPlainMarkdown(text: string): string {
  return text
    .replaceAll(/\p{Bidi_Control}/gu, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(markup, '\\$&')
    .replace(/^(?:[#+=>-]|\d+(?=[.)]))/, (start) => (/\d/.test(start) ? `${start}\\` : `\\${start}`));
}

function propertiesOf(schema: Schema | undefined): Record<string, Schema | undefined> {
  return (schema?.properties ?? {}) as Record<string, Schema | undefined>;
}

/** Removes the custom fields of examples, because the workspace can define them differently. */
function withoutExampleFields(object: Schema): Schema {
  const { customFields } = object;
  const isExample =
    typeof customFields === 'object' && customFields !== null && !('$ref' in customFields || 'type' in customFields);
  return isExample ? { ...object, customFields: {} } : object;
}
