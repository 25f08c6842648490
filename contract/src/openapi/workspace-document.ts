import { jsonTypes } from '../answers.ts';
import { hasOptions } from '../resources/custom-fields.ts';
import type { CategoryConfig } from '../resources/ticket-categories.ts';
import {
  anyValue,
  type DescribedField,
  describeField,
  describeGiven,
  describeHidden,
  describeOption,
  describeProperties,
  type NamedField,
  propertyNames,
  referTo,
  toPlainMarkdown,
  withNames,
} from './described-fields.ts';
import { type DescribedForm, describeForms, type FormTemplate, withoutForms } from './form-operations.ts';
import { componentNamed, mapSchema } from './schemas.ts';
import type { OpenApi, Operation, Parameter, Schema } from './types.ts';

/** The maximum number of active ticket categories that the document lists. */
export const maxListedCategories = 100;

/** The maximum number of bytes of the document with all texts. A larger document omits most texts (`shorten`). */
const maxCompleteBytes = 3_000_000;

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
  /** The active request forms. */
  forms: DescribedForm[];
  /** Whether the schemas share lists of options. */
  isShort?: boolean;
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

/** A marked name, and the comma before it if the part consists of further items of a list or of an object. */
const markedName = /,?"\uE000(\w+)"(?::0)?/;

/**
 * Serializes the OpenAPI document once, and splits its text at the parts that depend on a workspace, so that a request
 * serializes and encodes only these parts (docs/decisions/api-documentation.md).
 */
export function splitDocument(document: OpenApi): DocumentTemplate {
  const ofForms = withoutForms(document);
  const { paths, components } = ofForms.document;
  const { schemas, responses } = components;
  const template = withFilters({
    ...document,
    paths: withPart(paths, 'formPaths'),
    components: {
      ...components,
      schemas: withPart(templateOf(schemas), 'formSchemas'),
      responses: withPart(responses, 'formResponses'),
    },
  });
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
      const complete = (workspace: DescribedWorkspace) => fill(partsOf(workspace, anyCategory, ofForms));
      // The document is larger than its texts.
      if (utf8.encode(JSON.stringify([workspace.fields, workspace.forms])).length > maxCompleteBytes)
        return complete(shorten(workspace));
      const chunks = complete(workspace);
      const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
      return bytes <= maxCompleteBytes ? chunks : complete(shorten(workspace));
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
  const forms = workspace.forms.map((form) => ({
    ...{ ...form, isShort: true },
    questions: form.questions.map((question) => ({ ...question, help: null, default: null })),
  }));
  return { ...workspace, fields, forms, isShort: true };
}

/** Adds a marked name as the last entry of an object, which the entries of the part replace. */
function withPart<Value>(object: Record<string, Value>, name: string): Record<string, Value> {
  return { ...object, [mark + name]: 0 as never };
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
function partsOf(workspace: DescribedWorkspace, anyCategory: Schema, ofForms: FormTemplate): Record<string, string> {
  const shared = new Map<string, [name: string, schema: Schema]>();
  const print = (schema: unknown) => JSON.stringify(workspace.isShort ? shareOptions(schema, shared) : schema);
  const parts: Record<string, string> = { category: print(describeCategory(workspace, anyCategory)) };
  for (const [resource, owner] of owners) {
    const fields = withNames(workspace.fields.filter((field) => field.resource === resource));
    const required = fields.filter((field) => workspace.isRequiring && field.required && field.active);
    parts[`created${owner}`] = print(describeRequest(workspace, fields, required));
    parts[`changed${owner}`] = print({ ...describeRequest(workspace, fields), type: 'object' });
    parts[`stored${owner}`] = JSON.stringify(describeResponse(fields));
    parts[`required${owner}`] = required.length === 0 ? '' : ',"customFields"';
    const filters = fields.filter(({ filterable }) => filterable).map((field) => print(describeFilter(field)));
    parts[`filters${owner}`] = filters.map((filter) => `,${filter}`).join('');
  }
  const ofTickets = withNames(workspace.fields.filter(({ resource }) => resource === 'TICKET'));
  const { paths, schemas, responses } = describeForms(workspace.forms, ofTickets, ofForms);
  parts.formPaths = toEntries(print(paths));
  parts.formResponses = toEntries(print(responses));
  parts.formSchemas = toEntries(print(schemas)) + toEntries(JSON.stringify(Object.fromEntries(shared.values())));
  return parts;
}

/** Returns the further entries of an object. @param json the object that contains them */
function toEntries(json: string): string {
  return json === '{}' ? '' : `,${json.slice(1, -1)}`;
}

/** Moves lists of options, which several schemas repeat, to named schemas. @param shared the named schemas, by JSON */
function shareOptions(schema: unknown, shared: Map<string, [name: string, schema: Schema]>): unknown {
  return mapSchema(schema, (object) => {
    if (!Array.isArray(object.enum)) return object;
    const { description, ...own } = object;
    const json = JSON.stringify(own);
    const [name] = shared.get(json) ?? [`Options_${shared.size}`];
    shared.set(json, [name, own]);
    return { ...referTo(name), ...(description !== undefined && { description }) };
  });
}

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

/** Returns the schema of the custom fields in a response. It allows every stored value. */
function describeResponse(fields: readonly NamedField[]): Schema {
  return {
    type: 'object',
    properties: describeProperties(fields, describeStored),
    additionalProperties: anyValue,
    description: 'The custom fields of the resource, by name. Stored values can be older than the definitions.',
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

/** Returns the schema of `categoryConfigId` in requests. */
function describeCategory({ hasCategories, categories }: DescribedWorkspace, anyCategory: Schema): Schema {
  if (!hasCategories) return anyCategory;
  const description = 'The ticket category, or null if it has none. You can set only active categories.';
  if (categories.length > maxListedCategories) return { ...anyCategory, description };
  const listed = categories.map(({ id, name }) => ({ value: id, label: name }));
  return { ...describeOption(listed, { isNullable: true }), description };
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
