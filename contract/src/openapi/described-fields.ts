import { jsonTypes } from '../answers.ts';
import type { CustomFieldDefinition } from '../resources/custom-fields.ts';
import type { Schema } from './types.ts';

/* Describes custom fields of a workspace in its OpenAPI document (docs/decisions/api-documentation.md). */

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

/** A field, and how code generators handle its key. */
export interface NamedField extends DescribedField {
  /** Whether every object of JavaScript has a member with this name, such as `constructor`. */
  isInherited: boolean;
  /** Whether code generators give the types of the options of two fields the same name. */
  isAmbiguous: boolean;
}

/** Adds how code generators handle the keys. They ignore underscores and capitals, and append `Item` to lists. */
export function withNames(fields: readonly DescribedField[]): NamedField[] {
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

export const isInherited = (name: string): boolean => name in Object.prototype;

/**
 * Returns the schemas of the properties. Omits the names that all objects of JavaScript have: some code generators fail,
 * and the types of others would require these properties in each request.
 */
export function describeProperties(fields: readonly NamedField[], describe: (field: NamedField) => Schema): Schema {
  return Object.fromEntries(fields.filter((field) => !field.isInherited).map((field) => [field.key, describe(field)]));
}

/**
 * Returns keywords with schemas of properties, by pattern, that code generators ignore, because they ignore `if`. From
 * `patternProperties` alone, they would generate an index signature that contradicts the types of the properties.
 */
export function describeHidden(patternProperties: Schema): Schema {
  if (Object.keys(patternProperties).length === 0) return {};
  return { if: { type: 'null' }, else: { patternProperties } };
}

export const referTo = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
export const anyValue = referTo('CustomFieldValue');
export const propertyNames = { type: 'string', minLength: 1, maxLength: 255 };

/** Returns the schema of a field in a request. An inactive field accepts any value. */
export function describeGiven(field: NamedField, { isNullable }: { isNullable: boolean }): Schema {
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

export function describeField({ label, description, active }: DescribedField): string {
  return toPlainMarkdown(`${label}${description === null ? '' : `: ${description}`}${active ? '' : ' (inactive)'}`);
}

/** Returns the schema of a text that is one of the options. Without a list of options, it can be any text. */
export function describeOption(
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
export function toPlainMarkdown(text: string): string {
  return text
    .replaceAll(/\p{Bidi_Control}/gu, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(markup, '\\$&')
    .replace(/^(?:[#+=>-]|\d+(?=[.)]))/, (start) => (/\d/.test(start) ? `${start}\\` : `\\${start}`));
}
