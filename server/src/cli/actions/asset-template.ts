import { assetColumns } from '../../resources/assets/columns.ts';
import { templateOf } from '../template.ts';

export const template = templateOf(assetColumns);
