import type * as z from 'zod';
import type { Operations } from '../../../administration/noun.ts';
import type { RequestField } from '../../../administration/noun-fields.ts';
import type { Context } from '../../../resources/shared/context.ts';
import type { FormState } from '../../framework/page.ts';
import {
  checkbox,
  checkboxes,
  checked,
  emptyAsNull,
  joined,
  type Option,
  selectField,
  textArea,
  textField,
  unixLines,
} from '../../ui/form-fields.ts';
import { html, type SafeHtml } from '../../ui/html.ts';

/** Returns the schemas of the submitted fields of a noun. */
export function formShape({ converters = {} }: Operations, fields: readonly RequestField[]): Record<string, z.ZodType> {
  return Object.fromEntries(
    fields.map(({ name, schema, isBoolean, isNullable }) => {
      if (isBoolean) return [name, checked];
      const converter = converters[name];
      const typed = unixLines(converter?.schema ?? schema);
      if (converter?.choices !== undefined) return [name, joined(typed)];
      return [name, isNullable ? emptyAsNull(typed.nullable()) : typed];
    }),
  );
}

/**
 * Returns a function that renders the fields of a form.
 * @param row the row whose values the form shows first, or undefined if the form creates a row
 */
export async function renderFields(
  { converters = {} }: Operations,
  context: Context,
  fields: readonly (RequestField & { isHidden?: boolean })[],
  row?: Record<string, unknown>,
): Promise<(sent: FormState | undefined) => SafeHtml> {
  const values = await Promise.all(
    fields.map(({ name, fallback }) =>
      row === undefined ? fallback : (converters[name]?.toText(context, row) ?? row[name]),
    ),
  );
  const choices = await Promise.all(fields.map(({ name }) => converters[name]?.choices?.(context, row)));
  return (sent) =>
    html`${fields.map((field, index) =>
      field.isHidden === true
        ? html`<input type="hidden" name="${field.name}" value="">`
        : renderField(sent, field, values[index], choices[index]),
    )}`;
}

function renderField(
  sent: FormState | undefined,
  field: RequestField,
  given: unknown,
  listed: readonly Option[] | undefined,
): SafeHtml {
  const { name, label, hint, isRequired, isBoolean, isNullable, isDate, choices, lines } = field;
  if (isBoolean) return checkbox(name, 'yes', label, sent === undefined ? given === true : name in sent.values);
  const input = { name, label, hint, required: isRequired, value: given == null ? undefined : String(given) };
  if (listed !== undefined) {
    return checkboxes(sent, {
      name,
      label,
      hint,
      options: listed,
      values: String(given ?? '').split('\n'),
      isLong: true,
    });
  }
  if (choices !== undefined) {
    const options = choices.map((value) => ({ value, label: value }));
    return selectField(sent, { ...input, options: isNullable ? [{ value: '', label: 'None' }, ...options] : options });
  }
  if (lines !== undefined) return textArea(sent, { ...input, rows: lines });
  return textField(sent, { ...input, type: isDate === true ? 'date' : 'text' });
}
