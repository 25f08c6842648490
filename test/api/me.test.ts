import { groups } from '@itsm-api/contract';
import { describe, expect } from 'vitest';
import { api, it as itBase, workspace } from '../support/fixture.ts';
import { createWorkspace } from '../support/workspace.ts';

const it = itBase.extend(
  'options',
  { scope: 'file' },
  { env: { RATE_LIMIT_GLOBAL: '60', RATE_LIMIT_GROUP: '30', RATE_LIMIT_WINDOW_SECONDS: '90' } },
);

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe('GET /me', () => {
  it('returns details of the API key in GET /me, but not its secret', async () => {
    const expiresAt = new Date(Date.now() + 60_000);
    const key = await workspace.createKey({ scopes: ['kb:read', 'users:read'], expiresAt });
    const { status, body, text } = await api.call({ method: 'GET', path: '/api/public/v1/me', key });
    expect(status, text).toBe(200);
    const { name } = await api.prisma.tenant.findFirstOrThrow({ where: { id: workspace.tenantId } });
    expect(body.data).toEqual({
      key: {
        id: expect.any(Number),
        name: 'test',
        lastFour: key.slice(-4),
        scopes: ['kb:read', 'users:read'],
        import: false,
        proposing: false,
        createdAt: timestamp,
        expiresAt: expiresAt.toISOString(),
        lastUsedAt: null,
      },
      user: (await workspace.call('GET', `/users/${workspace.userId}`)).body.data,
      teamIds: [],
      workspace: { name },
      limits: expect.any(Array),
    });
    expect(text).not.toContain(key);
  });

  it('returns the remaining quota of every rate limit in GET /me', async () => {
    const owner = await createWorkspace(api);
    await owner.call('GET', '/tickets');
    await owner.call('GET', '/tickets');
    const { body, headers } = await owner.call('GET', '/me');
    const left = (used: number, limit: number) => ({ limit, remaining: limit - used, windowSeconds: 90 });
    expect(body.data.limits).toMatchObject([
      { name: 'global', ...left(3, 60) },
      ...groups.map((name) => ({ name, ...left({ tickets: 2, users: 1 }[name as string] ?? 0, 30) })),
    ]);
    expect(headers.ratelimit).toMatch(/^"global";r=57;t=\d+, "users";r=29;t=\d+$/);
    expect((await owner.call('GET', '/me')).body.data.limits[1]).toMatchObject({ name: 'tickets', remaining: 28 });
  });

  it('returns the teams of the user in GET /me', async () => {
    const memberIds = [workspace.userId];
    const teams = [await workspace.createTeam({ memberIds }), await workspace.createTeam({ memberIds })];
    await workspace.createTeam({ memberIds: [(await workspace.createUser()).id] });
    expect((await workspace.call('GET', '/me')).body.data.teamIds).toEqual(teams.map(({ id }) => id));
  });

  it('returns the user and the workspace of the API key in GET /me', async () => {
    const other = await createWorkspace(api);
    const [mine, theirs] = await Promise.all([workspace.call('GET', '/me'), other.call('GET', '/me')]);
    expect(mine.body.data.user.id).toBe(workspace.userId);
    expect(theirs.body.data.user.id).toBe(other.userId);
    expect(mine.body.data.workspace).not.toEqual(theirs.body.data.workspace);
  });
});
