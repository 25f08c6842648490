import {
  type Asset,
  AssetPatch,
  AssetQuery,
  AssetStatus,
  AssetType,
  CustomFields,
  CustomFieldsPatch,
  integerFromText,
  NewAsset,
} from '@itsm-api/contract';
import * as z from 'zod';
import { assetCsv } from '../../resources/assets/csv.ts';
import { assetRows, createAsset, getAsset, listAssets, updateAsset } from '../../resources/assets/queries.ts';
import { findFieldTypes, parseFieldTexts } from '../../resources/custom-fields/field-text.ts';
import type { Context } from '../../resources/shared/context.ts';
import { TagText } from '../../resources/shared/tags.ts';
import { activeTenantContext, tenantContext } from '../../resources/tenants/queries.ts';
import { findUserId } from '../../resources/users/queries.ts';
import { UserReference } from '../../resources/users/user-reference.ts';
import { exportAction } from '../lib/export.ts';
import { shell } from '../lib/help.ts';
import { importAction } from '../lib/import.ts';
import { firstOf, Limit, listContext, moreHint } from '../lib/listing.ts';
import { statusLabel } from '../lib/output.ts';
import { action } from '../lib/run-command.ts';
import { updateInput } from '../lib/update.ts';

const Named = z.strictObject({ tenant: z.string(), id: integerFromText() });

/** The schema of the custom fields on the command line: a list of `NAME=VALUE` pairs. */
const customFieldPairs = z
  .array(z.string().regex(/^(?!__proto__=)[^=]+=/, 'must be like NAME=VALUE'))
  .transform((pairs) => pairs.map((pair) => splitAt(pair, pair.indexOf('='))));

/** The asset fields that have the same schema on the command line and in the API. */
const { assignedToId: _, customFields: __, addTags: ___, removeTags: ____, ...changeable } = AssetPatch.shape;

type CustomFieldsGiven = z.input<typeof CustomFieldsPatch>;

export const list = action({
  input: z.strictObject({
    tenant: z.string(),
    status: AssetStatus.optional(),
    type: AssetType.optional(),
    q: AssetQuery.shape.q,
    limit: Limit,
  }),
  work: async (runtime, { tenant, status, type, q, limit }) => {
    const context = await listContext(runtime, tenant, q);
    const filters = { status: status && [status], type: type && [type], q };
    return firstOf(limit, (page) => listAssets(context, { ...page, ...filters }));
  },
  format: (found, { table, time }) =>
    table(
      ['ID', 'TAG', 'NAME', 'TYPE', 'STATUS', 'ASSIGNED TO', 'UPDATED'],
      found.map(({ id, assetTag, name, type, status, assignedToId, updatedAt }) => {
        return [id, assetTag, name, type, statusLabel(status), assignedToId, time(updatedAt)];
      }),
    ),
  hint: moreHint,
});

export const show = action({
  input: Named,
  work: async (runtime, { tenant, id }) => getAsset(await tenantContext(runtime, tenant), id),
  format: (asset, { card, time }) =>
    card({
      ...{ id: asset.id, tag: asset.assetTag, name: asset.name, type: asset.type, status: statusLabel(asset.status) },
      ...{ 'serial number': asset.serialNumber, manufacturer: asset.manufacturer, model: asset.model },
      ...{ location: asset.location, 'assigned to id': asset.assignedToId, notes: asset.notes },
      ...{ 'purchase date': asset.purchaseDate, 'purchase cost': asset.purchaseCost },
      'warranty expires': time(asset.warrantyExpiresAt),
      tags: asset.tags.join(', '),
      ...Object.fromEntries(Object.entries(asset.customFields).map(([name, value]) => [name, String(value)])),
      created: time(asset.createdAt),
      updated: time(asset.updatedAt),
    }),
});

export const create = action({
  input: NewAsset.omit({ assignedToId: true, customFields: true }).extend({
    tenant: z.string(),
    tags: TagText,
    assignedTo: UserReference.optional(),
    customField: customFieldPairs
      .transform((pairs): CustomFields => Object.fromEntries(pairs))
      .pipe(CustomFields)
      .optional(),
  }),
  work: async (runtime, { tenant, assignedTo, customField, ...asset }) => {
    const context = await activeTenantContext(runtime, tenant);
    const assignedToId = await findUserId(context, 'assignedTo', assignedTo);
    return createAsset(context, { ...asset, assignedToId, ...(await toCustomFields(context, customField)) });
  },
  format: (asset) =>
    `Created the asset ${asset.assetTag}, ${asset.name} (ID ${asset.id}), with status ${asset.status}.`,
  next: ({ id }, { tenant }) => [shell`assets show ${id} --tenant ${tenant}`],
});

export const update = action({
  input: updateInput(Named.shape, {
    ...changeable,
    tags: TagText,
    assignedTo: UserReference.nullish(),
    customField: customFieldPairs
      .transform((pairs): CustomFieldsGiven => {
        return Object.fromEntries(pairs.map(([name, value]) => [name, value === '' ? null : value]));
      })
      .pipe(CustomFieldsPatch)
      .optional(),
  }),
  work: async (runtime, { tenant, id, assignedTo, customField, ...patch }) => {
    const context = await tenantContext(runtime, tenant);
    const customFields = await toCustomFields(context, customField);
    return updateAsset(context, id, { ...patch, ...customFields, ...(await toAssigneePatch(context, assignedTo)) });
  },
  format: formatStatus,
});

export const deactivate = action({
  input: Named,
  work: async (runtime, { tenant, id }) =>
    updateAsset(await tenantContext(runtime, tenant), id, { status: 'RETIRED', assignedToId: null }),
  format: formatStatus,
});

export const activate = action({
  input: Named,
  work: async (runtime, { tenant, id }) => {
    const context = await tenantContext(runtime, tenant);
    const { assignedToId } = await getAsset(context, id);
    return updateAsset(context, id, { status: assignedToId === null ? 'IN_STOCK' : 'IN_USE' });
  },
  format: formatStatus,
});

const importFile = importAction(assetCsv);
const exportRows = exportAction(assetRows, assetCsv);

export { exportRows as export, importFile as import };

async function toAssigneePatch(context: Context, user: UserReference | null | undefined) {
  return user === undefined ? {} : { assignedToId: await findUserId(context, 'assignedTo', user ?? undefined) };
}

/** Converts the texts of custom fields to values of their types. */
async function toCustomFields(context: Context, texts: CustomFields | undefined) {
  return texts && { customFields: parseFieldTexts(await findFieldTypes(context, 'ASSET'), texts) };
}

function formatStatus({ assetTag, name, id, status }: Asset): string {
  return `The asset ${assetTag}, ${name} (ID ${id}), has status ${status}.`;
}

function splitAt(text: string, index: number): [string, string] {
  return [text.slice(0, index), text.slice(index + 1)];
}
