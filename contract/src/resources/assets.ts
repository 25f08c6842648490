import * as z from 'zod';
import { BulkItemError, bulk, bulkItems, bulkResults, itemStatus } from '../bulk.ts';
import { readsOf } from '../changes.ts';
import { endpoints, filter, item, listQuery, meta, patch, repeatOnlyFilter, search, userFilter } from '../endpoint.ts';
import { fieldDiff } from '../field-diff.ts';
import {
  AssetId,
  CalendarDate,
  CustomFields,
  CustomFieldsPatch,
  ExternalId,
  Id,
  identifyingFilter,
  identifyingText,
  integerFromText,
  longText,
  responseText,
  StoredCustomFields,
  Timestamp,
  TimestampInput,
  trimmedText,
  UserId,
  versionFields,
} from '../fields.ts';
import { UserReference } from '../references.ts';
import { checkTags, Tag, Tags, tagChanges } from '../tags.ts';
import { customFieldFilter } from './custom-fields.ts';

export const AssetType = z
  .enum(['LAPTOP', 'DESKTOP', 'SERVER', 'MOBILE', 'NETWORK', 'PRINTER', 'SOFTWARE', 'OTHER'])
  .meta({ id: 'AssetType', description: 'The type of the asset.' });
export type AssetType = z.output<typeof AssetType>;

export const AssetStatus = z
  .enum(['ON_ORDER', 'IN_STOCK', 'IN_TRANSIT', 'IN_USE', 'MAINTENANCE', 'RETIRED', 'DISPOSED', 'LOST'])
  .meta({
    id: 'AssetStatus',
    description: 'The status of the asset. Every transition is allowed, except from DISPOSED, which is final.',
  });
export type AssetStatus = z.output<typeof AssetStatus>;

/**
 * Returns the statuses to which an asset can change. A DISPOSED asset can't change its status. All other assets can
 * change to any different status (docs/decisions/data-model.md).
 */
export function assetTransitions(from: AssetStatus): AssetStatus[] {
  return from === 'DISPOSED' ? [] : AssetStatus.options.filter((to) => to !== from);
}

const Name = trimmedText(1, 255).meta({ description: 'The name of the asset.' });
const normalized = 'The server converts it to the normalization form NFC, and rejects invisible characters.';
const AssetTag = identifyingText(1, 100).meta({
  description: `The inventory tag, unique in the workspace. It never changes. ${normalized}`,
});
const SerialNumber = identifyingText(1, 255).meta({
  description: `The serial number, or null if unknown. ${normalized}`,
});
const Manufacturer = trimmedText(1, 255).meta({ description: 'The manufacturer, or null if unknown.' });
const Model = trimmedText(1, 255).meta({ description: 'The model name, or null if unknown.' });
const Location = trimmedText(1, 255).meta({ description: 'The location, as free text, or null if unknown.' });
const AssignedToId = UserId.meta({
  description: 'The assigned user, or null if unassigned. You can assign only active users.',
});
const NamedAssignee = UserReference.meta({
  description: 'The assigned user, by id or email address, or null if unassigned. You can assign only active users.',
});
const PurchaseDate = CalendarDate.meta({ description: 'The date of purchase, or null if unknown.' });
const warranty = { description: 'When the warranty ends, or null if unknown.' };
const Notes = longText('Additional notes, or null if there are none');
const PurchaseCost = z
  .string()
  .regex(/^\d{1,12}(\.\d{1,2})?$/, {
    error:
      'must be a decimal number such as "1499.00", with at most 12 digits before the decimal point and at most 2 after it',
    abort: true,
  })
  .overwrite(withTwoDecimals)
  .meta({
    description:
      'The purchase price as a decimal without currency, or null if unknown. In responses, it has two decimal places.',
    example: '1499.00',
  });

function withTwoDecimals(cost: string): string {
  const [whole = '', cents = ''] = cost.split('.');
  return `${BigInt(whole)}.${cents.padEnd(2, '0')}`;
}

export const Asset = z
  .object({
    id: Id,
    name: responseText(Name),
    assetTag: responseText(AssetTag),
    serialNumber: responseText(SerialNumber).nullable(),
    type: AssetType,
    status: AssetStatus,
    manufacturer: responseText(Manufacturer).nullable(),
    model: responseText(Model).nullable(),
    location: responseText(Location).nullable(),
    assignedToId: AssignedToId.nullable(),
    purchaseDate: PurchaseDate.nullable(),
    purchaseCost: PurchaseCost.nullable(),
    warrantyExpiresAt: Timestamp.meta(warranty).nullable(),
    notes: responseText(Notes).nullable(),
    externalId: responseText(ExternalId).nullable(),
    tags: Tags,
    customFields: StoredCustomFields,
    ...versionFields,
  })
  .meta({
    id: 'Asset',
    description: 'A device, a license or another item that the workspace manages.',
    example: {
      id: 11,
      name: 'Laptop of the front desk',
      assetTag: 'LT-0311',
      serialNumber: 'PF4N2KD8',
      type: 'LAPTOP',
      status: 'IN_USE',
      manufacturer: 'Lenovo',
      model: 'ThinkPad T14',
      location: 'Berlin, floor 3',
      assignedToId: 2,
      purchaseDate: '2025-03-14',
      purchaseCost: '1499.00',
      warrantyExpiresAt: '2028-03-14T00:00:00.000Z',
      notes: null,
      externalId: null,
      tags: ['front-desk'],
      customFields: {},
      createdAt: '2025-03-14T09:30:00.000Z',
      updatedAt: '2026-01-08T12:00:00.000Z',
      etag: '"1-mk5eao00"',
    },
  });
