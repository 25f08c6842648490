import { CustomFieldResource, CustomFieldType } from '@itsm-api/contract';
import { common, noun, type Parameter } from '../../lib/command.ts';
import { clearing } from '../../lib/update.ts';

const [resources, types] = [CustomFieldResource.options, CustomFieldType.options];
const field = [
  { flags: '<resource>', about: resources.join(' or '), values: resources },
  { flags: '<key>', about: 'name of the field in customFields' },
] satisfies Parameter[];

const label = { flags: '--label <text>', about: 'name of the field for people' };
const changeable = [
  { flags: '--description <text>' },
  {
    flags: '--options <value=label...>',
    about: 'option of a SELECT or MULTI_SELECT; repeat the option for all active ones',
  },
  {
    flags: '--required <required>',
    about: 'true or false: whether new tickets or assets need a value',
    values: ['true', 'false'],
  },
  {
    flags: '--filterable <filterable>',
    about: 'true or false: whether lists have a filter by the field',
    values: ['true', 'false'],
  },
] satisfies Parameter[];

export const fields = noun({
  verbs: {
    list: {
      summary: 'List the definitions of custom fields of a tenant',
      options: [
        common.tenant,
        { flags: '--resource <resource>', about: `only ${resources.join(' or ')}`, values: resources },
        common.utc,
      ],
      examples: ['fields list --tenant Acme', 'fields list --tenant Acme --resource TICKET'],
    },
    show: {
      summary: 'Show the definition of a custom field',
      arguments: field,
      options: [common.tenant, common.utc],
      examples: ['fields show TICKET site --tenant Acme'],
    },
    create: {
      summary: 'Define a custom field',
      details: 'The resource, the key and the type never change. Stored values stay the same, even if they do not fit.',
      arguments: field,
      options: [
        common.tenant,
        { flags: '--type <type>', about: types.join(', '), values: types, required: true },
        { ...label, required: true },
        ...changeable,
      ],
      examples: [
        'fields create TICKET floor --tenant Acme --type NUMBER --label Floor',
        'fields create ASSET site --tenant Acme --type SELECT --label Site --options berlin=Berlin --options bonn=Bonn',
      ],
    },
    update: {
      summary: 'Update the definition of a custom field',
      details: `${clearing.replace('notes', 'description')} An update deactivates the options that \`--options\` omits.`,
      arguments: field,
      options: [common.tenant, label, ...changeable],
      examples: [
        'fields update TICKET floor --tenant Acme --required true',
        'fields update ASSET site --tenant Acme --filterable true',
        'fields update ASSET site --tenant Acme --options berlin=Berlin --options munich=Munich',
      ],
    },
    deactivate: {
      summary: 'Deactivate a definition: the field accepts any value',
      arguments: field,
      options: [common.tenant],
      examples: ['fields deactivate TICKET floor --tenant Acme'],
    },
    activate: {
      summary: 'Reactivate a definition',
      arguments: field,
      options: [common.tenant],
      examples: ['fields activate TICKET floor --tenant Acme'],
    },
  },
  actions: () => import('../../actions/settings/fields.ts'),
});
