import type { Asset } from '@itsm-api/contract';
import type { TenantClient } from '../../database/tenant-client.ts';
import { csvLine } from '../csv.ts';
import { assetColumns } from './columns.ts';
import { namesOfCustomFields } from './queries.ts';

/** Assets in the columns that an import takes: what was exported can be imported elsewhere. */
export async function assetCsv(db: TenantClient): Promise<{ head: string; line(asset: Asset): string }> {
  const names = await namesOfCustomFields(db);
  return {
    head: csvLine([...assetColumns, ...names.map((name) => `customFields.${name}`)]),
    line: (asset) =>
      csvLine([...assetColumns.map((name) => asset[name]), ...names.map((name) => asset.customFields[name])]),
  };
}
