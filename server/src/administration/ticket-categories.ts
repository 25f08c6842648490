import {
  CategoryConfig,
  CategoryConfigPatch,
  CategoryConfigQuery,
  maxCategoryLevels,
  NewCategoryConfig,
} from '@itsm-api/contract';
import { ticketCategoryColumns } from '../resources/ticket-categories/columns.ts';
import { declareNoun } from './noun.ts';

export const ticketCategories = declareNoun({
  ...{ path: 'ticket-categories', one: 'ticket category', shortOne: 'category', many: 'ticket categories' },
  ...{ audit: 'category', order: 'in the order of their IDs' },
  schemas: {
    ...{ row: CategoryConfig, create: NewCategoryConfig },
    ...{ update: CategoryConfigPatch, query: CategoryConfigQuery },
  },
  ...{ key: ['id'], example: 'network/vpn', title: ['name'] },
  csvColumns: (use) => use(ticketCategoryColumns),
  fields: {
    id: {
      ...{ label: 'ID', about: 'ID, which tickets contain in categoryConfigId' },
      hint: 'Tickets contain this value in categoryConfigId. It never changes.',
    },
    name: { label: 'Name' },
    parentId: {
      ...{ label: 'Parent ID', option: '--parent-id <id>', suggest: 'categories' },
      about: `ID of the category above this one, on up to ${maxCategoryLevels} levels`,
      hint: `The category above this one. Categories have up to ${maxCategoryLevels} levels.`,
    },
    category: {
      ...{ label: 'Category', about: 'category of new tickets, unless they have another one' },
      hint: 'New tickets with this category get the fixed category, unless their request contains another one.',
    },
    active: { label: 'Active: requests can set this category' },
  },
  table: ['id', 'name', ['parentId', 'Parent'], 'category', 'active', 'updatedAt'],
  list: ['id', 'name', ['parentId', 'Parent'], 'category', 'active', 'updatedAt'],
  lead: 'The categories that refine the fixed categories of tickets, in the order of their IDs. As soon as there is one, requests can set only an active category as `categoryConfigId`.',
  verbs: {
    create: {
      details: 'As soon as a tenant has a category, requests can set only an active one as categoryConfigId.',
      examples: [
        'network --name Network --category NETWORK',
        'network/vpn --name VPN --parent-id network --category NETWORK',
      ],
    },
    update: { examples: ["network/vpn --name 'Remote access'"] },
    deactivate: {
      summary: "Deactivate a ticket category: requests can't set it as categoryConfigId",
      details: 'Tickets keep an inactive category.',
    },
  },
  async load() {
    const queries = await import('../resources/ticket-categories/queries.ts');
    return {
      list: queries.listTicketCategories,
      get: (context, { id }) => queries.getTicketCategory(context, id),
      create: queries.createTicketCategory,
      update: (context, { id }, patch) => queries.updateTicketCategory(context, id, patch),
      csv: (use) => use(queries.ticketCategoryCsv),
    };
  },
});
