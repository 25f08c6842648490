import { AssetUpsertItem, NewAsset } from '@itsm-api/contract';
import type * as z from 'zod';
import type { CsvColumns } from '../csv/csv-columns.ts';
import { TagText } from '../shared/tags.ts';
import { UserReference } from '../users/user-reference.ts';

const AssetLine = NewAsset.extend({ assignedToId: UserReference.nullish(), tags: TagText });
const AssetChangeLine = AssetUpsertItem.extend({
  assetTag: NewAsset.shape.assetTag,
  assignedToId: UserReference.nullish(),
  tags: TagText,
});
export type AssetLine = z.output<typeof AssetChangeLine>;

/** The CSV format of assets. */
export const assetColumns: CsvColumns<AssetLine> = {
  resource: 'assets',
  one: 'asset',
  line: AssetLine,
  changeLine: AssetChangeLine,
  names: AssetLine.omit({ customFields: true }).keyof().options,
  needed: ['name', 'assetTag', 'type'],
  unique: 'assetTag',
  uniqueIfSet: 'externalId',
  user: 'assignedToId',
  hasCustomFields: true,
  preview: {
    ...{ Tag: 'assetTag', Name: 'name', Type: 'type', Status: 'status', 'Assigned to': 'assignedToId' },
    ...{ Location: 'location', 'Custom fields': 'customFields' },
  },
  example: {
    name: 'Laptop of the front desk',
    assetTag: 'LT-0311',
    serialNumber: 'PF4N2KD8',
    type: 'LAPTOP',
    status: 'IN_USE',
    manufacturer: 'Lenovo',
    model: 'ThinkPad T14',
    location: 'Berlin, floor 3',
    assignedToId: 'ada@acme.example',
    purchaseDate: '2025-03-14',
    purchaseCost: '1499.00',
    warrantyExpiresAt: '2028-03-14T00:00:00Z',
    tags: 'front-desk,leased',
    'customFields.costCentre': '4711',
  },
};
