import { pathPrefix } from '@itsm-api/contract';
import { createKey, rotateKey, updateKey } from '@itsm-api/server/auth/api-keys/api-keys.ts';
import { describe, expect } from 'vitest';
import { errorOf } from '../support/api.ts';
import { api, it, workspace } from '../support/fixture.ts';
import { comment, createWorkspace, ticket } from '../support/workspace.ts';

/** Import keys, which set the original times and authors of tickets and comments (docs/decisions/imports.md). */
let key: string;

it.beforeAll(async () => {
  key = await workspace.createKey({ isImport: true });
});

const post = (path: string, body: unknown, as = key) =>
  api.call({ method: 'POST', path: pathPrefix + path, key: as, body });

async function createInactiveUser() {
  const user = await workspace.createUser();
  await api.prisma.user.updateMany({ where: { id: BigInt(user.id) }, data: { active: false } });
  return user;
}

const closed = {
  ...ticket,
  status: 'CLOSED',
  createdAt: '2019-03-01T08:00:00.000Z',
  resolvedAt: '2019-03-02T08:00:00.000Z',
  closedAt: '2019-03-05T08:00:00.000Z',
};

describe('a ticket of an import key', () => {
  it('has the given status, times, requester and assignee', async () => {
    const requester = await workspace.createUser();
    const assignee = await createInactiveUser();
    const { status, body } = await post('/tickets', { ...closed, requesterId: requester.id, assigneeId: assignee.id });
    expect(status).toBe(201);
    expect(body.data).toMatchObject({ ...closed, requesterId: requester.id, assigneeId: assignee.id });
    expect(body.data.updatedAt > '2026').toBe(true);
    expect((await workspace.call('GET', `/tickets/${body.data.id}`)).body.data).toEqual(body.data);
  });

  it('gets the missing times from the other times', async () => {
    const { status: _, ...times } = closed;
    const { closedAt } = closed;
    const data = async (body: object) => (await post('/tickets', { ...ticket, ...body })).body.data;
    const { createdAt } = times;
    expect(await data({ status: 'CLOSED', createdAt, closedAt })).toMatchObject({ resolvedAt: closedAt, closedAt });
    const resolved = await data({ status: 'RESOLVED', createdAt: times.createdAt });
    expect(resolved).toMatchObject({ resolvedAt: resolved.updatedAt, closedAt: null, createdAt: times.createdAt });
    expect(await data({ status: 'CANCELLED' })).toMatchObject({ resolvedAt: null, closedAt: null });
    expect(await data({})).toMatchObject({ status: 'OPEN', resolvedAt: null, closedAt: null });
  });

  it.each<[what: string, body: object, path: string]>([
    ['a creation in the future', { createdAt: '2999-01-01T00:00:00Z' }, 'createdAt'],
    [
      'a resolution in the future',
      { ...closed, status: 'RESOLVED', closedAt: undefined, resolvedAt: '2999-01-01T00:00:00Z' },
      'resolvedAt',
    ],
    ['a resolution before the creation', { ...closed, resolvedAt: '2019-02-01T00:00:00Z' }, 'resolvedAt'],
    ['a closure before the resolution', { ...closed, closedAt: '2019-03-01T10:00:00Z' }, 'closedAt'],
    ['a resolution of an open ticket', { ...closed, status: 'OPEN', closedAt: undefined }, 'resolvedAt'],
    ['a closure of a resolved ticket', { ...closed, status: 'RESOLVED' }, 'closedAt'],
    ['a closure without a creation', { status: 'CLOSED', closedAt: closed.closedAt }, 'createdAt'],
    ['an update time', { updatedAt: closed.closedAt }, 'updatedAt'],
  ])('is rejected with %s', async (_, body, path) => {
    const answer = await post('/tickets', { ...ticket, ...body });
    expect(answer.status, answer.text).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path }] });
  });

  it('emits no event, but has an activity and is in the change feed', async () => {
    const own = await createWorkspace(api);
    await own.createWebhook({ events: ['ticket.created', 'ticket.updated'] });
    const importKey = await own.createKey({ isImport: true });
    const { id } = (await post('/tickets', ticket, importKey)).body.data;
    await post(`/tickets/${id}/comments`, comment, importKey);
    expect(await api.prisma.event.count({ where: { tenantId: own.tenantId } })).toBe(0);
    const feed = async () => (await own.call('GET', '/tickets/changes')).body.data;
    await expect.poll(feed).toMatchObject([{ id, commentCount: 1 }]);
    const { data } = (await own.call('GET', `/tickets/${id}/activity`)).body;
    expect(data).toMatchObject([
      { action: 'COMMENTED', actor: { userId: own.userId, import: true } },
      { action: 'CREATED', actor: { userId: own.userId, import: true } },
    ]);
    await own.createComment(id);
    expect(await api.prisma.event.count({ where: { tenantId: own.tenantId } })).toBe(1);
    const [last] = (await own.call('GET', `/tickets/${id}/activity`)).body.data;
    expect(last.actor).toEqual({ userId: own.userId, keyId: Number(own.context.keyId) });
  });
});

