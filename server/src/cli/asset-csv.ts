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
