import { categoryColumns } from '../../../resources/ticket-categories/columns.ts';
import { csvTemplateAction } from '../../lib/csv-template.ts';

export const template = csvTemplateAction(categoryColumns);