describe('a comment of an import key', () => {
  it('has the given author and time', async () => {
    const { id } = await workspace.createTicket();
    const author = await createInactiveUser();
    const given = { ...comment, authorId: author.id, createdAt: '2019-03-01T09:00:00.000Z' };
    const { status, body } = await post(`/tickets/${id}/comments`, given);
    expect([status, body.data]).toMatchObject([201, given]);
    const named = { ...given, authorId: author.email };
    const bulk = await post(`/tickets/${id}/comments/bulk`, { comments: [named] });
    expect(bulk.body.data).toMatchObject([{ status: 201, data: given }]);
    const created = await post('/tickets/bulk', { tickets: [{ ...closed, comments: [named] }] });
    const made = created.body.data[0].data;
    expect(made).toMatchObject({ ...closed, commentCount: 1 });
    const { data } = (await workspace.call('GET', `/tickets/${made.id}/comments`)).body;
    expect(data).toMatchObject([given]);
  });

  it('is rejected with a time in the future or an author of another workspace', async () => {
    const { id } = await workspace.createTicket();
    const { userId } = await createWorkspace(api);
    const late = { ...comment, createdAt: '2999-01-01T00:00:00Z' };
    const foreign = { ...comment, authorId: userId };
    const invalid = { status: 400, error: { code: 'VALIDATION_ERROR', details: [{ path: 'createdAt' }] } };
    const unknown = { status: 400, error: { code: 'INVALID_REFERENCE', details: [{ path: 'authorId' }] } };
    const answers = [await post(`/tickets/${id}/comments`, late), await post(`/tickets/${id}/comments`, foreign)];
    expect(answers.map(({ status, body }) => ({ status, error: body.error }))).toMatchObject([invalid, unknown]);
    const bulk = await post(`/tickets/${id}/comments/bulk`, { comments: [late, foreign] });
    expect(bulk.body.data).toMatchObject([invalid, unknown]);
    const items = [late, foreign].map((each) => ({ ...ticket, comments: [comment, each] }));
    const created = await post('/tickets/bulk', { tickets: items });
    expect(created.body.data).toMatchObject([
      { status: 400, error: { code: 'VALIDATION_ERROR', details: [{ path: 'comments.1.createdAt' }] } },
      { status: 400, error: { code: 'INVALID_REFERENCE', details: [{ path: 'comments.1.authorId' }] } },
    ]);
  });
});

it.each<[path: string, body: object, field: string]>([
  ['/tickets', { ...ticket, status: 'OPEN' }, 'status'],
  ['/tickets', { ...ticket, createdAt: closed.createdAt }, 'createdAt'],
  ['/tickets/:id/comments', { ...comment, authorId: 1 }, 'authorId'],
  ['/tickets/:id/comments', { ...comment, createdAt: closed.createdAt }, 'createdAt'],
])('POST %s with another key rejects %o', async (path, body, field) => {
  const { id } = await workspace.createTicket();
  const answer = await post(path.replace(':id', String(id)), body, workspace.key);
  expect(answer.status).toBe(400);
  const message = 'can be set only with an import key';
  expect(errorOf(answer)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: field, message }] });
});

describe('an import key', () => {
  const newKey = async (fields: { expiresInDays?: number; role?: 'ADMIN' | 'AGENT' } = {}) => {
    const { role = 'ADMIN', ...others } = fields;
    const { email } = await workspace.createUser({ role });
    return createKey(workspace.context, {
      user: email,
      name: 'move',
      scopes: ['tickets:read'],
      isImport: true,
      ...others,
    });
  };

  it('expires within 30 days and acts for an administrator', async () => {
    await expect(newKey()).rejects.toThrow('expiresInDays must be at most 30 days after the creation');
    await expect(newKey({ expiresInDays: 31 })).rejects.toThrow('expiresInDays must be');
    await expect(newKey({ expiresInDays: 30, role: 'AGENT' })).rejects.toThrow('user must be an administrator');
    const { id } = await newKey({ expiresInDays: 7 });
    await expect(updateKey(workspace.context, id, { expiresInDays: null })).rejects.toThrow('expiresInDays must be');
    await expect(updateKey(workspace.context, id, { expiresInDays: 31 })).rejects.toThrow('expiresInDays must be');
    expect(await updateKey(workspace.context, id, { expiresInDays: 20 })).toMatchObject({ isImport: true });
    expect(await rotateKey(workspace.context, id, { overlapHours: 0 })).toMatchObject({ isImport: true });
  });

  it('accepts inactive users only for new tickets and comments', async () => {
    const { id: assignedToId } = await createInactiveUser();
    const asset = await post('/assets', { name: 'Laptop', assetTag: 'LT-import', type: 'LAPTOP', assignedToId });
    expect([asset.status, errorOf(asset).code]).toEqual([400, 'INVALID_REFERENCE']);
    const { id } = await workspace.createTicket();
    const patch = await api.call({
      ...{ method: 'PATCH', path: `${pathPrefix}/tickets/${id}`, key },
      body: { assigneeId: assignedToId },
    });
    expect([patch.status, errorOf(patch).code]).toEqual([400, 'INVALID_REFERENCE']);
  });

  it('is an ordinary key if its user is no longer an administrator', async () => {
    const { id, email } = await workspace.createUser({ role: 'ADMIN' });
    const scopes = ['tickets:write' as const];
    const own = await createKey(workspace.context, {
      user: email,
      name: 'move',
      scopes,
      isImport: true,
      expiresInDays: 1,
    });
    expect((await post('/tickets', closed, own.key)).status).toBe(201);
    await api.prisma.user.updateMany({ where: { id: BigInt(id) }, data: { role: 'AGENT' } });
    await expect.poll(async () => (await post('/tickets', closed, own.key)).status).toBe(400);
    expect((await post('/tickets', ticket, own.key)).status).toBe(201);
    const me = await api.call({ method: 'GET', path: `${pathPrefix}/me`, key: own.key });
    expect(me.body.data.key.import).toBe(false);
  });

  it('is marked in GET /me', async () => {
    const me = async (key: string) => (await api.call({ method: 'GET', path: `${pathPrefix}/me`, key })).body.data.key;
    expect([(await me(key)).import, (await me(workspace.key)).import]).toEqual([true, false]);
  });
});
