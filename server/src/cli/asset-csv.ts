import type { Asset } from '@itsm-api/contract';
import { stringify } from 'csv-stringify/sync';
import type { TenantClient } from '../database/tenant-client.ts';
import { namesOfCustomFields } from '../resources/assets/queries.ts';
import { assetColumns } from './asset-columns.ts';
import type { Format } from './export.ts';

/** Assets in the columns that `assets import` takes: what was exported can be imported elsewhere. */
export async function assetCsv(db: TenantClient): Promise<Format<Asset>> {
  const names = await namesOfCustomFields(db);
  return {
    head: stringify([[...assetColumns, ...names.map((name) => `customFields.${name}`)]]),
    line: (asset) =>
      stringify([[...assetColumns.map((name) => asset[name]), ...names.map((name) => asset.customFields[name])]]),
  };
}

/** A file to begin with: the columns, and an asset that shows what they hold. */
export function assetTemplate(): string {
  const example: Partial<Record<keyof Asset, string>> = {
    name: 'Laptop of the front desk',
    assetTag: 'LT-0311',
    serialNumber: 'PF3K9XZ1',
    type: 'LAPTOP',
    status: 'IN_USE',
    manufacturer: 'Lenovo',
    model: 'ThinkPad T14',
    location: 'Berlin, floor 3',
    assignedToId: 'ada@acme.example',
    purchaseDate: '2025-03-14',
    purchaseCost: '1499.00',
    warrantyExpiresAt: '2028-03-14T00:00:00Z',
  };
  return stringify([
    [...assetColumns, 'customFields.costCentre'],
    [...assetColumns.map((name) => example[name]), '4711'],
  ]);
}
