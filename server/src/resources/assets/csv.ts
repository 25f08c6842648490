import { type Asset, type AssetUpsertItem, NewAsset } from '@itsm-api/contract';
import type { CsvResource } from '../csv/csv-import.ts';
import { type AssetLine, assetColumns } from './columns.ts';
import { checkAssets, importAssets } from './import-assets.ts';
import { assetRows, listCustomFields, presentAsset } from './queries.ts';

/** The CSV export and import of assets. */
export const assetCsv: CsvResource<Asset, AssetLine, AssetUpsertItem> = {
  columns: assetColumns,
  rows: assetRows,
  customFields: listCustomFields,
  findRows: async (db, values) => {
    const assetTags = values.flatMap((value) => NewAsset.shape.assetTag.safeParse(value).data ?? []);
    return (await db.asset.findMany({ where: { assetTag: { in: assetTags } } })).map(presentAsset);
  },
  inputOf: ({ assignedToId: _, ...line }, userId) => ({
    ...line,
    ...(userId !== undefined && { assignedToId: userId }),
  }),
  check: checkAssets,
  write: importAssets,
};
