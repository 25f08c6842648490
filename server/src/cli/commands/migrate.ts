import type { Single } from '../lib/command.ts';

/** The command that migrates the database. Use it before a deployment whose servers must not migrate at startup. */
export const migrate: Single = {
  verb: {
    summary: 'Migrate the database: create roles, apply migrations and create job queues',
    details: 'The server does the same when it starts.',
    examples: ['migrate', 'migrate --json'],
  },
  actions: () => import('../actions/migrate.ts'),
};
