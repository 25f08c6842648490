import { noun } from '../command.ts';
import { exportVerb } from '../export-verb.ts';

export const tickets = noun({
  verbs: { export: exportVerb('tickets') },
  actions: () => import('../actions/tickets.ts'),
});
