import type { NewTicket, Ticket } from '@itsm-api/contract';
import { createKey } from '@itsm-api/server/auth/api-keys/api-keys.ts';
import { setBusinessHours } from '@itsm-api/server/resources/business-hours/queries.ts';
import { describe, expect } from 'vitest';
import { errorOf } from '../support/api.ts';
import { api, it as itBase, workspace } from '../support/fixture.ts';
import { createWorkspace, ticket, type Workspace } from '../support/workspace.ts';

/** A workspace with resolution targets. */
let targeted: Workspace;
const now = new Date('2026-11-20T10:00:00.000Z');

const it = itBase.extend('options', { scope: 'file' }, { now: () => now });
it.beforeAll(async () => {
  targeted = await createWorkspace(api);
  await setBusinessHours(targeted.context, { targets: { resolution: { CRITICAL: 60, HIGH: 250 } } });
});

const [inOneHour, in250Minutes] = ['2026-11-20T11:00:00.000Z', '2026-11-20T14:10:00.000Z'];
const given = '2026-12-01T08:00:00.000Z';

const patch = (of: Workspace, id: number, body: unknown) => of.call('PATCH', `/tickets/${id}`, body);
const read = async (of: Workspace, id: number): Promise<Ticket> => (await of.call('GET', `/tickets/${id}`)).body.data;
const activityOf = async (of: Workspace, id: number) => (await of.call('GET', `/tickets/${id}/activity`)).body.data;

describe('dueAt', () => {
  it('sets, changes and clears the due date of a ticket', async () => {
    const { id, dueAt } = await workspace.createTicket({ dueAt: '2026-12-01T09:00:00.0009+01:00' });
    expect(dueAt).toBe(given);
    const later = '2026-12-02T08:00:00.000Z';
    expect((await patch(workspace, id, { dueAt: later })).body.data.dueAt).toBe(later);
    expect((await patch(workspace, id, { title: 'Changed' })).body.data.dueAt).toBe(later);
    expect((await patch(workspace, id, { dueAt: null })).body.data.dueAt).toBeNull();
    const [cleared, , changed] = await activityOf(workspace, id);
    expect(changed.changes).toEqual({ dueAt: { from: given, to: later } });
    expect(cleared.changes).toEqual({ dueAt: { from: later, to: null } });
  });

  it.each(['tomorrow', '2026-12-01', '2026-12-01T08:00:00', 1_796_000_000, '0000-01-01T00:00:00Z'])(
    'rejects the due date %j',
    async (dueAt) => {
      const created = await workspace.call('POST', '/tickets', { ...ticket, dueAt });
      const { id } = await workspace.createTicket();
      for (const response of [created, await patch(workspace, id, { dueAt })]) {
        expect(response.status).toBe(400);
        expect(errorOf(response)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'dueAt' }] });
      }
    },
  );

  it('sets due dates with bulk requests', async () => {
    const created = await workspace.call('POST', '/tickets/bulk', { tickets: [{ ...ticket, dueAt: given }, ticket] });
    const [one, two] = created.body.data.map(({ data }: { data: Ticket }) => data);
    expect([one.dueAt, two.dueAt]).toEqual([given, null]);
    const tickets = [
      { id: one.id, dueAt: null },
      { id: two.id, dueAt: given },
    ];
    const changed = await workspace.call('PATCH', '/tickets/bulk', { tickets });
    expect(changed.body.data.map(({ data }: { data: Ticket }) => data.dueAt)).toEqual([null, given]);
  });
});

