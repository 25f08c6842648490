import { isDeepStrictEqual } from 'node:util';
import type { CustomFieldDefinition, CustomFields } from '@itsm-api/contract';
import * as z from 'zod';
import { formatFieldText, parseFieldText } from '../../resources/custom-fields/field-text.ts';
import type { FormState } from '../framework/page.ts';
import { checkboxes, type Option, selectField, textField } from './form-fields.ts';
import { html, type SafeHtml } from './html.ts';

/*
 * Renders and reads an input for each defined custom field. The name of an input is `customFields.` and the key of its
 * field, as in error details.
 */

const prefix = 'customFields.';

/** The submitted texts of the inputs, by key. An input of a MULTI_SELECT has a text for each chosen option. */
export const DefinedFields = z.record(z.string(), z.array(z.string()));

/** Returns the schema of a form with inputs for defined fields. It collects them in the field `definedFields`. */
export function withDefinedFields<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((values: Record<string, string | string[]>) => {
    const isDefined = ([name]: [string, unknown]) => name.startsWith(prefix);
    const entries = Object.entries(values);
    const definedFields = entries.filter(isDefined).map(([name, value]) => [name.slice(prefix.length), [value].flat()]);
    const others = entries.filter((entry) => !isDefined(entry));
    return { ...Object.fromEntries(others), definedFields: Object.fromEntries(definedFields) };
  }, schema);
}

/** Returns the definitions whose inputs can show the current values, so that a form doesn't change other values. */
export function editableDefinitions(
  definitions: readonly CustomFieldDefinition[],
  fields: CustomFields,
): CustomFieldDefinition[] {
  return definitions.filter(({ key, type, active }) => {
    const value = fields[key] ?? null;
    if (!active || value === null) return active;
    const text = formatFieldText(value);
    // Browsers remove line breaks from an input, and an empty input removes the field.
    return text !== '' && !/[\r\n]/.test(text) && isDeepStrictEqual(parseFieldText(type, text), value);
  });
}

/** Renders an input for each of the definitions. */
export function definedInputs(
  sent: FormState | undefined,
  definitions: readonly CustomFieldDefinition[],
  fields: CustomFields = {},
): SafeHtml {
  return html`${definitions.map((definition) => definedInput(sent, definition, fields[definition.key] ?? null))}`;
}

function definedInput(
  sent: FormState | undefined,
  { key, type, label, description, options, required }: CustomFieldDefinition,
  stored: CustomFields[string],
): SafeHtml {
  const value = stored === null ? undefined : formatFieldText(stored);
  const field = { name: `${prefix}${key}`, label, hint: description ?? undefined, value, required };
  const chosen = [stored ?? []].flat().map(String);
  const choices = (options ?? [])
    .filter(({ active, value }) => active || chosen.includes(value))
    .map(({ value, label }) => ({ value, label }));
  const unknown = chosen.filter((each) => choices.every(({ value }) => value !== each));
  const known = [...choices, ...unknown.map((value) => ({ value, label: `${value} (not an option)` }))];
  const orNone = (some: readonly Option[]) => [{ value: '', label: 'None' }, ...some];
  switch (type) {
    case 'SELECT':
      return selectField(sent, { ...field, options: orNone(known) });
    case 'BOOLEAN':
      return selectField(sent, {
        ...field,
        options: orNone([
          { value: 'true', label: 'Yes' },
          { value: 'false', label: 'No' },
        ]),
      });
    case 'MULTI_SELECT':
      // The hidden input makes the browser send the field if no option is chosen.
      return html`<input type="hidden" name="${field.name}" value="">${checkboxes(sent, { ...field, options: known, values: chosen })}`;
    case 'DATE':
      return textField(sent, { ...field, type: 'date' });
    case 'USER':
      return textField(sent, { ...field, hint: field.hint ?? 'The ID of a user.' });
    default:
      return textField(sent, field);
  }
}

/** Converts the submitted texts to values of their types. An empty input becomes null. */
export function parseDefined(
  definitions: readonly CustomFieldDefinition[],
  texts: z.output<typeof DefinedFields>,
): CustomFields {
  const entries = Object.entries(texts).map(([key, all]): [string, CustomFields[string]] => {
    const [first, ...others] = all.filter((text) => text !== '');
    const type = definitions.find((each) => each.key === key)?.type;
    if (first === undefined) return [key, null];
    return [key, type === 'MULTI_SELECT' ? [first, ...others] : parseFieldText(type, first)];
  });
  return Object.fromEntries(entries);
}
