import type { Single } from '../../lib/command.ts';

/** The command that creates the demo workspace, or a workspace of any size for load tests. */
export const seed: Single = {
  verb: {
    summary: 'Create a demo workspace and print its API key on stdout',
    details:
      'Without options, the command creates the demo workspace. With --tickets, it creates a workspace of that size. ' +
      'Other workspaces do not change. Only this command shows the key.',
    options: [
      { flags: '--tickets <count>', about: 'number of tickets to add to those of the demo, such as 500, 100k or 1m' },
      {
        flags: '--name <name>',
        about: 'name of the workspace (default: Acme Corporation, or with --tickets, Demo and their number)',
      },
    ],
    examples: ['seed', 'seed --tickets 100k', 'seed --tickets 1m --name Umbrella'],
  },
  actions: () => import('../../actions/installation/seed.ts'),
};
