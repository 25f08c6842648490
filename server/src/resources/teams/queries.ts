import type { NewTeam, Team } from '@itsm-api/contract';
import type { Prisma } from '../../../generated/prisma/client.ts';
import { withEtag } from '../../shared/etag.ts';
import { serializeId, serializeTimestamps } from '../../shared/serialize.ts';
import { namedNoun } from '../nouns/named-noun.ts';
import type { Context } from '../shared/context.ts';
import { checkUsers, listed } from '../shared/foreign-keys.ts';
import { toNameKey } from '../shared/name-key.ts';

const include = { members: { select: { userId: true }, orderBy: { userId: 'asc' } } } satisfies Prisma.TeamInclude;

export const teams = namedNoun<Prisma.TeamGetPayload<{ include: typeof include }>, Team, NewTeam>({
  ...{ table: 'teams', model: 'team', one: 'team', include },
  columns: ['description', 'active'],
  parts: {
    check: (context, { memberIds }, before) => checkUsers(context, listed('memberIds', memberIds, before?.memberIds)),
    merge: (before, { memberIds = before.memberIds, ...fields }) => {
      return { ...before, ...fields, memberIds: [...new Set(memberIds)].sort((a, b) => a - b) };
    },
    async write({ db: { teamMember } }, teamId, { before, after }) {
      const [old, current] = [before?.memberIds ?? [], [...new Set(after.memberIds)]];
      const [removed, added] = [old.filter((id) => !current.includes(id)), current.filter((id) => !old.includes(id))];
      await teamMember.deleteMany({ where: { teamId, userId: { in: removed } } });
      await teamMember.createMany({ data: added.map((userId) => ({ teamId, userId })) });
    },
  },
  audited: { values: ['active', 'memberIds'], names: ['name', 'description'] },
  present: (row) =>
    withEtag(row.version, {
      id: serializeId(row.id),
      name: row.name,
      description: row.description,
      active: row.active,
      memberIds: row.members.map(({ userId }) => serializeId(userId)),
      ...serializeTimestamps(row),
    }),
});

/** Returns the teams whose names contain all words, regardless of case, in the order of their names. */
export async function searchTeams({ db }: Pick<Context, 'db'>, words: string, take: number) {
  const rows = await db.team.findMany({
    where: {
      AND: toNameKey(words)
        .split(/\s+/)
        .map((word) => ({ nameKey: { contains: word } })),
    },
    select: { id: true, name: true, description: true, active: true },
    orderBy: { nameKey: 'asc' },
    take,
  });
  return rows.map(({ id, ...team }) => ({ id: serializeId(id), ...team }));
}

/** Returns the ids of the teams that contain a user, in ascending order. Includes inactive teams. */
export async function listTeamIds({ db }: Pick<Context, 'db'>, userId: bigint): Promise<number[]> {
  const rows = await db.teamMember.findMany({
    where: { userId },
    select: { teamId: true },
    orderBy: { teamId: 'asc' },
  });
  return rows.map(({ teamId }) => serializeId(teamId));
}