describe('resolution targets', () => {
  it('computes the due date of a new ticket from its priority', async () => {
    expect((await targeted.createTicket({ priority: 'HIGH' })).dueAt).toBe(in250Minutes);
    expect((await targeted.createTicket()).dueAt).toBeNull();
    const tickets = [{ ...ticket, priority: 'CRITICAL' }, ticket, { ...ticket, priority: 'HIGH', dueAt: null }];
    const { body } = await targeted.call('POST', '/tickets/bulk', { tickets });
    expect(body.data.map(({ data }: { data: Ticket }) => data.dueAt)).toEqual([inOneHour, null, null]);
    expect((await targeted.createTicket({ priority: 'HIGH', dueAt: given })).dueAt).toBe(given);
  });

  it('computes the due date again when the priority changes', async () => {
    const webhook = await targeted.createWebhook({ events: ['ticket.updated'] });
    const { id } = await targeted.createTicket({ priority: 'HIGH' });
    expect((await patch(targeted, id, { priority: 'CRITICAL' })).body.data.dueAt).toBe(inOneHour);
    const changes = {
      priority: { from: 'HIGH', to: 'CRITICAL' },
      dueAt: { from: in250Minutes, to: inOneHour },
    };
    expect((await activityOf(targeted, id))[0].changes).toEqual(changes);
    const { body } = await targeted.call('GET', `/webhooks/${webhook.id}/deliveries`);
    const delivery = await targeted.call('GET', `/deliveries/${body.data[0].id}`);
    const event = JSON.parse(delivery.body.data.body);
    expect([event.changes, event.ticket.dueAt]).toEqual([changes, inOneHour]);

    const bulk = await targeted.call('PATCH', '/tickets/bulk', { tickets: [{ id, priority: 'LOW' }] });
    expect(bulk.body.data[0].data.dueAt).toBeNull();
    expect((await activityOf(targeted, id))[0].changes.dueAt).toEqual({ from: inOneHour, to: null });
    const watched = await patch(targeted, id, { priority: 'HIGH', watcherUserIds: [targeted.userId] });
    expect(watched.body.data.dueAt).toBe(in250Minutes);
  });

  it.each<[what: string, created: Partial<NewTicket>, patched: object[]]>([
    ['the creating request', { dueAt: given }, []],
    ['an update', {}, [{ dueAt: given }]],
    ['the update that changes the priority', {}, [{ dueAt: given, priority: 'LOW' }]],
    ['an update with null', {}, [{ dueAt: null }]],
    ['an update with the current value', {}, [{ dueAt: in250Minutes }]],
    ['an earlier update', {}, [{ dueAt: given }, { title: 'Changed' }]],
  ])('keeps a due date that was set by %s when the priority changes', async (_, created, patched) => {
    const { id } = await targeted.createTicket({ priority: 'HIGH', ...created });
    for (const body of patched) expect((await patch(targeted, id, body)).status).toBe(200);
    const { dueAt } = await read(targeted, id);
    expect((await patch(targeted, id, { priority: 'CRITICAL' })).body.data.dueAt).toBe(dueAt);
  });

  it('keeps the due dates of existing tickets when the targets change', async () => {
    const owner = await createWorkspace(api);
    await setBusinessHours(owner.context, { targets: { resolution: { LOW: 60 } } });
    const { id } = await owner.createTicket({ priority: 'LOW' });
    await setBusinessHours(owner.context, { targets: { resolution: { LOW: null, HIGH: 250 } } });
    expect((await read(owner, id)).dueAt).toBe(inOneHour);
    expect((await owner.createTicket({ priority: 'LOW' })).dueAt).toBeNull();
    expect((await patch(owner, id, { priority: 'HIGH' })).body.data.dueAt).toBe(in250Minutes);
  });

  it("doesn't apply the targets of another workspace", async () => {
    expect((await workspace.createTicket({ priority: 'HIGH' })).dueAt).toBeNull();
  });
});

