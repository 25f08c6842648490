import { noun } from '../lib/command.ts';
import { exportVerb } from '../lib/file-verbs.ts';

export const tasks = noun({
  verbs: { export: exportVerb('tasks') },
  actions: () => import('../actions/tasks.ts'),
});
