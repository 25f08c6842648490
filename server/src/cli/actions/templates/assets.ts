import { assetColumns } from '../../../resources/assets/columns.ts';
import { csvTemplateAction } from '../../lib/csv-template.ts';

export const template = csvTemplateAction(assetColumns);