describe('firstRespondedAt', () => {
  /** Adds a comment with the key of a new user, and returns the ticket. */
  async function respond(id: number, role: 'ADMIN' | 'AGENT' | 'REQUESTER', visibility = 'PUBLIC'): Promise<Ticket> {
    const { email } = await workspace.createUser({ role });
    const { key } = await createKey(workspace.context, { user: email, name: 'test', scopes: ['tickets:write'] });
    const path = `/api/public/v1/tickets/${id}/comments`;
    const { status } = await api.call({ method: 'POST', path, key, body: { body: 'On it.', visibility } });
    expect(status).toBe(201);
    return read(workspace, id);
  }

  it.each(['ADMIN', 'AGENT'] as const)('is the time of the first public comment of an %s', async (role) => {
    const { id } = await workspace.createTicket();
    expect((await workspace.createComment(id)).authorId).toBe(workspace.userId);
    expect((await respond(id, 'REQUESTER')).firstRespondedAt).toBeNull();
    expect((await respond(id, role, 'INTERNAL')).firstRespondedAt).toBeNull();
    const { firstRespondedAt, updatedAt } = await respond(id, role);
    expect(firstRespondedAt).toBe(updatedAt);
    const [comment] = (await workspace.call('GET', `/tickets/${id}/comments`)).body.data;
    expect(comment.createdAt).toBe(firstRespondedAt);
    expect((await activityOf(workspace, id))[0].changes).toEqual({
      commentCount: { from: 3, to: 4 },
      firstRespondedAt: { from: null, to: firstRespondedAt },
    });
    expect((await respond(id, 'AGENT')).firstRespondedAt).toBe(firstRespondedAt);
    expect((await activityOf(workspace, id))[0].changes).toEqual({ commentCount: { from: 4, to: 5 } });
  });

  it('is in the changes of the event for the first response', async () => {
    const webhook = await workspace.createWebhook({ events: ['ticket.updated'] });
    const requester = await workspace.createUser({ role: 'REQUESTER' });
    const { id } = await workspace.createTicket({ requesterId: requester.id });
    await workspace.createComment(id);
    const { firstRespondedAt } = await read(workspace, id);
    const { body } = await workspace.call('GET', `/webhooks/${webhook.id}/deliveries`);
    const delivery = await workspace.call('GET', `/deliveries/${body.data[0].id}`);
    expect(JSON.parse(delivery.body.data.body).changes).toEqual({
      commentCount: { from: 0, to: 1 },
      firstRespondedAt: { from: null, to: firstRespondedAt },
    });
  });

  it('is the time of the first public comment in a bulk request', async () => {
    const requester = await workspace.createUser({ role: 'REQUESTER' });
    const comments = ['INTERNAL', 'PUBLIC', 'PUBLIC'].map((visibility) => ({ body: 'On it.', visibility }));
    const item = { ...ticket, requesterId: requester.id };
    const { body } = await workspace.call('POST', '/tickets/bulk', { tickets: [{ ...item, comments }, item] });
    const [commented, { id }] = body.data.map(({ data }: { data: Ticket }) => data);
    const list = await workspace.call('GET', `/tickets/${commented.id}/comments`);
    expect(commented.firstRespondedAt).toBe(list.body.data[1].createdAt);
    const { status } = await workspace.call('POST', `/tickets/${id}/comments/bulk`, { comments });
    expect(status).toBe(200);
    const { firstRespondedAt } = await read(workspace, id);
    expect(firstRespondedAt).not.toBeNull();
    const isResponse = ({ changes }: { changes: object }) => 'firstRespondedAt' in changes;
    expect((await activityOf(workspace, id)).map(isResponse)).toEqual([false, true, false, false]);
  });

  it('rejects requests that set firstRespondedAt', async () => {
    const { id } = await workspace.createTicket();
    expect((await patch(workspace, id, { firstRespondedAt: given })).status).toBe(400);
    expect((await workspace.call('POST', '/tickets', { ...ticket, firstRespondedAt: given })).status).toBe(400);
  });
});

