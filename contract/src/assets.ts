import * as z from 'zod';
import { changesOf } from './changes.ts';
import {
  endpoints,
  filter,
  IdParam,
  idFilter,
  item,
  list,
  listQuery,
  meta,
  NoQuery,
  patch,
  search,
} from './endpoint.ts';
import { changesIn } from './field-changes.ts';
import {
  answered,
  CalendarDate,
  CustomFields,
  CustomFieldsPatch,
  Id,
  longText,
  StoredCustomFields,
  Timestamp,
  TimestampInput,
  timestamps,
  trimmedText,
} from './fields.ts';

export const AssetType = z
  .enum(['LAPTOP', 'DESKTOP', 'SERVER', 'MOBILE', 'NETWORK', 'PRINTER', 'SOFTWARE', 'OTHER'])
  .meta({ id: 'AssetType', description: 'What kind of asset it is.' });
export type AssetType = z.output<typeof AssetType>;

export const AssetStatus = z
  .enum(['ON_ORDER', 'IN_STOCK', 'IN_TRANSIT', 'IN_USE', 'MAINTENANCE', 'RETIRED', 'DISPOSED', 'LOST'])
  .meta({ id: 'AssetStatus', description: 'Where it is in its life. DISPOSED is final; every other move is free.' });
export type AssetStatus = z.output<typeof AssetStatus>;

/** Where an asset may go from a status: anywhere, but out of DISPOSED (docs/decisions/data-model.md). */
export function assetTransitions(from: AssetStatus): AssetStatus[] {
  return from === 'DISPOSED' ? [] : AssetStatus.options.filter((to) => to !== from);
}

const Name = trimmedText(1, 255).meta({ description: 'What it is called.' });
const AssetTag = trimmedText(1, 100).meta({ description: 'The tag by which the workspace knows it, unique there.' });
const SerialNumber = trimmedText(1, 255).meta({ description: "The manufacturer's number of this very thing." });
const Manufacturer = trimmedText(1, 255).meta({ description: 'Who made it.' });
const Model = trimmedText(1, 255).meta({ description: 'Which of their models it is.' });
const Location = trimmedText(1, 255).meta({ description: 'Where it is, in words.' });
const AssignedToId = Id.meta({
  description: 'The user who holds it; null while nobody does. One newly named is active.',
});
const PurchaseDate = CalendarDate.meta({ description: 'The day on which it was bought.' });
const warranty = { description: 'When its warranty ends.' };
const Notes = longText('What else is to be known of it');
const PurchaseCost = z
  .string()
  .regex(/^\d{1,12}(\.\d{1,2})?$/, {
    error: 'must be a decimal such as "1499.00": at most 12 digits, then at most 2',
    abort: true,
  })
  .overwrite(withTwoDecimals)
  .meta({
    description: 'What it cost, as a decimal without a currency; answered with two decimals.',
    example: '1499.00',
  });

function withTwoDecimals(cost: string): string {
  const [whole = '', cents = ''] = cost.split('.');
  return `${BigInt(whole)}.${cents.padEnd(2, '0')}`;
}

export const Asset = z
  .object({
    id: Id,
    name: answered(Name),
    assetTag: answered(AssetTag),
    serialNumber: answered(SerialNumber).nullable(),
    type: AssetType,
    status: AssetStatus,
    manufacturer: answered(Manufacturer).nullable(),
    model: answered(Model).nullable(),
    location: answered(Location).nullable(),
    assignedToId: AssignedToId.nullable(),
    purchaseDate: PurchaseDate.nullable(),
    purchaseCost: PurchaseCost.nullable(),
    warrantyExpiresAt: Timestamp.meta(warranty).nullable(),
    notes: answered(Notes).nullable(),
    customFields: StoredCustomFields,
    ...timestamps,
  })
  .meta({
    id: 'Asset',
    description: 'A device, a licence or another thing the workspace looks after.',
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
      customFields: {},
      createdAt: '2025-03-14T09:30:00.000Z',
      updatedAt: '2026-01-08T12:00:00.000Z',
    },
  });
