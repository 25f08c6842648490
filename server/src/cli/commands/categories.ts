import { maxCategoryLevels, TicketCategory } from '@itsm-api/contract';
import { categoryColumns } from '../../resources/ticket-categories/columns.ts';
import { common, noun, type Parameter } from '../lib/command.ts';
import { importVerb, templateVerb } from '../lib/file-verbs.ts';
import { clearing } from '../lib/update.ts';

const id = { flags: '<id>', about: 'ID of the category', values: 'categories' } as const;

const name = { flags: '--name <name>' };
const fields = [
  {
    flags: '--parent-id <id>',
    about: `ID of the category above this one, on up to ${maxCategoryLevels} levels`,
    values: 'categories',
  },
  {
    flags: '--category <category>',
    about: `category of new tickets, unless they have another one: ${TicketCategory.options.join(', ')}`,
    values: TicketCategory.options,
  },
] satisfies Parameter[];

export const categories = noun({
  verbs: {
    list: {
      summary: 'List the ticket categories of a tenant, in the order of their IDs',
      options: [common.tenant, common.limit, common.utc],
      examples: ['categories list --tenant Acme'],
    },
    create: {
      summary: 'Create a ticket category',
      details: 'As soon as a tenant has a category, requests can set only an active one as categoryConfigId.',
      arguments: [{ flags: '<id>', about: 'ID, which tickets contain in categoryConfigId' }],
      options: [common.tenant, { ...name, required: true }, ...fields],
      examples: [
        'categories create network --tenant Acme --name Network --category NETWORK',
        'categories create network/vpn --tenant Acme --name VPN --parent-id network --category NETWORK',
      ],
    },
    update: {
      summary: 'Update a ticket category',
      details: clearing.replace('notes', 'parent-id'),
      arguments: [id],
      options: [common.tenant, name, ...fields],
      examples: ["categories update network/vpn --tenant Acme --name 'Remote access'"],
    },
    deactivate: {
      summary: "Deactivate a ticket category: requests can't set it as categoryConfigId",
      details: 'Tickets keep an inactive category.',
      arguments: [id],
      options: [common.tenant],
      examples: ['categories deactivate network/vpn --tenant Acme'],
    },
    activate: {
      summary: 'Reactivate a ticket category',
      arguments: [id],
      options: [common.tenant],
      examples: ['categories activate network/vpn --tenant Acme'],
    },
    import: importVerb(categoryColumns),
    template: templateVerb(categoryColumns),
  },
  actions: () => import('../actions/categories.ts'),
  withoutDatabase: () => import('../actions/templates/categories.ts'),
});