describe('import keys', () => {
  it('creates tickets without the targets, and sets the time of an earlier first response', async () => {
    const { email } = await targeted.createUser({ role: 'ADMIN' });
    const requester = await targeted.createUser({ role: 'REQUESTER' });
    const given = { user: email, name: 'import', scopes: ['tickets:write' as const], isImport: true, expiresInDays: 1 };
    const { key } = await createKey(targeted.context, given);
    const call = async (method: string, path: string, body: object) => {
      const response = await api.call({ method, path: `/api/public/v1${path}`, key, body });
      expect(response.status, response.text).toBeLessThan(300);
      return response.body.data;
    };
    const times = { createdAt: '2020-01-01T00:00:00.000Z' };
    const imported = { ...ticket, ...times, priority: 'HIGH', requesterId: requester.id };
    const { id, dueAt } = await call('POST', '/tickets', imported);
    expect(dueAt).toBeNull();
    expect((await patch(targeted, id, { priority: 'CRITICAL' })).body.data.dueAt).toBeNull();

    const comment = (createdAt: string, authorId = targeted.userId) => ({
      ...{ body: 'On it.', visibility: 'PUBLIC', createdAt, authorId },
    });
    const [first, second, third] = [1, 2, 3].map((day) => `2020-01-0${day}T00:00:00.000Z`) as [string, string, string];
    await call('POST', `/tickets/${id}/comments`, comment(third));
    await call('POST', `/tickets/${id}/comments/bulk`, { comments: [comment(first, requester.id), comment(second)] });
    expect((await read(targeted, id)).firstRespondedAt).toBe(second);
    const [changed, unchanged] = await activityOf(targeted, id);
    expect(changed.changes.firstRespondedAt).toEqual({ from: third, to: second });
    expect(unchanged.changes).not.toHaveProperty('firstRespondedAt');
  });
});

describe('GET /tickets with dueSince, dueBefore and overdue', () => {
  let owner: Workspace;
  const due = ['2026-11-01T00:00:00.000Z', '2026-11-02T00:00:00.000Z', '2026-11-03T00:00:00.000Z', null];
  const titlesOf = async (query: string) => {
    const { status, body } = await owner.call('GET', `/tickets?sort=id&${query}`);
    expect(status, query).toBe(200);
    expect(body.meta.totalCount).toBe(body.data.length);
    return body.data.map(({ title }: Ticket) => title).join('');
  };

  it.beforeAll(async () => {
    owner = await createWorkspace(api);
    for (const [index, dueAt] of due.entries()) await owner.createTicket({ title: `${index}`, dueAt });
  });

  it.each([
    ['dueSince=2026-11-02T00:00:00Z', '12'],
    ['dueBefore=2026-11-02T00:00:00Z', '0'],
    ['dueBefore=2026-11-02T00:00:00.0001Z', '01'],
    ['dueSince=2026-11-02T00:00:00Z&dueBefore=2026-11-03T00:00:00Z', '1'],
    ['dueBefore=2026-11-03T00:00:00Z&q=1', '1'],
    ['dueSince=2026-11-02T00:00:00Z&status=OPEN', '12'],
    ['dueSince=2026-11-02T00:00:00Z&status=CLOSED', ''],
  ])('lists the tickets for %s', async (query, expected) => {
    expect(await titlesOf(query)).toBe(expected);
  });

  it('lists unresolved tickets with a due date in the past', async () => {
    const desk = await createWorkspace(api);
    // The filter uses the clock of the database.
    const [past, future] = [-1, 1].map((days) => new Date(Date.now() + days * 86_400_000).toISOString());
    await desk.createTicket({ dueAt: future });
    await desk.createTicket();
    const expected: number[] = [];
    for (const path of [[], ['IN_PROGRESS'], ['PENDING'], ['RESOLVED'], ['RESOLVED', 'CLOSED'], ['CANCELLED']]) {
      const { id } = await desk.createTicket({ dueAt: past });
      for (const status of path) expect((await patch(desk, id, { status })).status).toBe(200);
      if (!['RESOLVED', 'CLOSED', 'CANCELLED'].includes(path.at(-1) ?? '')) expected.unshift(id);
    }
    const { body } = await desk.call('GET', '/tickets?overdue=true');
    expect(body.data.map(({ id }: Ticket) => id)).toEqual(expected);
    expect(body.meta.totalCount).toBe(3);
    const pending = await desk.call('GET', '/tickets?overdue=true&status=PENDING,CLOSED');
    expect(pending.body.data.map(({ id }: Ticket) => id)).toEqual(expected.slice(0, 1));
  });

  it.each(['overdue=false', 'overdue=', 'overdue=1', 'overdue=true&overdue=true', 'dueSince=today', 'dueBefore='])(
    'rejects the filter %s',
    async (query) => {
      const response = await owner.call('GET', `/tickets?${query}`);
      expect([response.status, errorOf(response).code]).toEqual([400, 'VALIDATION_ERROR']);
    },
  );
});
