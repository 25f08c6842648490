import { assetColumns } from '../../resources/assets/columns.ts';
import { templateOf } from '../lib/csv-template.ts';

export const template = templateOf(assetColumns);
