import type { Single } from '../lib/command.ts';

/** What the server does when it starts, for those who don't want it to, or whose server may not. */
export const migrate: Single = {
  verb: {
    summary: 'Bring the database up to date, as the server does when it starts: roles, migrations, job queues',
    examples: ['migrate', 'migrate --json'],
  },
  actions: () => import('../actions/migrate.ts'),
};
