import type { Asset } from '@itsm-api/contract';
import { csvLine } from '../csv.ts';
import { assetColumns } from './columns.ts';

/** A file to begin an import with, as CSV: the columns, and an asset that shows what they hold. */
export function assetTemplate(): string {
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
  return (
    csvLine([...assetColumns, 'customFields.costCentre']) +
    csvLine([...assetColumns.map((name) => example[name]), '4711'])
  );
}
