import {
  CustomFieldDefinition,
  CustomFieldDefinitionPatch,
  CustomFieldQuery,
  canFilter,
  hasOptions,
  NewCustomFieldDefinition,
} from '@itsm-api/contract';
import * as z from 'zod';
import { formatOptions, OptionText } from '../resources/custom-fields/field-text.ts';
import { type Column, converter, declareNoun } from './noun.ts';

/** The options as lines of a form, or as the values of a repeated option. */
const Options = z
  .union([z.array(z.string()), z.string().transform((text) => text.split(/\r\n?|\n/))])
  .transform((lines) => lines.filter((line) => line.trim() !== ''))
  .pipe(z.array(OptionText))
  .pipe(NewCustomFieldDefinition.shape.options.unwrap());

const flags: Column<typeof CustomFieldDefinition>[] = [
  { title: 'Required', cell: ({ required }) => (required ? 'yes' : '') },
  { title: 'Filterable', cell: ({ filterable }) => (filterable ? 'yes' : '') },
];

export const customFieldDefinitions = declareNoun({
  ...{
    path: 'custom-fields',
    one: 'custom field',
    many: 'custom fields',
    audit: 'field',
    order: 'by resource and key',
  },
  schemas: {
    ...{ row: CustomFieldDefinition, create: NewCustomFieldDefinition },
    ...{ update: CustomFieldDefinitionPatch, query: CustomFieldQuery },
  },
  ...{ key: ['resource', 'key'], example: 'TICKET floor', title: ['key'], isShort: true, filters: ['resource'] },
  fields: {
    resource: { label: 'Resource' },
    key: {
      ...{ label: 'Key', about: 'name of the field in customFields' },
      hint: "The name of the field in requests, such as costCentre. You can't change it later.",
    },
    type: { label: 'Type', hint: "You can't change it later." },
    label: { label: 'Label', about: 'name of the field for people' },
    description: { label: 'Description', lines: 4 },
    options: {
      ...{ label: 'Options', option: '--options <value=label...>', lines: 8 },
      about: 'option of a SELECT or MULTI_SELECT; repeat the option for all active ones',
      hint: 'Only for SELECT and MULTI_SELECT: one option per line, such as berlin = Berlin. If you remove a line, the option becomes inactive.',
    },
    required: {
      label: 'Required: a new ticket or asset must have a value',
      about: 'whether new tickets or assets need a value',
    },
    filterable: {
      label: 'Filterable: lists have a filter by the field',
      about: 'whether lists have a filter by the field',
    },
    active: { label: 'Active: the server checks values' },
  },
  isShown: ({ type }, name) => (name === 'options' ? hasOptions(type) : name !== 'filterable' || canFilter(type)),
  table: ['resource', 'key', 'type', 'label', ...flags, 'active', 'nonconforming', 'updatedAt'],
  list: ['key', 'resource', 'label', 'type', ...flags, 'active', ['nonconforming', 'Nonconforming', 'warning']],
  card: [
    ...(['resource', 'key', 'type', 'label', 'description'] as const),
    { title: 'Options', cell: ({ options }) => formatOptions(options).replaceAll('\n', ', ') || null },
    ...(['required', 'filterable', 'active', 'nonconforming', 'createdAt', 'updatedAt'] as const),
  ],
  facts: ['resource', 'type', ['nonconforming', 'Nonconforming values'], 'createdAt', 'updatedAt'],
  lead: "The definitions of the custom fields of tickets and assets. Stored values that don't fit their definition are nonconforming. The server counts them every night.",
  verbs: {
    list: { summary: 'List the definitions of custom fields of a tenant', examples: ['', '--resource TICKET'] },
    show: { summary: 'Show the definition of a custom field', examples: ['TICKET site'] },
    create: {
      summary: 'Define a custom field',
      details: 'The resource, the key and the type never change. Stored values stay the same, even if they do not fit.',
      examples: [
        'TICKET floor --type NUMBER --label Floor',
        'ASSET site --type SELECT --label Site --options berlin=Berlin --options bonn=Bonn',
      ],
    },
    update: {
      summary: 'Update the definition of a custom field',
      details: 'An update deactivates the options that `--options` omits.',
      examples: [
        ...['TICKET floor --required true', 'ASSET site --filterable true'],
        'ASSET site --options berlin=Berlin --options munich=Munich',
      ],
    },
    deactivate: { summary: 'Deactivate a definition: the field accepts any value' },
    activate: { summary: 'Reactivate a definition' },
  },
  outcome: ({ type }, verb) => (verb === 'create' ? ` of the type ${type}` : ''),
  async load() {
    const queries = await import('../resources/custom-fields/queries.ts');
    return {
      list: queries.listCustomFieldDefinitions,
      get: queries.getCustomFieldDefinition,
      create: queries.createCustomFieldDefinition,
      update: queries.updateCustomFieldDefinition,
      converters: {
        options: converter(
          Options,
          (_context, options) => options,
          (_context, { options }: CustomFieldDefinition) => formatOptions(options),
        ),
      },
    };
  },
});
