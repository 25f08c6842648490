import * as z from 'zod';
import type { FormState, PageRequest, UploadedFile } from '../framework/page.ts';
import type { RequestContext } from '../framework/request-context.ts';
import { folded, html, type SafeHtml } from './html.ts';

/* Functions that render forms and form fields. A field has a label, a hint and an error, and keeps the typed value. */

/**
 * Renders a form on the current page.
 * @param fields renders the form fields with the submitted values and errors
 */
export function renderForm(
  { visit, address, sent }: Pick<PageRequest<RequestContext>, 'visit' | 'address' | 'sent'>,
  name: string,
  fields: (sent: FormState | undefined) => SafeHtml,
  { upload = false, passkey }: { upload?: boolean; passkey?: { what: 'create' | 'get'; options: object } } = {},
): SafeHtml {
  const action = `${address}${address.includes('?') ? '&' : '?'}form=${name}`;
  const credential =
    passkey &&
    html`<input type="hidden" name="response" value="" data-passkey="${passkey.what}" data-options="${JSON.stringify(passkey.options)}">`;
  // Renders the fields before the error summary, because the summary needs the field labels.
  const renderedFields = fields(sent[name]);
  const errors = summary(sent[name]);
  return html`<form method="post" action="${action}" ${upload ? html`enctype="multipart/form-data"` : ''} id="form-${name}">
<input type="hidden" name="_csrf" value="${visit.csrf}">${credential}
${errors}${renderedFields}</form>`;
}

/** Renders a form in a collapsible section, which is open if the page shows the submitted form again. */
export function foldedForm(
  request: Parameters<typeof renderForm>[0],
  title: string,
  name: string,
  fields: (sent: FormState | undefined) => SafeHtml,
): SafeHtml {
  return folded(title, request.sent[name] !== undefined, renderForm(request, name, fields));
}

/**
 * Renders a summary of all errors of a form, in the order of the fields. The summary is above the fields, so screen
 * readers announce it first.
 */
export function summary(sent: FormState | undefined): SafeHtml | null {
  if (sent === undefined) return null;
  const order = [...(sent.labels?.keys() ?? [])];
  const wrong = Object.entries(sent.errors).sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
  if (sent.message === undefined && wrong.length === 0) return null;
  const items = wrong.map(
    ([name, message]) => html`<li><a href="#field-${name}">${sent.labels?.get(name) ?? name}</a> ${message}</li>`,
  );
  return html`<div class="notice bad" role="alert" tabindex="-1" data-focus>${
    wrong.length > 0
      ? html`<p>Correct these fields and submit the form again:</p><ul>${items}</ul>`
      : html`<p>${sent.message}</p>`
  }</div>`;
}

export interface Field {
  name: string;
  label: string;
  /** The purpose or the format of the field. */
  hint?: string | SafeHtml | undefined;
  /** The initial value. */
  value?: string | number | null | undefined;
  required?: boolean;
}

type InputType = 'text' | 'email' | 'password' | 'url' | 'number' | 'search' | 'date' | 'datetime-local';
interface TextField extends Field {
  type?: InputType;
  /** The value of the attribute `autocomplete` (HTML §4.10.18.7). */
  autocomplete?: string;
  placeholder?: string;
}

/** Renders a single-line text field. Never renders the value of a password. */
export function textField(sent: FormState | undefined, field: TextField): SafeHtml {
  const { name, type = 'text', autocomplete = 'off', required = false, placeholder } = field;
  const value = type === 'password' ? '' : getTypedValue(sent, field);
  return renderField(sent, field, (attributes) => {
    const hinting = placeholder === undefined ? '' : html`placeholder="${placeholder}"`;
    return html`<input type="${type}" name="${name}" value="${value}" autocomplete="${autocomplete}" ${hinting}
 ${required ? html`required` : ''} ${attributes}>`;
  });
}

/** Renders a multi-line text field. */
export function textArea(sent: FormState | undefined, field: Field & { rows?: number }): SafeHtml {
  return renderField(
    sent,
    field,
    // Starts the content on a new line, because browsers drop the first line break after the `<textarea>` tag.
    (attributes) => html`<textarea name="${field.name}" rows="${field.rows ?? 4}" ${attributes}>
${getTypedValue(sent, field)}</textarea>`,
  );
}

export interface Option {
  value: string;
  label: string;
}

/** Renders a select field. */
export function selectField(sent: FormState | undefined, field: Field & { options: readonly Option[] }): SafeHtml {
  const chosen = getTypedValue(sent, field);
  return renderField(
    sent,
    field,
    (attributes) =>
      html`<select name="${field.name}" ${attributes}>${field.options.map(
        ({ value, label }) =>
          html`<option value="${value}" ${value === chosen ? html`selected` : ''}>${label}</option>`,
      )}</select>`,
  );
}

