import type { Asset } from '@itsm-api/contract';
import { stringify } from 'csv-stringify/sync';
import { assetColumns } from '../asset-columns.ts';

/** Prints a file to begin with, whatever the database is. */
export async function template(): Promise<void> {
  process.stdout.write(assetTemplate());
}

/** A file to begin with: the columns, and an asset that shows what they hold. */
function assetTemplate(): string {
  const example: Partial<Record<keyof Asset, string>> = {
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
  };
  return stringify([
    [...assetColumns, 'customFields.costCentre'],
    [...assetColumns.map((name) => example[name]), '4711'],
  ]);
}
