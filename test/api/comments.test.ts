import { describe, expect } from 'vitest';
import { errorOf } from '../support/api.ts';
import { api, it, workspace } from '../support/fixture.ts';
import { comment, createWorkspace } from '../support/workspace.ts';

const post = (id: number, body: unknown) => workspace.call('POST', `/tickets/${id}/comments`, body);

describe('POST /tickets/{id}/comments', () => {
  it('sets the author of a new comment to the user of the API key', async () => {
    const { id } = await workspace.createTicket();
    const { status, body, headers } = await post(id, { body: ' As given.\n', visibility: 'INTERNAL' });
    expect(status).toBe(201);
    expect(body.data).toEqual({
      id: expect.any(Number),
      ticketId: id,
      authorId: workspace.userId,
      body: ' As given.\n',
      visibility: 'INTERNAL',
      attachmentIds: [],
      externalId: null,
      createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      redactedAt: null,
    });
    expect(headers.etag).toBeUndefined();
  });

  it('updates commentCount and updatedAt of the ticket when a comment is added', async () => {
    const before = await workspace.createTicket();
    expect(before.commentCount).toBe(0);
    const { createdAt } = await workspace.createComment(before.id);
    await workspace.createComment(before.id, { visibility: 'INTERNAL' });
    const { data } = (await workspace.call('GET', `/tickets/${before.id}`)).body;
    expect(data).toEqual({ ...before, commentCount: 2, updatedAt: expect.any(String), etag: expect.any(String) });
    expect(data.updatedAt >= createdAt).toBe(true);
  });

  it('accepts comments on a ticket with a final status', async () => {
    const { id } = await workspace.createTicket();
    await workspace.call('PATCH', `/tickets/${id}`, { status: 'CANCELLED' });
    expect((await post(id, comment)).status).toBe(201);
  });

  it('includes 10 concurrent comments in commentCount', async () => {
    const { id } = await workspace.createTicket();
    await Promise.all(Array.from({ length: 10 }, () => workspace.createComment(id)));
    expect((await workspace.call('GET', `/tickets/${id}`)).body.data.commentCount).toBe(10);
    const { data, meta } = (await workspace.call('GET', `/tickets/${id}/comments`)).body;
    expect([data.length, meta.totalCount]).toEqual([10, 10]);
  });

  it.each<[what: string, body: object, path: string]>([
    ['no visibility', { body: 'x' }, 'visibility'],
    ['an unknown visibility', { ...comment, visibility: 'SECRET' }, 'visibility'],
    ['null as visibility', { ...comment, visibility: null }, 'visibility'],
    ['no body', { visibility: 'PUBLIC' }, 'body'],
    ['an empty body', { ...comment, body: '' }, 'body'],
    ['NUL', { ...comment, body: 'a\0b' }, 'body'],
    ['a lone surrogate', { ...comment, body: 'a\ud800' }, 'body'],
    ['more than 65,535 bytes', { ...comment, body: 'é'.repeat(32_768) }, 'body'],
    ['an author', { ...comment, authorId: 1 }, 'authorId'],
  ])('rejects a comment with %s', async (_, body, path) => {
    const { id } = await workspace.createTicket();
    const answer = await post(id, body);
    expect(answer.status, answer.text).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path }] });
    expect((await workspace.call('GET', `/tickets/${id}`)).body.data.commentCount).toBe(0);
  });

  it('accepts a comment with the maximum length of 65,535 bytes', async () => {
    const { id } = await workspace.createTicket();
    const body = `${'é'.repeat(32_767)}x`;
    expect((await workspace.createComment(id, { body })).body).toBe(body);
  });

  it('emits only ticket.updated with the comment when a comment is added', async () => {
    const owner = await createWorkspace(api);
    await owner.createWebhook({ events: ['ticket.created', 'ticket.updated', 'asset.created', 'task.updated'] });
    const { id } = await owner.createTicket();
    const {
      ticketId: _,
      externalId: __,
      attachmentIds: ___,
      redactedAt: ____,
      ...made
    } = await owner.createComment(id, { visibility: 'INTERNAL' });
    await owner.call('PATCH', `/tickets/${id}`, { title: 'Other' });
    const events = await api.prisma.event.findMany({ where: { tenantId: owner.tenantId }, orderBy: { id: 'asc' } });
    expect(events.map(({ type }) => type)).toEqual(['ticket.created', 'ticket.updated', 'ticket.updated']);
    expect(JSON.parse(events[1]?.body ?? '')).toMatchObject({
      ticket: { id, commentCount: 1 },
      changes: { commentCount: { from: 0, to: 1 } },
      comment: made,
      actor: { userId: owner.userId, keyId: Number(owner.context.keyId) },
    });
    expect(JSON.parse(events[2]?.body ?? '')).not.toHaveProperty('comment');
  });
});

