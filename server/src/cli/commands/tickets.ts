import { noun } from '../lib/command.ts';
import { exportVerb } from '../lib/file-verbs.ts';

export const tickets = noun({
  verbs: { export: exportVerb('tickets') },
  actions: () => import('../actions/tickets.ts'),
});
