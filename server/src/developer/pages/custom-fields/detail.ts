import {
  type CustomFieldDefinition,
  CustomFieldResource,
  CustomFieldType,
  canFilter,
  hasOptions,
  NewCustomFieldDefinition,
} from '@itsm-api/contract';
import * as z from 'zod';
import { formatOptions, OptionText } from '../../../resources/custom-fields/field-text.ts';
import { createDefinition, getDefinition, updateDefinition } from '../../../resources/custom-fields/queries.ts';
import { changeIfUnchanged, Etag, etagField } from '../../framework/optimistic-lock.ts';
import { type FormState, form, page } from '../../framework/page.ts';
import {
  checkbox,
  checked,
  emptyAsNull,
  renderForm,
  selectField,
  submit,
  textArea,
  textField,
  unixLines,
} from '../../ui/form-fields.ts';
import { facts, html, type SafeHtml, section } from '../../ui/html.ts';

const path = '/developer/custom-fields';
const roles = ['ADMIN'] as const;
const { resource, key, type, label, description, options } = NewCustomFieldDefinition.shape;

const DefinitionFields = z.strictObject({
  label,
  description: emptyAsNull(unixLines(description)),
  options: z
    .string()
    .transform((text) => text.split(/\r\n?|\n/).filter((line) => line.trim() !== ''))
    .pipe(z.array(OptionText))
    .pipe(options.unwrap()),
  required: checked,
  filterable: checked,
});

export const newField = page({
  path: `${path}/new`,
  roles,
  async show(request) {
    const select = (values: readonly string[]) => values.map((value) => ({ value, label: value }));
    const fields = (sent: FormState | undefined) => html`
${selectField(sent, { name: 'resource', label: 'Resource', options: select(CustomFieldResource.options) })}
${textField(sent, { name: 'key', label: 'Key', hint: "The name of the field in requests, such as costCentre. You can't change it later.", required: true })}
${selectField(sent, { name: 'type', label: 'Type', hint: "You can't change it later.", options: select(CustomFieldType.options) })}
${inputs(sent)}${submit('Create')}`;
    return {
      title: 'New custom field',
      body: html`<p><a href="${path}">All custom fields</a></p>${renderForm(request, 'create', fields)}`,
    };
  },
  forms: {
    create: form({
      fields: DefinitionFields.extend({ resource, key, type }),
      audit: 'field.created',
      run: async ({ visit, fields }) => toResult(await createDefinition(visit.context, fields)),
    }),
  },
});

const FieldParams = z.object({ resource, key });

/** The page of the definition of a custom field. */
export const field = page({
  path: `${path}/:resource/:key`,
  roles,
  params: FieldParams,
  async show(request) {
    const { visit, params } = request;
    const definition = await getDefinition(visit.context, params);
    const { resource, type, nonconforming, createdAt, updatedAt } = definition;
    const fields = (sent: FormState | undefined) => html`${etagField(definition)}${inputs(sent, definition)}
${checkbox('active', 'yes', 'Active: the server checks values', sent === undefined ? definition.active : 'active' in sent.values)}
${submit('Save')}`;
    return {
      title: definition.key,
      body: html`<p><a href="${path}">All custom fields</a></p>
${facts({
  ...{ Resource: resource, Type: type, 'Nonconforming values': nonconforming },
  ...{ Created: visit.time(createdAt), Updated: visit.time(updatedAt) },
})}
${section('Details', renderForm(request, 'change', fields))}`,
    };
  },
  forms: {
    change: form({
      params: FieldParams,
      fields: DefinitionFields.extend({ active: checked, etag: Etag }),
      audit: 'field.updated',
      async run({ visit, params, fields: { etag, ...patch } }) {
        return toResult(
          await changeIfUnchanged(visit.context, etag, (context) => updateDefinition(context, params, patch)),
        );
      },
    }),
  },
});

function inputs(sent: FormState | undefined, definition?: CustomFieldDefinition): SafeHtml {
  const { label, description, options = null, required = false, filterable = false, type } = definition ?? {};
  const hint =
    'Only for SELECT and MULTI_SELECT: one option per line, such as berlin = Berlin. If you remove a line, the option becomes inactive.';
  const optionsField = { name: 'options', label: 'Options', value: formatOptions(options), rows: 8, hint };
  return html`${textField(sent, { name: 'label', label: 'Label', value: label, required: true })}
${textArea(sent, { name: 'description', label: 'Description', value: description })}
${type === undefined || hasOptions(type) ? textArea(sent, optionsField) : html`<input type="hidden" name="options" value="">`}
${checkbox('required', 'yes', 'Required: a new ticket or asset must have a value', sent === undefined ? required : 'required' in sent.values)}
${type === undefined || canFilter(type) ? checkbox('filterable', 'yes', 'Filterable: lists have a filter by the field', sent === undefined ? filterable : 'filterable' in sent.values) : null}`;
}

function toResult({ resource, key }: CustomFieldDefinition) {
  return { redirect: `${path}/${resource}/${key}`, subject: key };
}
