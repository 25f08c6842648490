import type { Single } from '../../lib/command.ts';

/** The command that creates the demo workspace in an empty database, or a workspace of any size for load tests. */
export const seed: Single = {
  verb: {
    summary: 'Create a demo workspace and print its API key on stdout',
    details:
      'Without options, the command creates the demo workspace in an empty database. With --tickets, it adds a workspace ' +
      'of that size to any database. Only this command shows the key.',
    options: [
      { flags: '--tickets <count>', about: 'number of tickets to add to those of the demo, such as 500, 100k or 1m' },
      { flags: '--name <name>', about: 'name of the workspace (default: Demo and the number of tickets)' },
    ],
    examples: ['seed', 'seed --tickets 100k', 'seed --tickets 1m --name Umbrella'],
  },
  actions: () => import('../../actions/installation/seed.ts'),
};
