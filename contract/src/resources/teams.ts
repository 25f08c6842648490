import * as z from 'zod';
import { readsOf } from '../changes.ts';
import { listQuery } from '../endpoint.ts';
import { Id, responseText, trimmedText, UserId, versionFields } from '../fields.ts';
import { UserQuery } from './users.ts';

/** The maximum number of members of a team. */
export const maxTeamMembers = 500;

const Name = trimmedText(1, 100).meta({
  description: 'The name of the team, unique in the workspace regardless of case, also among inactive teams.',
});
const Description = trimmedText(1, 1000).meta({ description: 'What the team does, or null if not set.' });
const Active = z
  .boolean()
  .meta({ description: 'Whether the team is active. You can set only active teams as the team of a ticket.' });
const MemberIds = z.array(UserId).meta({
  description: `The users in the team, in ascending order: at most ${maxTeamMembers} ids. Inactive users stay members.`,
});

export const Team = z
  .object({
    id: Id,
    name: responseText(Name),
    description: responseText(Description).nullable(),
    active: Active,
    memberIds: MemberIds,
    ...versionFields,
  })
  .meta({
    id: 'Team',
    description: 'A team of users, which tickets can belong to.',
    example: {
      id: 1,
      name: 'Service desk',
      description: 'First contact for all incidents and requests.',
      active: true,
      memberIds: [1, 2],
      createdAt: '2025-02-01T08:00:00.000Z',
      updatedAt: '2025-02-01T08:00:00.000Z',
      etag: '"1-m6lwkjk0"',
    },
  });
export type Team = z.output<typeof Team>;

/** A new team. */
export const NewTeam = z.strictObject({
  name: Name,
  description: Description.nullish(),
  memberIds: MemberIds.optional(),
});
export type NewTeam = z.output<typeof NewTeam>;

/** Changes to a team. */
export const TeamPatch = NewTeam.extend({ active: Active }).partial();
export type TeamPatch = z.output<typeof TeamPatch>;

export const TeamQuery = listQuery({ active: UserQuery.shape.active });
export type TeamQuery = z.output<typeof TeamQuery>;

export const teams = readsOf('/teams', 'a team', { row: Team, query: TeamQuery, scope: 'users:read', group: 'users' });
