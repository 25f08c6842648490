import type { Asset, NewAsset } from '@itsm-api/contract';
import type { CsvResource } from '../csv/csv-import.ts';
import { type AssetLine, assetColumns } from './columns.ts';
import { assetRows, checkAssets, createAssets, listCustomFields } from './queries.ts';

/** The CSV export and import of assets. */
export const assetCsv: CsvResource<Asset, AssetLine, NewAsset> = {
  columns: assetColumns,
  rows: assetRows,
  customFields: listCustomFields,
  newOf: (line, assignedToId) => ({ ...line, assignedToId }),
  check: checkAssets,
  create: createAssets,
};
