import type { Single } from '../lib/command.ts';

/** Migrates the database before deployments where the server must not do that at startup. */
export const migrate: Single = {
  verb: {
    summary: 'Migrate the database: create roles, apply migrations and create job queues',
    details: 'The server does the same when it starts.',
    examples: ['migrate', 'migrate --json'],
  },
  actions: () => import('../actions/migrate.ts'),
};