/** Renders a group of checkboxes with the same name. */
export function checkboxes(
  sent: FormState | undefined,
  {
    name,
    label,
    hint,
    options,
    values = [],
    isLong = false,
  }: Omit<Field, 'value'> & { options: readonly Option[]; values?: readonly string[]; isLong?: boolean },
): SafeHtml {
  const chosen = sent?.values[name] ?? (sent === undefined ? values : []);
  sent?.labels?.set(name, label);
  return html`<fieldset id="field-${name}" ${isLong ? html`class="long"` : ''}><legend>${label}</legend>${renderHint(name, hint)}${renderError(sent, name)}
${options.map(({ value, label }) => checkbox(name, value, label, chosen.includes(value)))}</fieldset>`;
}

export function checkbox(name: string, value: string, label: string | SafeHtml, checked: boolean): SafeHtml {
  return html`<label class="check"><input type="checkbox" name="${name}" value="${value}" ${checked ? html`checked` : ''}>
<span>${label}</span></label>`;
}

/** Renders a file field. The form of a file field needs `upload: true`. */
export function fileField(sent: FormState | undefined, field: Field & { accept?: string }): SafeHtml {
  return renderField(
    sent,
    field,
    (attributes) =>
      html`<input type="file" name="${field.name}" ${field.accept === undefined ? '' : html`accept="${field.accept}"`} ${attributes}>`,
  );
}

/**
 * Renders the button that submits a form.
 * @param field the field that the button adds to the form
 */
export function submit(
  text: string,
  kind: 'main' | 'plain' | 'danger' = 'main',
  field?: { name: string; value: string },
): SafeHtml {
  const sent = field === undefined ? '' : html`name="${field.name}" value="${field.value}"`;
  return html`<button type="submit" class="button ${kind}" ${sent}>${text}</button>`;
}

function renderField(
  sent: FormState | undefined,
  { name, label, hint }: Field,
  input: (attributes: SafeHtml) => SafeHtml,
): SafeHtml {
  const wrong = sent?.errors[name] !== undefined;
  sent?.labels?.set(name, label);
  const described = [hint && `hint-${name}`, wrong && `error-${name}`].filter(Boolean).join(' ');
  const attributes = html`id="field-${name}" ${described === '' ? '' : html`aria-describedby="${described}"`}
 ${wrong ? html`aria-invalid="true"` : ''}`;
  return html`<div class="field"><label for="field-${name}">${label}</label>${renderHint(name, hint)}${renderError(sent, name)}
${input(attributes)}</div>`;
}

export function renderHint(name: string, hint: string | SafeHtml | undefined): SafeHtml | null {
  return hint === undefined ? null : html`<p class="hint" id="hint-${name}">${hint}</p>`;
}

export function renderError(sent: FormState | undefined, name: string): SafeHtml | null {
  const error = sent?.errors[name];
  return error === undefined ? null : html`<p class="error" id="error-${name}">${error}</p>`;
}

function getTypedValue(sent: FormState | undefined, { name, value }: Field): string {
  return sent === undefined ? String(value ?? '') : (sent.values[name]?.[0] ?? '');
}

/* Schemas for submitted form fields. Browsers send an empty field as an empty string. */

/** The schema of a file in a form with `upload`. */
export const FileInForm = z.custom<UploadedFile>(
  (value) => Object(value).content instanceof Uint8Array,
  'must be a file',
);

/** Returns the schema of an optional field. It converts an empty string to undefined. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((value) => (value === '' ? undefined : value), schema.optional());
}

/** Returns the schema of a nullable field. It converts an empty string to null. */
export function emptyAsNull<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((value) => (value === '' ? null : value), schema);
}

/** Returns the schema of the filters of a list. It removes empty filters. */
export function withoutBlanks<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess(
    (query: object) => Object.fromEntries(Object.entries(query).filter(([, value]) => value !== '')),
    schema,
  );
}

/** Returns the schema of a multi-line text. It converts CRLF, which browsers send, to LF. */
export function unixLines<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((value) => (typeof value === 'string' ? value.replaceAll('\r\n', '\n') : value), schema);
}

/** Returns the schema of checkboxes or of a text area. It passes the values on as lines of one text. */
export function joined<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((value) => (Array.isArray(value) ? value.join('\n') : (value ?? '')), schema);
}

/** Returns a schema for checkboxes that share a name. The schema converts their values to an array. */
export function several<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((value) => (value === undefined ? [] : [value].flat()), schema);
}

/**
 * The schema of a single checkbox. It returns false if the field is missing, because browsers omit unchecked
 * checkboxes.
 */
export const checked = z.preprocess((value) => value !== undefined, z.boolean());