export type Asset = z.output<typeof Asset>;

export const AssetChanges = changesIn(Asset.omit({ id: true, assetTag: true, createdAt: true, updatedAt: true })).meta({
  id: 'AssetChanges',
  description: 'What changed in an asset: each field that differs. `updatedAt` always does, and is not among them.',
  example: { status: { from: 'IN_USE', to: 'IN_STOCK' }, assignedToId: { from: 2, to: null } },
});
export type AssetChanges = z.output<typeof AssetChanges>;

/** The command line takes the same. */
export const NewAsset = z
  .strictObject({
    name: Name,
    assetTag: AssetTag,
    serialNumber: SerialNumber.nullish(),
    type: AssetType,
    status: AssetStatus.nullish().meta({
      description: 'Where it is in its life: IN_USE when absent and it is assigned, else IN_STOCK.',
    }),
    manufacturer: Manufacturer.nullish(),
    model: Model.nullish(),
    location: Location.nullish(),
    assignedToId: AssignedToId.nullish(),
    purchaseDate: PurchaseDate.nullish(),
    purchaseCost: PurchaseCost.nullish(),
    warrantyExpiresAt: TimestampInput.meta(warranty).nullish(),
    notes: Notes.nullish(),
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
  assignedToId: AssignedToId.nullable().optional(),
  purchaseDate: PurchaseDate.nullable().optional(),
  purchaseCost: PurchaseCost.nullable().optional(),
  warrantyExpiresAt: TimestampInput.meta(warranty).nullable().optional(),
  notes: Notes.nullable().optional(),
  customFields: CustomFieldsPatch.optional(),
}).meta({
  id: 'AssetPatch',
  description:
    'Absent fields stay as they are; null clears. Assigning without a status means IN_USE; ' +
    'unassigning an asset that is IN_USE means IN_STOCK. `assetTag` cannot change.',
  example: { assignedToId: 2 },
});
export type AssetPatch = z.output<typeof AssetPatch>;

export const AssetQuery = listQuery({
  status: filter(AssetStatus),
  type: filter(AssetType),
  assignedToId: idFilter(),
  q: search('name, asset tag and serial number'),
});
export type AssetQuery = z.output<typeof AssetQuery>;

export const assets = endpoints({
  list: {
    method: 'GET',
    path: '/assets',
    summary: 'List assets',
    description: 'Newest first. Filters combine with AND; the values of one filter with OR.',
    metadata: meta({
      scope: 'assets:read',
      group: 'assets',
      agent: {
        tool: 'list_assets',
        when: 'Finds and counts assets.',
        short: ['id', 'assetTag', 'name', 'type', 'status', 'assignedToId'],
      },
    }),
    query: AssetQuery,
    responses: { 200: list(Asset) },
  },
  changes: changesOf('/assets', Asset, meta({ scope: 'assets:read', group: 'assets' })),
  get: {
    method: 'GET',
    path: '/assets/:id',
    summary: 'Get an asset',
    metadata: meta({ scope: 'assets:read', group: 'assets', agent: { tool: 'get_asset', when: 'All of one asset.' } }),
    pathParams: IdParam,
    query: NoQuery,
    responses: { 200: item(Asset) },
  },
  create: {
    method: 'POST',
    path: '/assets',
    summary: 'Create an asset',
    description: 'Emits `asset.created`.',
    metadata: meta({ scope: 'assets:write', group: 'assets' }),
    query: NoQuery,
    body: NewAsset,
    responses: { 201: item(Asset) },
  },
  update: {
    method: 'PATCH',
    path: '/assets/:id',
    summary: 'Update an asset',
    metadata: meta({
      scope: 'assets:write',
      group: 'assets',
      agent: {
        tool: 'update_asset',
        when: 'Hands over, takes back, changes; only the fields given change.',
        short: ['id', 'assetTag', 'name', 'type', 'status', 'assignedToId'],
      },
    }),
    pathParams: IdParam,
    query: NoQuery,
    body: AssetPatch,
    responses: { 200: item(Asset) },
  },
});
