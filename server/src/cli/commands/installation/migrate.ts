import type { Single } from '../../lib/command.ts';

/** The command that migrates the database. Run it before you deploy servers that must not migrate at startup. */
export const migrate: Single = {
  verb: {
    summary: 'Migrate the database: create roles, apply migrations and create job queues',
    details: 'The server does the same when it starts.',
    examples: ['migrate', 'migrate --json'],
  },
  actions: () => import('../../actions/installation/migrate.ts'),
};