export type Asset = z.output<typeof Asset>;

export const AssetChanges = fieldDiff(
  Asset.omit({ id: true, assetTag: true, etag: true, createdAt: true, updatedAt: true }),
).meta({
  id: 'AssetChanges',
  description: 'The changed fields of an asset. `updatedAt` always changes and is not included.',
  example: { status: { from: 'IN_USE', to: 'IN_STOCK' }, assignedToId: { from: 2, to: null } },
});
export type AssetChanges = z.output<typeof AssetChanges>;

/** The request body that creates an asset. The command line uses the same schema to validate imported assets. */
export const NewAsset = z
  .strictObject({
    name: Name,
    assetTag: AssetTag,
    serialNumber: SerialNumber.nullish(),
    type: AssetType,
    status: AssetStatus.nullish().meta({
      description: 'The status. The default is IN_USE if `assignedToId` is set, otherwise IN_STOCK.',
    }),
    manufacturer: Manufacturer.nullish(),
    model: Model.nullish(),
    location: Location.nullish(),
    assignedToId: NamedAssignee.nullish(),
    purchaseDate: PurchaseDate.nullish(),
    purchaseCost: PurchaseCost.nullish(),
    warrantyExpiresAt: TimestampInput.meta(warranty).nullish(),
    notes: Notes.nullish(),
    externalId: ExternalId.nullish(),
    tags: Tags.nullish(),
    customFields: CustomFields.nullish(),
  })
  .meta({
    id: 'NewAsset',
    description: 'A new asset.',
    example: {
      name: 'Laptop of the front desk',
      assetTag: 'LT-0311',
      serialNumber: 'PF4N2KD8',
      type: 'LAPTOP',
      assignedToId: 2,
    },
  });
export type NewAsset = z.output<typeof NewAsset>;

export const AssetPatch = patch({
  name: Name.optional(),
  serialNumber: SerialNumber.nullable().optional(),
  type: AssetType.optional(),
  status: AssetStatus.optional(),
  manufacturer: Manufacturer.nullable().optional(),
  model: Model.nullable().optional(),
  location: Location.nullable().optional(),
  assignedToId: NamedAssignee.nullable().optional(),
  purchaseDate: PurchaseDate.nullable().optional(),
  purchaseCost: PurchaseCost.nullable().optional(),
  warrantyExpiresAt: TimestampInput.meta(warranty).nullable().optional(),
  notes: Notes.nullable().optional(),
  externalId: ExternalId.nullable().optional(),
  ...tagChanges,
  customFields: CustomFieldsPatch.optional(),
})
  .superRefine(checkTags)
  .meta({
    id: 'AssetPatch',
    description:
      'Changes to an asset. Absent fields stay unchanged, and null clears a field. ' +
      'If you assign an asset without a status, its status becomes IN_USE. ' +
      "If you unassign an asset that is IN_USE, its status becomes IN_STOCK. `assetTag` can't change.",
    example: { assignedToId: 2 },
  });
export type AssetPatch = z.output<typeof AssetPatch>;

/** The fields by which an upsert finds the asset of an item. */
export const AssetMatch = z.enum(['assetTag', 'externalId']).meta({
  id: 'AssetMatch',
  description: 'The field by which the server finds the asset of an item. The default is `assetTag`.',
});
export type AssetMatch = z.output<typeof AssetMatch>;

export const AssetUpsertItem = z
  .strictObject({
    ...NewAsset.shape,
    name: Name.optional().meta({ description: 'The name of the asset. A new asset requires it.' }),
    assetTag: AssetTag.optional().meta({
      description: 'The inventory tag, unique in the workspace. It never changes. A new asset requires it.',
    }),
    type: AssetType.optional().meta({ description: 'The type of the asset. A new asset requires it.' }),
    status: AssetStatus.nullish().meta({
      description:
        'The status. If it is absent or null, an existing asset keeps its status, unless its assignee changes, ' +
        'and a new asset has the same default as in `NewAsset`.',
    }),
    customFields: CustomFieldsPatch.nullish(),
  })
  .meta({
    id: 'AssetUpsertItem',
    description:
      'An asset as another system knows it. If the asset exists, the rules of `AssetPatch` apply: ' +
      'absent fields stay unchanged, and null clears a field. Otherwise, the rules of `NewAsset` apply.',
    example: { assetTag: 'LT-0311', name: 'Laptop of the front desk', type: 'LAPTOP', serialNumber: 'PF4N2KD8' },
  });
