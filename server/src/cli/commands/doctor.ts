import type { Single } from '../lib/command.ts';

export const doctor: Single = {
  verb: {
    summary:
      'Look for what is wrong with a running installation, and say what to do: PostgreSQL and what stands before it, ' +
      'roles and row-level security, migrations, Redis, keys, clock, due deliveries, and every total that is kept',
    details: 'Exit code 1 when something is wrong.',
    examples: ['doctor', 'doctor --json'],
  },
  actions: () => import('../actions/doctor.ts'),
};
