import { type CategoryConfig, CategoryConfigPatch, NewCategoryConfig } from '@itsm-api/contract';
import * as z from 'zod';
import { activeTenantContext, tenantContext } from '../../resources/tenants/queries.ts';
import { categoryCsv } from '../../resources/ticket-categories/csv.ts';
import {
  createTicketCategory,
  listTicketCategories,
  updateTicketCategory,
} from '../../resources/ticket-categories/queries.ts';
import type { Action } from '../lib/command.ts';
import { importAction } from '../lib/import.ts';
import { firstOf, Limit } from '../lib/listing.ts';
import { activeLabel } from '../lib/output.ts';
import { action } from '../lib/run-command.ts';
import { updateInput } from '../lib/update.ts';

const Named = z.strictObject({ tenant: z.string(), id: NewCategoryConfig.shape.id });

export const list = action({
  input: z.strictObject({ tenant: z.string(), limit: Limit }),
  work: async (runtime, { tenant, limit }) => {
    const context = await tenantContext(runtime, tenant);
    return firstOf(limit, (page) => listTicketCategories(context, page));
  },
  format: (found, { table, time }) =>
    table(
      ['ID', 'NAME', 'PARENT', 'CATEGORY', 'STATUS', 'UPDATED'],
      found.map(({ id, name, parentId, category, active, updatedAt }) => {
        return [id, name, parentId, category, activeLabel(active), time(updatedAt)];
      }),
    ),
  hint: (found, { limit }) =>
    found.length < limit ? undefined : `Showing the first ${limit}. Use --limit to show more.`,
});

export const create = action({
  input: NewCategoryConfig.extend({ tenant: z.string() }),
  work: async (runtime, { tenant, ...category }) =>
    createTicketCategory(await activeTenantContext(runtime, tenant), category),
  format: ({ name, id }) => `Created the category ${name} (ID ${id}).`,
});

export const update = action({
  input: updateInput(Named.shape, CategoryConfigPatch.omit({ active: true }).shape),
  work: async (runtime, { tenant, id, ...patch }) =>
    updateTicketCategory(await tenantContext(runtime, tenant), id, patch),
  format: ({ name, id }) => `Updated the category ${name} (ID ${id}).`,
});

export const deactivate = setActiveAction(false);
export const activate = setActiveAction(true);

const importFile = importAction(categoryCsv);

export { importFile as import };

function setActiveAction(active: boolean): Action {
  return action({
    input: Named,
    work: async (runtime, { tenant, id }) => updateTicketCategory(await tenantContext(runtime, tenant), id, { active }),
    format: ({ name, id, active }: CategoryConfig) =>
      `The category ${name} (ID ${id}) is ${active ? 'active' : 'inactive'}.`,
  });
}
