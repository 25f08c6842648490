import type { NewTeam, Team, TeamPatch, TeamQuery } from '@itsm-api/contract';
import type { Prisma } from '../../../generated/prisma/client.ts';
import { createUnique } from '../../database/client/unique-violation.ts';
import { lockRow } from '../../database/row-lock.ts';
import { notFound, takenBy } from '../../shared/errors.ts';
import { withEtag } from '../../shared/etag.ts';
import { serializeId, serializeTimestamps } from '../../shared/serialize.ts';
import { auditChanges, recordAudit } from '../audit/audit-entry.ts';
import { type Context, transaction } from '../shared/context.ts';
import { checkUsers, listed } from '../shared/foreign-keys.ts';
import { anyOfActive, type Page, readPage } from '../shared/lists.ts';
import { toNameKey } from '../shared/name-key.ts';
import { changeVersioned } from '../shared/versioned-change.ts';
import { rowsOf } from '../sync/change-feed.ts';

const withMembers = {
  include: { members: { select: { userId: true }, orderBy: { userId: 'asc' } } },
} satisfies Prisma.TeamDefaultArgs;

/** Returns a page of teams, newest first (spec §4). */
export function listTeams({ db }: Context, query: TeamQuery): Promise<Page<Team>> {
  const where = anyOfActive(query.active);
  return readPage(query, {
    count: () => db.team.count({ where }),
    find: async (range) => {
      const rows = await db.team.findMany({ where, orderBy: { id: 'desc' }, ...range, ...withMembers });
      return rows.map(presentTeam);
    },
  });
}

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

/** Functions that read teams for incremental sync and exports. */
export const teamRows = rowsOf('teams', (db, page) => db.team.findMany({ ...page, ...withMembers }), presentTeam);

/** Returns one team. @throws ApiError NOT_FOUND */
export async function getTeam({ db }: Pick<Context, 'db'>, id: number): Promise<Team> {
  const row = await db.team.findFirst({ where: { id }, ...withMembers });
  if (row === null) throw notFound('team');
  return presentTeam(row);
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

/** Creates an active team. @throws ApiError INVALID_REFERENCE, or VALIDATION_ERROR if another team has the same name */
export function createTeam(context: Context, { name, description = null, memberIds = [] }: NewTeam): Promise<Team> {
  return transaction(context, async (context) => {
    await checkUsers(context, listed('memberIds', memberIds));
    const data = { name, nameKey: toNameKey(name), description };
    const { id } = await createUnique('name', takenBy('team', name), () => context.db.team.create({ data }));
    await addMembers(context, id, memberIds);
    const team = await getTeam(context, serializeId(id));
    const changes = auditChanges({}, team, stored);
    await recordAudit(context, { action: 'team.created', target: targetOf(team), changes });
    return team;
  });
}

/**
 * Updates a team. If the patch changes nothing, `updatedAt` stays the same.
 * @throws ApiError NOT_FOUND, PRECONDITION_FAILED, INVALID_REFERENCE, or VALIDATION_ERROR if another team has the same
 * name
 */
export function updateTeam(context: Context, id: number, patch: TeamPatch): Promise<Team> {
  return changeVersioned(context, {
    lock: ({ db }) => lockRow(db, 'teams', id),
    read: (context) => getTeam(context, id),
    merge: (before) => {
      const { memberIds = before.memberIds, ...fields } = patch;
      return { ...before, ...fields, memberIds: [...new Set(memberIds)].sort((a, b) => a - b) };
    },
    write: async (context, { before, after }) => {
      const { db } = context;
      await checkUsers(context, listed('memberIds', patch.memberIds, before.memberIds));
      const { name, description, active, memberIds } = after;
      // A change of the members alone also updates the row, so that the team gets a new version.
      const data = { name, nameKey: toNameKey(name), description, active, updatedAt: new Date() };
      await createUnique('name', takenBy('team', name), () => db.team.updateMany({ where: { id }, data }));
      const removed = before.memberIds.filter((userId) => !memberIds.includes(userId));
      await db.teamMember.deleteMany({ where: { teamId: id, userId: { in: removed } } });
      const added = memberIds.filter((userId) => !before.memberIds.includes(userId));
      await addMembers(context, id, added);
      const changes = auditChanges(before, after, stored, nameOnly);
      await recordAudit(context, { action: 'team.updated', target: targetOf(before), changes });
      return getTeam(context, id);
    },
  });
}

async function addMembers({ db }: Context, teamId: number | bigint, userIds: readonly number[]): Promise<void> {
  await db.teamMember.createMany({ data: [...new Set(userIds)].map((userId) => ({ teamId, userId })) });
}

/** The fields of a team whose values the audit log stores. Of other fields, it stores only that they changed. */
const stored = ['active', 'memberIds'] as const;
const nameOnly = ['name', 'description'] as const;

function targetOf({ id }: Team) {
  return { type: 'team', id } as const;
}

/** Serializes a team for API responses. */
function presentTeam(row: Prisma.TeamGetPayload<typeof withMembers>): Team {
  return withEtag(row.version, {
    id: serializeId(row.id),
    name: row.name,
    description: row.description,
    active: row.active,
    memberIds: row.members.map(({ userId }) => serializeId(userId)),
    ...serializeTimestamps(row),
  });
}