export type AssetUpsertItem = z.output<typeof AssetUpsertItem>;

/** The body of a request that creates or updates many assets. */
export const AssetUpsert = z
  .strictObject({ assets: bulk(AssetUpsertItem, { uniqueIds: false }), matchBy: AssetMatch.optional() })
  .meta({
    id: 'AssetUpsert',
    description: 'The assets to create or update, each with a different value in the field that `matchBy` names.',
    example: {
      assets: [
        { assetTag: 'LT-0311', name: 'Laptop of the front desk', type: 'LAPTOP', location: 'Berlin, floor 4' },
        { assetTag: 'SW-0007', name: 'Switch in room 2.14', type: 'NETWORK', status: 'IN_USE' },
      ],
    },
  });
export type AssetUpsert = z.output<typeof AssetUpsert>;

export const UpsertOutcome = z.enum(['CREATED', 'UPDATED', 'UNCHANGED']).meta({
  id: 'UpsertOutcome',
  description: 'What the server did with the item. UNCHANGED means that the resource already had all values.',
});
export type UpsertOutcome = z.output<typeof UpsertOutcome>;

const UpsertedAsset = z.object({ status: itemStatus([201, 200]), result: UpsertOutcome, data: Asset }).meta({
  id: 'UpsertedAsset',
  description: 'An item whose asset was created (201), or was updated or already had all values (200).',
  example: { status: 201, result: 'CREATED', data: z.globalRegistry.get(Asset)?.example },
});

export const AssetUpsertResult = z.union([UpsertedAsset, BulkItemError]).meta({
  id: 'AssetUpsertResult',
  description: 'The result of one item. `status` shows whether the item succeeded.',
  example: z.globalRegistry.get(UpsertedAsset)?.example,
});
export type AssetUpsertResult = z.output<typeof AssetUpsertResult>;

export const AssetQuery = listQuery({
  status: filter(AssetStatus),
  type: filter(AssetType),
  assignedToId: userFilter(),
  externalId: filter(ExternalId),
  assetTag: repeatOnlyFilter(identifyingFilter(100)),
  serialNumber: repeatOnlyFilter(identifyingFilter(255)),
  tag: filter(Tag),
  customFields: customFieldFilter(),
  q: search('name, asset tag and serial number'),
});
export type AssetQuery = z.output<typeof AssetQuery>;

const AssetIdParam = z.object({ id: integerFromText(AssetId) });

export const assets = endpoints({
  ...readsOf('/assets', 'an asset', {
    ...{ row: Asset, query: AssetQuery, params: AssetIdParam },
    ...{ scope: 'assets:read', group: 'assets' },
    agents: {
      list: {
        tool: 'list_assets',
        when: 'Finds and counts assets.',
        short: ['id', 'assetTag', 'name', 'type', 'status', 'assignedToId', 'tags'],
      },
      get: { tool: 'get_asset', when: 'Returns every field.' },
    },
  }),
  create: {
    method: 'POST',
    path: '/assets',
    summary: 'Create an asset',
    description: 'Emits `asset.created`.',
    metadata: meta({ scope: 'assets:write', group: 'assets', proposable: 'assets_create' }),
    body: NewAsset,
    responses: { 201: item(Asset) },
  },
  upsertMany: {
    method: 'POST',
    path: '/assets/upsert',
    summary: 'Create or update many assets',
    description:
      `Creates or updates up to ${bulkItems} assets, for example from an inventory. ` +
      'The request counts once against the rate limits. Each item succeeds or fails independently. ' +
      'Of two items for the same asset, the second fails. ' +
      '`data` contains one result for each item: the HTTP status, and the asset or the error. ' +
      'If you repeat a request, the server changes nothing. Emits `asset.created` for each created asset.',
    metadata: meta({ scope: 'assets:write', group: 'assets', proposable: 'assets_upsertMany' }),
    body: AssetUpsert,
    responses: { 200: bulkResults(AssetUpsertResult) },
  },
  update: {
    method: 'PATCH',
    path: '/assets/:id',
    summary: 'Update an asset',
    metadata: meta({
      scope: 'assets:write',
      group: 'assets',
      proposable: 'assets_update',
      agent: {
        tool: 'update_asset',
        when: 'Assigns, unassigns or changes an asset. Changes only the fields that you pass.',
        short: ['id', 'assetTag', 'name', 'type', 'status', 'assignedToId', 'tags'],
      },
    }),
    pathParams: AssetIdParam,
    body: AssetPatch,
    responses: { 200: item(Asset) },
  },
});
