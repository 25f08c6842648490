import { projectColumns } from '../../../resources/projects/columns.ts';
import { csvTemplateAction } from '../../lib/csv-template.ts';

export const template = csvTemplateAction(projectColumns);
