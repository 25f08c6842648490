import { noun } from '../../lib/command.ts';

const file = {
  flags: '--cells <file>',
  about: 'file that lists the cells, in the format of deploy/cells.yaml',
  fallback: 'deploy/cells.yaml',
} as const;

export const cells = noun({
  verbs: {
    status: {
      summary: 'Show the state of every cell, and the cell for the next tenant',
      details:
        'Prints the last migration, which identifies the release, the number of tenants and tickets, the size of the ' +
        'database, the connections, the age of the oldest due delivery and the replication lag. The next tenant goes to ' +
        "the cell with the smallest database. The exit code is 1 if the command can't read a cell.",
      options: [file],
      examples: ['cells status', 'cells status --json'],
    },
    find: {
      summary: 'Find the cell of a tenant',
      details:
        "During a move, a tenant is in two cells. The exit code is 1 if no cell has the tenant, or if the command can't " +
        'read a cell.',
      arguments: [{ flags: '<tenant>', about: 'name or ID of the tenant' }],
      options: [file],
      examples: ['cells find Acme'],
    },
  },
  actions: () => import('../../actions/installation/cells.ts'),
});
