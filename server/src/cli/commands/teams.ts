import { common, noun, type Parameter } from '../lib/command.ts';
import { exportVerb } from '../lib/file-verbs.ts';
import { clearing } from '../lib/update.ts';

const id = { flags: '<id>', about: 'ID of the team', values: 'teams' } as const;

const name = { flags: '--name <name>', about: 'name of the team, unique in the tenant' };
const fields = [
  { flags: '--description <text>' },
  { flags: '--members <users>', about: 'email addresses or IDs of all members, separated by commas', values: 'users' },
] satisfies Parameter[];

export const teams = noun({
  verbs: {
    list: {
      summary: 'List the teams of a tenant, newest first',
      options: [common.tenant, common.limit, common.utc],
      examples: ['teams list --tenant Acme'],
    },
    show: {
      summary: 'Show a team and the IDs of its members',
      arguments: [id],
      options: [common.tenant, common.utc],
      examples: ['teams show 3 --tenant Acme'],
    },
    create: {
      summary: 'Create a team',
      options: [common.tenant, { ...name, required: true }, ...fields],
      examples: ['teams create --tenant Acme --name Network --members ada@acme.example,jonas@acme.example'],
    },
    update: {
      summary: 'Update a team',
      details: `${clearing.replace('notes', 'description')} \`--members\` replaces all members.`,
      arguments: [id],
      options: [common.tenant, name, ...fields],
      examples: [
        'teams update 3 --tenant Acme --members ada@acme.example',
        "teams update 3 --tenant Acme --members ''",
      ],
    },
    deactivate: {
      summary: "Deactivate a team: requests can't set it as the team of a ticket",
      details: 'Tickets keep an inactive team.',
      arguments: [id],
      options: [common.tenant],
      examples: ['teams deactivate 3 --tenant Acme'],
    },
    activate: {
      summary: 'Reactivate a team',
      arguments: [id],
      options: [common.tenant],
      examples: ['teams activate 3 --tenant Acme'],
    },
    export: exportVerb('teams'),
  },
  actions: () => import('../actions/teams.ts'),
});
