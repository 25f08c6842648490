import { projectColumns } from '../../resources/projects/columns.ts';
import { templateOf } from '../lib/csv-template.ts';

export const template = templateOf(projectColumns);
