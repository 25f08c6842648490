import type { Single } from '../../lib/command.ts';

export const doctor: Single = {
  verb: {
    summary: 'Check a running installation, and report each problem with its solution',
    details:
      'Checks PostgreSQL and its connection pooler, roles, row-level security, migrations, Redis, encryption keys, the ' +
      'clock, due deliveries, the store of attachments and stored totals. Changes nothing. The exit code is 1 if something ' +
      'is wrong.',
    examples: ['doctor', 'doctor --json'],
  },
  actions: () => import('../../actions/installation/doctor.ts'),
};
