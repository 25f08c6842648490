import type { Single } from '../lib/command.ts';

/** The demo workspace of a first start, for a database of one's own; or one of any size beside what is there. */
export const seed: Single = {
  verb: {
    summary: 'Make a demo workspace, and print its key, alone, on stdout: the one time that it is shown',
    details:
      'Without options it fills an empty database with the workspace of a first start. With --tickets it makes a workspace ' +
      'of that size, whatever else there is.',
    options: [
      { flags: '--tickets <count>', about: 'how many older tickets it has beside those of the demo: 500, 100k, 1m' },
      { flags: '--name <name>', about: 'what the workspace is called (default: Demo, and how many)' },
    ],
    examples: ['seed', 'seed --tickets 100k', 'seed --tickets 1m --name Umbrella'],
  },
  actions: () => import('../actions/seed.ts'),
};
