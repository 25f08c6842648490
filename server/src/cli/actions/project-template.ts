import { projectColumns } from '../../resources/projects/columns.ts';
import { templateOf } from '../template.ts';

export const template = templateOf(projectColumns);
