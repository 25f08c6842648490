import { type CustomFieldDefinition, CustomFieldDefinitionPatch, NewCustomFieldDefinition } from '@itsm-api/contract';
import * as z from 'zod';
import { formatOptions, OptionText } from '../../../resources/custom-fields/field-text.ts';
import {
  createDefinition,
  getDefinition,
  listDefinitions,
  updateDefinition,
} from '../../../resources/custom-fields/queries.ts';
import { activeTenantContext, tenantContext } from '../../../resources/tenants/queries.ts';
import type { Action } from '../../lib/command.ts';
import { activeLabel } from '../../lib/output.ts';
import { action } from '../../lib/run-command.ts';
import { TrueOrFalse, updateInput } from '../../lib/update.ts';

const { shape } = NewCustomFieldDefinition;
const Named = z.strictObject({ tenant: z.string(), resource: shape.resource, key: shape.key });

const texts = {
  options: z.array(OptionText).pipe(shape.options.unwrap()).optional(),
  required: TrueOrFalse.optional(),
  filterable: TrueOrFalse.optional(),
};

export const list = action({
  input: z.strictObject({ tenant: z.string(), resource: shape.resource.optional() }),
  work: async (runtime, { tenant, resource }) => {
    const context = await tenantContext(runtime, tenant);
    const query = { page: 1, perPage: 100, resource: resource && [resource] };
    return (await listDefinitions(context, query)).data;
  },
  format: (found, { table, time }) =>
    table(
      ['RESOURCE', 'KEY', 'TYPE', 'LABEL', 'REQUIRED', 'FILTERABLE', 'STATUS', 'NONCONFORMING', 'UPDATED'],
      found.map(({ resource, key, type, label, required, filterable, active, nonconforming, updatedAt }) => [
        ...[resource, key, type, label, required ? 'yes' : '', filterable ? 'yes' : ''],
        ...[activeLabel(active), nonconforming, time(updatedAt)],
      ]),
    ),
});

export const show = action({
  input: Named,
  work: async (runtime, { tenant, ...field }) => getDefinition(await tenantContext(runtime, tenant), field),
  format: ({ resource, key, type, label, description, options, ...others }, { card, time }) =>
    card({
      ...{ resource, key, type, label, description, options: formatOptions(options).replaceAll('\n', ', ') || null },
      ...{
        required: String(others.required),
        filterable: String(others.filterable),
        status: activeLabel(others.active),
      },
      ...{ nonconforming: others.nonconforming, created: time(others.createdAt), updated: time(others.updatedAt) },
    }),
});

export const create = action({
  input: NewCustomFieldDefinition.extend({ tenant: z.string(), ...texts }),
  work: async (runtime, { tenant, ...field }) => createDefinition(await activeTenantContext(runtime, tenant), field),
  format: (field) => `Defined the custom field ${nameOf(field)} of the type ${field.type}.`,
});

export const update = action({
  input: updateInput(Named.shape, { ...CustomFieldDefinitionPatch.omit({ active: true }).shape, ...texts }),
  work: async (runtime, { tenant, resource, key, ...patch }) =>
    updateDefinition(await tenantContext(runtime, tenant), { resource, key }, patch),
  format: (field) => `Updated the custom field ${nameOf(field)}.`,
});

export const deactivate = setActiveAction(false);
export const activate = setActiveAction(true);

function setActiveAction(active: boolean): Action {
  return action({
    input: Named,
    work: async (runtime, { tenant, ...field }) =>
      updateDefinition(await tenantContext(runtime, tenant), field, { active }),
    format: (field) => `The custom field ${nameOf(field)} is ${field.active ? 'active' : 'inactive'}.`,
  });
}

function nameOf({ resource, key }: CustomFieldDefinition): string {
  return `${key} (${resource})`;
}
