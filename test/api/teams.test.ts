import { NewTeam, type Team, TeamPatch } from '@itsm-api/contract';
import { teams } from '@itsm-api/server/resources/teams/queries.ts';
import { deactivateUser } from '@itsm-api/server/resources/users/user-management.ts';
import { describe, expect } from 'vitest';
import { api, itInNewWorkspace as it, workspace } from '../support/fixture.ts';
import { createWorkspace } from '../support/workspace.ts';

const read = async (id: number): Promise<Team> => (await workspace.call('GET', `/teams/${id}`)).body.data;
const listed = async (query = ''): Promise<number[]> =>
  (await workspace.call('GET', `/teams${query}`)).body.data.map(({ id }: Team) => id);

describe('GET /teams', () => {
  it('returns every field of a team, newest first', async () => {
    const { id: userId } = await workspace.createUser();
    const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const own = { id: expect.any(Number), createdAt: timestamp, updatedAt: timestamp, etag: expect.any(String) };
    await teams.create(workspace.context, {
      name: 'Service desk',
      description: 'First contact',
      memberIds: [userId, workspace.userId, userId],
    });
    await teams.create(workspace.context, { name: 'Network' });
    const { body } = await workspace.call('GET', '/teams');
    expect(body.data).toEqual([
      { ...own, name: 'Network', description: null, active: true, memberIds: [] },
      {
        ...own,
        name: 'Service desk',
        description: 'First contact',
        active: true,
        memberIds: [workspace.userId, userId],
      },
    ]);
    expect(body.meta).toEqual({ page: 1, perPage: 20, totalCount: 2 });
    for (const team of body.data) expect(await read(team.id)).toEqual(team);
  });

  it('filters teams by `active`', async () => {
    const [first, second] = [await workspace.createTeam(), await workspace.createTeam()];
    await teams.update(workspace.context, first.id, { active: false });
    expect(await listed('?active=true')).toEqual([second.id]);
    expect(await listed('?active=false')).toEqual([first.id]);
    expect(await listed('?active=true,false')).toEqual([second.id, first.id]);
  });
});

describe('a new team', () => {
  it.each([
    ['an empty name', { name: ' ' }],
    ['a name of 101 characters', { name: 'n'.repeat(101) }],
    ['a description of 1,001 characters', { name: 'Network', description: 'd'.repeat(1001) }],
  ])('rejects %s', (_, input) => {
    expect(NewTeam.safeParse(input).success).toBe(false);
  });

  it.each(['network', 'ＮＥＴＷＯＲＫ'])('rejects the name of an inactive team, as in %s', async (name) => {
    const { id } = await workspace.createTeam({ name: 'Network' });
    await teams.update(workspace.context, id, { active: false });
    await expect(workspace.createTeam({ name })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: 'name', message: `${name} is already used by another team. Choose a different value.` }],
    });
  });

  it('allows two workspaces to use the same name', async () => {
    const other = await createWorkspace(api);
    await workspace.createTeam({ name: 'Network' });
    await expect(other.createTeam({ name: 'Network' })).resolves.toMatchObject({ name: 'Network' });
  });

  it('accepts only active users of the workspace as members', async () => {
    const inactive = await workspace.createUser();
    await deactivateUser(workspace.context, inactive.id);
    const { userId: foreign } = await createWorkspace(api);
    for (const id of [inactive.id, foreign, 9007199254740991]) {
      await expect(workspace.createTeam({ memberIds: [workspace.userId, id] })).rejects.toMatchObject({
        code: 'INVALID_REFERENCE',
        details: [{ path: 'memberIds.1', message: 'must be an active user of this workspace' }],
      });
    }
    expect(await listed()).toEqual([]);
  });
});

describe('a changed team', () => {
  it('changes only the given fields, and gets a new version', async () => {
    const before = await workspace.createTeam({ description: 'First contact', memberIds: [workspace.userId] });
    for (const patch of [{ name: 'Service Desk' }, { description: null }, { active: false }, { memberIds: [] }]) {
      const current = await read(before.id);
      const after = await teams.update(workspace.context, before.id, TeamPatch.parse(patch));
      expect(after).toEqual({ ...current, ...patch, updatedAt: expect.any(String), etag: expect.any(String) });
      expect(after.etag).not.toBe(current.etag);
      expect(await read(before.id)).toEqual(after);
    }
  });

  it('can change the case of its own name', async () => {
    const { id } = await workspace.createTeam({ name: 'network' });
    await expect(teams.update(workspace.context, id, { name: 'Network' })).resolves.toMatchObject({ name: 'Network' });
  });

  it('changes nothing if the values are the same', async () => {
    const team = await workspace.createTeam({ memberIds: [workspace.userId] });
    const { name, memberIds } = team;
    expect(await teams.update(workspace.context, team.id, { name, memberIds, active: true })).toEqual(team);
  });

  it('keeps inactive members, and can remove and not add them again', async () => {
    const user = await workspace.createUser();
    const { id } = await workspace.createTeam({ memberIds: [user.id] });
    await deactivateUser(workspace.context, user.id);
    const memberIds = [workspace.userId, user.id];
    expect(await teams.update(workspace.context, id, { memberIds })).toMatchObject({ memberIds });
    await teams.update(workspace.context, id, { memberIds: [workspace.userId] });
    await expect(teams.update(workspace.context, id, { memberIds })).rejects.toMatchObject({
      code: 'INVALID_REFERENCE',
    });
  });

  it('rejects a change if the team has changed since `ifMatch`', async () => {
    const { id, etag } = await workspace.createTeam();
    const context = { ...workspace.context, ifMatch: [etag] };
    await teams.update(context, id, { memberIds: [workspace.userId] });
    await expect(teams.update(context, id, { memberIds: [] })).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' });
  });
});