describe('POST /tickets/{id}/comments/bulk', () => {
  const postMany = (id: number | string, comments: unknown, of = workspace) =>
    of.call('POST', `/tickets/${id}/comments/bulk`, { comments });

  it('adds the comments in the given order', async () => {
    const before = await workspace.createTicket();
    const comments = Array.from({ length: 100 }, (_, i) => ({ ...comment, body: `No. ${i}` }));
    const { status, body } = await postMany(before.ticketNumber, comments);
    expect(status).toBe(200);
    expect(
      body.data.map(({ status, data }: { status: number; data: { body: string } }) => [status, data.body]),
    ).toEqual(comments.map(({ body }) => [201, body]));
    const made = body.data.map(({ data }: { data: unknown }) => data);
    const list = await workspace.call('GET', `/tickets/${before.id}/comments?perPage=100`);
    expect(list.body.data).toEqual(made.toReversed());
    const { data: after } = (await workspace.call('GET', `/tickets/${before.id}`)).body;
    expect(after).toEqual({ ...before, commentCount: 100, updatedAt: made.at(-1).createdAt, etag: expect.any(String) });
    const activity = await workspace.call('GET', `/tickets/${before.id}/activity?perPage=2`);
    expect(activity.body.data).toMatchObject([
      { action: 'COMMENTED', changes: { commentCount: { from: 99, to: 100 } } },
      { action: 'COMMENTED', changes: { commentCount: { from: 98, to: 99 } } },
    ]);
  });

  it('rejects only the invalid comments', async () => {
    const { id } = await workspace.createTicket();
    const { body } = await postMany(id, [comment, { ...comment, body: '' }, { ...comment, visibility: 'SECRET' }]);
    expect(body.data).toMatchObject([
      { status: 201, data: { ticketId: id } },
      { status: 400, error: { code: 'VALIDATION_ERROR', details: [{ path: 'body' }] } },
      { status: 400, error: { code: 'VALIDATION_ERROR', details: [{ path: 'visibility' }] } },
    ]);
    expect((await workspace.call('GET', `/tickets/${id}`)).body.data.commentCount).toBe(1);
    await postMany(id, [{ ...comment, body: '' }]);
    expect((await workspace.call('GET', `/tickets/${id}`)).body.data.commentCount).toBe(1);
  });

  it.each([0, 101])('rejects %d comments', async (count) => {
    const { id } = await workspace.createTicket();
    const answer = await postMany(id, Array(count).fill(comment));
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'comments' }] });
  });

  it('returns 404 for a ticket of another workspace', async () => {
    const { id } = await (await createWorkspace(api)).createTicket();
    const answer = await postMany(id, [comment]);
    expect([answer.status, errorOf(answer).code]).toEqual([404, 'NOT_FOUND']);
  });

  it('emits one ticket.updated for each comment', async () => {
    const owner = await createWorkspace(api);
    await owner.createWebhook({ events: ['ticket.updated'] });
    const { id } = await owner.createTicket();
    await owner.createComment(id);
    await postMany(id, [comment, { ...comment, body: 'Second.' }], owner);
    const events = await api.prisma.event.findMany({ where: { tenantId: owner.tenantId }, orderBy: { id: 'asc' } });
    const { data } = (await owner.call('GET', `/tickets/${id}`)).body;
    expect(events.slice(1).map(({ body }) => JSON.parse(body))).toMatchObject([
      { ticket: { id, commentCount: 2 }, changes: { commentCount: { from: 1, to: 2 } }, comment },
      { ticket: data, changes: { commentCount: { from: 2, to: 3 } }, comment: { body: 'Second.' } },
    ]);
  });
});

describe('GET /tickets/{id}/comments', () => {
  it('lists all comments, newest first, for an API key with the scope tickets:read', async () => {
    const { id } = await workspace.createTicket();
    const made = [];
    for (const visibility of ['PUBLIC', 'INTERNAL', 'PUBLIC'] as const) {
      made.unshift(await workspace.createComment(id, { visibility, body: `${visibility} ${made.length}` }));
    }
    await workspace.createComment((await workspace.createTicket()).id);
    const key = await workspace.createKey({ scopes: ['tickets:read'] });
    const { body } = await api.call({ method: 'GET', path: `/api/public/v1/tickets/${id}/comments`, key });
    expect(body).toEqual({ success: true, data: made, meta: { page: 1, perPage: 20, totalCount: 3 } });
    const second = await workspace.call('GET', `/tickets/${id}/comments?page=2&perPage=2`);
    expect(second.body.data).toEqual(made.slice(2));
  });
});
