import { maxTeamMembers, NewTeam, Team, TeamPatch, TeamQuery } from '@itsm-api/contract';
import { administered, declareNoun } from './noun.ts';

export const teams = declareNoun({
  ...{ path: 'teams', one: 'team', many: 'teams', audit: 'team', order: 'newest first' },
  schemas: { row: Team, create: NewTeam, update: TeamPatch, query: TeamQuery },
  ...{ key: ['id'], example: '3', title: ['name'] },
  fields: {
    name: { label: 'Name', about: 'name of the team, unique in the tenant' },
    description: { label: 'Description', lines: 4 },
    memberIds: {
      ...{ label: 'Members', option: '--members <users>', suggest: 'users', lines: 8 },
      about: 'email addresses or IDs of all members, separated by commas',
      hint: 'Agents and administrators. To add other users, use the command line.',
    },
    active: { label: 'Active: requests can set this team as the team of a ticket' },
  },
  table: ['id', 'name', { title: 'Members', cell: ({ memberIds }) => memberIds.length }, 'active', 'updatedAt'],
  list: ['name', 'active', { title: 'Members', cell: ({ memberIds }) => memberIds.length }, 'updatedAt'],
  people: { title: 'Members', ids: ({ memberIds }) => memberIds },
  lead: 'The teams of this workspace, newest first. A ticket can belong to one active team.',
  verbs: {
    show: { summary: 'Show a team and the IDs of its members' },
    create: { examples: ['--name Network --members ada@acme.example,jonas@acme.example'] },
    update: {
      details: '`--members` replaces all members.',
      examples: ['3 --members ada@acme.example', "3 --members ''"],
    },
    deactivate: {
      summary: "Deactivate a team: requests can't set it as the team of a ticket",
      details: 'Tickets keep an inactive team.',
    },
  },
  outcome: ({ memberIds: { length } }) => ` with ${length} ${length === 1 ? 'member' : 'members'}`,
  async load() {
    const [{ teams }, { userListConverter }] = await Promise.all([
      import('../resources/teams/queries.ts'),
      import('./user-converter.ts'),
    ]);
    return administered({ ...teams, converters: { memberIds: userListConverter('memberIds', maxTeamMembers) } });
  },
});
