import { NewUser, type User } from '@itsm-api/contract';
import { getUser } from '@itsm-api/server/resources/users/queries.ts';
import { createUser, deactivateUser, updateUser } from '@itsm-api/server/resources/users/user-management.ts';
import { describe, expect } from 'vitest';
import { errorOf } from '../support/api.ts';
import { api, it, workspace } from '../support/fixture.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

/** The users of the workspace, newest first: Dan, Cy, Bo, Ada and the user of the API key (an ADMIN). */
let made: User[];

it.beforeAll(async () => {
  made = (await workspace.call('GET', '/users')).body.data;
  for (const [name, role] of [
    ['Ada', 'AGENT'],
    ['Bo', 'REQUESTER'],
    ['Cy', 'AGENT'],
    ['Dan', 'REQUESTER'],
  ] as const) {
    made.unshift(await workspace.createUser({ name, role, email: `${name.toLowerCase()}@example.com` }));
  }
  const { id } = await deactivateUser(workspace.context, 'cy@example.com');
  made[1] = await getUser(workspace.context, id);
});

describe('GET /users/:id', () => {
  it('returns active and inactive users by id', async () => {
    for (const user of made) {
      expect((await workspace.call('GET', `/users/${user.id}`)).body).toEqual({ success: true, data: user });
    }
  });
});

describe('GET /users', () => {
  it('returns every field of a user, or null for missing values', async () => {
    const owner = await createWorkspace(api);
    const fields = {
      name: 'Åsa Öberg 🛠',
      email: 'asa@example.com',
      role: 'AGENT',
      kind: 'SERVICE',
      jobTitle: 'Support engineer',
      department: 'IT',
      phone: '+49 30 5550 100',
      timeZone: 'Europe/Berlin',
    } as const;
    await owner.createUser(fields);
    await owner.createUser({ name: 'Bo', email: 'bo@example.com', role: 'REQUESTER' });
    const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const own = {
      id: expect.any(Number),
      active: true,
      createdAt: timestamp,
      updatedAt: timestamp,
      etag: expect.any(String),
    };
    expect((await owner.call('GET', '/users')).body.data).toEqual([
      {
        ...own,
        name: 'Bo',
        email: 'bo@example.com',
        role: 'REQUESTER',
        kind: 'PERSON',
        jobTitle: null,
        department: null,
        phone: null,
        timeZone: null,
      },
      { ...own, ...fields },
      expect.objectContaining({ id: owner.userId, role: 'ADMIN' }),
    ]);
  });

  it('lists active and inactive users newest first', async () => {
    expect((await workspace.call('GET', '/users')).body).toEqual({
      success: true,
      data: made,
      meta: { page: 1, perPage: 20, totalCount: 5 },
    });
  });

  it.each([
    ['role=AGENT', 'Cy Ada'],
    ['role=ADMIN', 'Sam Field'],
    ['role=AGENT,REQUESTER', 'Dan Cy Bo Ada'],
    ['role=ADMIN&role=AGENT', 'Cy Ada Sam Field'],
    ['active=true', 'Dan Bo Ada Sam Field'],
    ['active=false', 'Cy'],
    ['active=true,false', 'Dan Cy Bo Ada Sam Field'],
    ['active=false&active=true', 'Dan Cy Bo Ada Sam Field'],
    ['email=ada@example.com', 'Ada'],
    ['email=ADA@Example.COM', 'Ada'],
    ['email=ada@example.com,Bo@example.com', 'Bo Ada'],
    ['email=ada%40example.com&email=nobody@example.com', 'Ada'],
    ['email=ada', ''],
    ['email=%25@example.com', ''],
    ['email=_da@example.com', ''],
    ['role=AGENT&active=true', 'Ada'],
    ['role=AGENT,REQUESTER&active=true&email=cy@example.com,dan@example.com', 'Dan'],
    ['role=REQUESTER&email=ada@example.com', ''],
  ])('filters users by %s', async (query, names) => {
    const { body } = await workspace.call('GET', `/users?${query}`);
    expect(body.data.map(({ name }: User) => name).join(' ')).toBe(names);
    expect(body.meta.totalCount).toBe(body.data.length);
  });

  it.each(['email=%00', 'active=TRUE', 'active=1', 'role=agent'])('rejects the user list query %s', async (query) => {
    const { code, details } = errorOf(await workspace.call('GET', `/users?${query}`));
    expect(code).toBe('VALIDATION_ERROR');
    expect(details?.[0]?.path).toMatch(/^(email|active|role)/);
  });
});

describe('createUser, which the command line calls', () => {
  const create = (owner: Workspace, email: string) =>
    createUser(owner.context, NewUser.parse({ name: ' Eve ', email, role: 'AGENT' }));

  it('normalizes the email address of a new user before checking for duplicates', async () => {
    expect(await create(workspace, 'Eve@Example.com')).toMatchObject({ name: 'Eve', email: 'eve@example.com' });
    await expect(create(workspace, 'EVE@example.com')).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: 'email' }],
    });
    expect((await create(await createWorkspace(api), 'eve@example.com')).email).toBe('eve@example.com');
  });

  it.each([
    { email: 'eve' },
    { email: 'eve@exa\0mple.com' },
    { name: ' ' },
    { name: 'E\0' },
    { role: 'OWNER' },
    { phone: '\ud800' },
  ])('rejects a new user with %o', (fields) => {
    const valid = { name: 'Eve', email: 'eve@example.com', role: 'AGENT' };
    expect(NewUser.safeParse({ ...valid, ...fields }).success).toBe(false);
  });
});

describe('updateUser, which the developer area and the command line call', () => {
  it('changes nothing if the values are the same', async () => {
    const user = await workspace.createUser({ jobTitle: 'Technician' });
    const { revokedKeys, ...same } = await updateUser(workspace.context, user.id, { name: user.name, role: user.role });
    expect([same, revokedKeys]).toEqual([user, []]);
    expect((await workspace.call('GET', `/users/${user.id}`)).body.data).toEqual(user);
  });
});
