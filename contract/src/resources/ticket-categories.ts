import * as z from 'zod';
import { endpoints, list, listQuery, meta } from '../endpoint.ts';
import { responseText, trimmedText, versionFields } from '../fields.ts';
import { CategoryConfigId, TicketCategory } from './tickets.ts';

/** The maximum number of ticket categories of a workspace, including inactive ones. */
export const maxTicketCategories = 1000;

/** The maximum number of levels of ticket categories. A category without a parent is on the first level. */
export const maxCategoryLevels = 3;

const CategoryId = CategoryConfigId.meta({
  description: 'The id that an administrator chose. It never changes. `categoryConfigId` of a ticket contains it.',
});
const Name = trimmedText(1, 100).meta({ description: 'The name of the category.' });
const ParentId = CategoryConfigId.meta({
  description: `The id of the category above this one, or null on the first of up to ${maxCategoryLevels} levels.`,
});
const RefinedCategory = TicketCategory.meta({
  description:
    'The value of `category` that this category refines, or null. A new ticket gets it if its request contains ' +
    '`categoryConfigId`, but not `category`.',
});
const Active = z
  .boolean()
  .meta({ description: 'Whether the category is active. Requests can set only active categories.' });

export const CategoryConfig = z
  .object({
    id: responseText(CategoryId),
    name: responseText(Name),
    parentId: responseText(ParentId).nullable(),
    category: RefinedCategory.nullable(),
    active: Active,
    ...versionFields,
  })
  .meta({
    id: 'CategoryConfig',
    description: 'A category of tickets that the workspace defines.',
    example: {
      id: 'network/vpn',
      name: 'VPN',
      parentId: 'network',
      category: 'NETWORK',
      active: true,
      createdAt: '2025-02-01T08:00:00.000Z',
      updatedAt: '2025-02-01T08:00:00.000Z',
      etag: '"1-m6lwkjk0"',
    },
  });
export type CategoryConfig = z.output<typeof CategoryConfig>;

/** A new category. */
export const NewCategoryConfig = z.strictObject({
  id: CategoryId,
  name: Name,
  parentId: ParentId.nullish(),
  category: RefinedCategory.nullish(),
});
export type NewCategoryConfig = z.output<typeof NewCategoryConfig>;

/** Changes to a category. */
export const CategoryConfigPatch = NewCategoryConfig.omit({ id: true }).extend({ active: Active }).partial();
export type CategoryConfigPatch = z.output<typeof CategoryConfigPatch>;

export const CategoryConfigQuery = listQuery({});
export type CategoryConfigQuery = z.output<typeof CategoryConfigQuery>;

export const ticketCategories = endpoints({
  list: {
    method: 'GET',
    path: '/ticket-categories',
    summary: 'List ticket categories',
    description:
      'Returns all categories that the workspace defines, including inactive ones, in the order of their ids.',
    metadata: meta({ scope: 'tickets:read', group: 'tickets' }),
    query: CategoryConfigQuery,
    responses: { 200: list(CategoryConfig) },
  },
});
