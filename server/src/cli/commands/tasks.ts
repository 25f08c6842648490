import { noun } from '../command.ts';
import { exportVerb } from '../export-verb.ts';

export const tasks = noun({
  verbs: { export: exportVerb('tasks') },
  actions: () => import('../actions/tasks.ts'),
});
