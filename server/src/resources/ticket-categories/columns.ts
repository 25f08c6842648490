import { NewCategoryConfig } from '@itsm-api/contract';
import type { CsvColumns } from '../csv/csv-columns.ts';

/** The CSV format of ticket categories. */
export const ticketCategoryColumns: CsvColumns<NewCategoryConfig> = {
  resource: 'categories',
  one: 'category',
  line: NewCategoryConfig,
  names: NewCategoryConfig.keyof().options,
  needed: ['id', 'name'],
  unique: 'id',
  hasCustomFields: false,
  example: { id: 'network/vpn', name: 'VPN', parentId: 'network', category: 'NETWORK' },
};
