import { taskRows } from '../resources/tasks/queries.ts';
import type { Noun } from './command.ts';
import { exportOf } from './export.ts';

export const tasks: Noun = { verbs: { export: exportOf(taskRows) } };
