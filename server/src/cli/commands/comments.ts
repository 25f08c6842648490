import { noun } from '../lib/command.ts';
import { exportVerb } from '../lib/file-verbs.ts';

export const comments = noun({
  verbs: { export: exportVerb('comments') },
  actions: () => import('../actions/comments.ts'),
});
