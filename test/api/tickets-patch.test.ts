import { type Ticket, TicketStatus, ticketTransitions, type User } from '@itsm-api/contract';
import { deactivateUser } from '@itsm-api/server/resources/users/user-management.ts';
import { describe, expect } from 'vitest';
import { type Answer, errorOf } from '../support/api.ts';
import { api, it as itBase, workspace } from '../support/fixture.ts';
import { bytes, keys, unstorable } from '../support/limits.ts';
import { createWorkspace, ticket } from '../support/workspace.ts';

let now = new Date('2026-11-20T10:00:00.000Z');

const it = itBase.extend('options', { scope: 'file' }, { now: () => now });

const create = (fields: object = {}, owner = workspace) => owner.call('POST', '/tickets', { ...ticket, ...fields });
const patch = (id: number, body: unknown) => workspace.call('PATCH', `/tickets/${id}`, body);

async function read(id: number): Promise<Ticket> {
  return (await workspace.call('GET', `/tickets/${id}`)).body.data;
}

async function inactiveUser(): Promise<User> {
  return deactivateUser(workspace.context, (await workspace.createUser()).email);
}

/** Creates a ticket and changes it to the given status in as few steps as possible. */
async function createTicketIn(status: TicketStatus): Promise<Ticket> {
  const made = await workspace.createTicket();
  if (status === 'OPEN') return made;
  const steps = ticketTransitions.OPEN.includes(status) ? [status] : (['RESOLVED', status] as const);
  for (const step of steps) expect((await patch(made.id, { status: step })).status).toBe(200);
  return read(made.id);
}

describe('PATCH /tickets/:id', () => {
  it.each<[string, unknown]>([
    ['title', 'Other'],
    ['description', ' Other\n'],
    ['priority', 'LOW'],
    ['category', 'EMAIL'],
    ['categoryConfigId', ' other '],
    ['resolution', ' Restarted.\n'],
    ['resolution', 'x'.repeat(65_535)],
    ['customFields', { a: 1 }],
  ])('changes only %s of a ticket', async (name, value) => {
    const before = await workspace.createTicket();
    const answer = await patch(before.id, { [name]: value });
    expect(answer.status, answer.text).toBe(200);
    const { data } = answer.body;
    expect(data).toEqual({ ...before, [name]: value, updatedAt: data.updatedAt, etag: data.etag });
    expect(data.updatedAt > before.updatedAt).toBe(true);
    expect(await read(before.id)).toEqual(data);
  });

  it('accepts a ticket number as parentId', async () => {
    const owner = await createWorkspace(api);
    const [parent, before] = [await owner.createTicket({ type: 'PROBLEM' }), await owner.createTicket()];
    const made = await owner.call('POST', '/tickets', { ...ticket, parentId: 'PRB-1' });
    expect(made.body.data.parentId).toBe(parent.id);
    const changed = await owner.call('PATCH', `/tickets/${before.id}`, { parentId: 'PRB-1' });
    expect(changed.body.data.parentId).toBe(parent.id);
    const unknown = { code: 'INVALID_REFERENCE', message: 'parentId must be a ticket of this workspace' };
    for (const parentId of ['PRB-2', 'CHG-1', 'INC-2147483648']) {
      expect(errorOf(await owner.call('POST', '/tickets', { ...ticket, parentId }))).toMatchObject(unknown);
      expect(errorOf(await owner.call('PATCH', '/tickets/INC-1', { parentId }))).toMatchObject(unknown);
    }
    const theirs = await createWorkspace(api);
    expect(errorOf(await theirs.call('POST', '/tickets', { ...ticket, parentId: 'PRB-1' }))).toMatchObject(unknown);
  });

  it('sets and clears the optional fields of a ticket', async () => {
    const { id: parentId } = await workspace.createTicket();
    const before = await workspace.createTicket({ categoryConfigId: 'cfg', customFields: { a: 1 } });
    const fields = { assigneeId: workspace.userId, watcherUserIds: [workspace.userId], parentId, resolution: 'Done.' };
    expect((await patch(before.id, fields)).body.data).toMatchObject(fields);
    const cleared = { assigneeId: null, parentId: null, resolution: null, category: null };
    expect((await patch(before.id, { ...cleared, watcherUserIds: [] })).body.data).toMatchObject({
      ...cleared,
      watcherUserIds: [],
      categoryConfigId: 'cfg',
      customFields: { a: 1 },
    });
  });

  it.each<[string, object, string]>([
    ...['title', 'description', 'status', 'priority', 'watcherUserIds', 'customFields'].map(
      (name): [string, object, string] => [`null as ${name}`, { [name]: null }, name],
    ),
    ...Object.entries({
      id: 1,
      ticketNumber: 'INC-1',
      type: 'INCIDENT',
      requesterId: 1,
      resolvedAt: null,
      closedAt: null,
      createdAt: '2026-11-20T10:00:00.000Z',
      updatedAt: '2026-11-20T10:00:00.000Z',
    }).map(([name, value]): [string, object, string] => [`the read-only field ${name}`, { [name]: value }, name]),
    ['a blank title', { title: '  ' }, 'title'],
    ['a title of 256 characters', { title: 'x'.repeat(256) }, 'title'],
    ['an empty description', { description: '' }, 'description'],
    ['a description of 65,536 characters', { description: 'x'.repeat(65_536) }, 'description'],
    ['an empty resolution', { resolution: '' }, 'resolution'],
    ['a resolution of 65,536 characters', { resolution: 'x'.repeat(65_536) }, 'resolution'],
    ['an empty categoryConfigId', { categoryConfigId: '' }, 'categoryConfigId'],
    ['an unknown status', { status: 'DONE' }, 'status'],
    ...unstorable.map((resolution): [string, object, string] => [
      'NUL or a lone surrogate',
      { resolution },
      'resolution',
    ]),
  ])('rejects a ticket change with %s', async (_, fields, path) => {
    const before = await workspace.createTicket();
    const answer = await patch(before.id, { priority: 'LOW', ...fields });
    expect(errorOf(answer)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path }] });
    expect(await read(before.id)).toEqual(before);
  });

  it('rejects a ticket change if both category and categoryConfigId would be null', async () => {
    const { id } = await workspace.createTicket();
    const rejected = [{ category: null }, { category: null, categoryConfigId: null }];
    for (const body of rejected) {
      expect(errorOf(await patch(id, body))).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: [{ path: 'category', message: 'is required unless categoryConfigId is given' }],
      });
    }
    expect((await patch(id, { category: null, categoryConfigId: 'cfg' })).status).toBe(200);
    expect(errorOf(await patch(id, { categoryConfigId: null })).code).toBe('VALIDATION_ERROR');
    expect((await patch(id, { category: 'OTHER', categoryConfigId: null })).status).toBe(200);
  });

  it('does not change updatedAt of a ticket if no other field changes', async () => {
    const { id: watcher } = await workspace.createUser();
    const { id } = await workspace.createTicket({
      watcherUserIds: [watcher, workspace.userId],
      assigneeId: watcher,
      categoryConfigId: 'cfg',
      customFields: { a: [1, 'x'], b: 0 },
    });
    await patch(id, { status: 'RESOLVED', resolution: 'Done.' });
    const before = await read(id);
    now = new Date(now.getTime() + 60_000);
    const { title, description, status, priority, category, categoryConfigId, assigneeId, resolution } = before;
    for (const body of [
      { title, description, status, priority, category, categoryConfigId, assigneeId, resolution, parentId: null },
      { title: ` ${title} ` },
      { watcherUserIds: [watcher, workspace.userId, watcher] },
      { customFields: {} },
      { customFields: { a: [1, 'x'] } },
      { customFields: { absent: null } },
    ]) {
      const answer = await patch(id, body);
      expect(answer.status, answer.text).toBe(200);
      expect(answer.body.data, JSON.stringify(body)).toEqual(before);
      expect(await read(id), JSON.stringify(body)).toEqual(before);
    }
  });

  it('stores -0 in the customFields of a ticket as 0', async () => {
    const before = await workspace.createTicket({ customFields: { n: 0 } });
    const answer = await patch(before.id, '{"customFields":{"n":-0}}');
    expect(answer.body.data).toEqual(before);
  });

  describe('status', () => {
    const moves = TicketStatus.options.flatMap((from) => TicketStatus.options.map((to) => ({ from, to })));
    const allowed = (from: TicketStatus, to: TicketStatus) => ticketTransitions[from].includes(to);

    it.each(moves.filter(({ from, to }) => allowed(from, to)))(
      'changes the ticket status from $from to $to',
      async ({ from, to }) => {
        const before = await createTicketIn(from);
        now = new Date(now.getTime() + 60_000);
        const { data } = (await patch(before.id, { status: to })).body;
        const moment = now.toISOString();
        expect(data).toEqual({
          ...before,
          status: to,
          resolvedAt: to === 'RESOLVED' ? moment : to === 'CLOSED' ? before.resolvedAt : null,
          closedAt: to === 'CLOSED' ? moment : null,
          updatedAt: data.updatedAt,
          etag: data.etag,
        });
        expect(await read(before.id)).toEqual(data);
      },
    );

    it.each(moves.filter(({ from, to }) => from !== to && !allowed(from, to)))(
      'rejects a ticket status change from $from to $to',
      async ({ from, to }) => {
        const before = await createTicketIn(from);
        const { code, message, details } = errorOf(await patch(before.id, { status: to, title: 'Changed' }));
        expect(code).toBe('INVALID_TRANSITION');
        expect(details).toEqual([{ path: 'status', message: expect.any(String) }]);
        const targets = ticketTransitions[from];
        const advice =
          targets.length === 0
            ? `${from} is final. To continue, create a new ticket.`
            : `Allowed values: ${targets.join(', ')}.`;
        expect(details?.[0]?.message).toBe(`can't change from ${from} to ${to}. ${advice}`);
        expect(message).toBe(`status ${details?.[0]?.message}`);
        expect(await read(before.id)).toEqual(before);
      },
    );

    it.each(TicketStatus.options)(
      'does not change a ticket if a PATCH request contains its current status %s',
      async (status) => {
        const before = await createTicketIn(status);
        now = new Date(now.getTime() + 60_000);
        const answer = await patch(before.id, { status });
        expect(answer.status).toBe(200);
        expect(answer.body.data).toEqual(before);
      },
    );

    it.each(['CLOSED', 'CANCELLED'] as const)(
      'accepts changes to the fields of a ticket with the status %s',
      async (status) => {
        const { id, resolvedAt, closedAt } = await createTicketIn(status);
        const fields = { title: 'Changed', priority: 'LOW', resolution: 'As said.', customFields: { a: 1 } };
        expect((await patch(id, { ...fields, status })).body.data).toMatchObject({
          ...fields,
          status,
          resolvedAt,
          closedAt,
        });
      },
    );
  });

  describe('customFields', () => {
    it('merges ticket customFields and removes fields that are set to null', async () => {
      const { id } = await workspace.createTicket({ customFields: { a: 1, b: [1, 2], c: 'x' } });
      expect((await patch(id, { customFields: { b: [3], d: true } })).body.data.customFields).toEqual({
        a: 1,
        b: [3],
        c: 'x',
        d: true,
      });
      await patch(id, { customFields: { a: null, c: null, never: null, e: [null] } });
      expect((await read(id)).customFields).toEqual({ b: [3], d: true, e: [null] });
    });

    it('checks the limits of ticket customFields after merging them', async () => {
      const { id } = await workspace.createTicket({ customFields: keys(50) });
      const rejected = await patch(id, { customFields: { k50: 1 } });
      expect(errorOf(rejected)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'customFields' }] });
      expect((await patch(id, { customFields: { k50: 1, k0: null } })).status).toBe(200);

      const large = await workspace.createTicket({ customFields: bytes(16_384) });
      expect(errorOf(await patch(large.id, { customFields: { l: 1 } }))).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: [{ path: 'customFields' }],
      });
      expect((await patch(large.id, { customFields: { k: null, l: 'x'.repeat(16_000) } })).status).toBe(200);
    });

    it('accepts a change of more than 50 customFields if the result is within the limits', async () => {
      const { id } = await workspace.createTicket({ customFields: keys(50) });
      const removed = Object.fromEntries(Object.keys(keys(50)).map((name) => [name, null]));
      const answer = await patch(id, { customFields: { ...removed, ...keys(10, 50) } });
      expect(answer.status, answer.text).toBe(200);
      expect(answer.body.data.customFields).toEqual(keys(10, 50));
    });
  });

  describe('an inactive user', () => {
    it('rejects an inactive user as a new assignee or watcher of a ticket', async () => {
      const { id: userId } = await inactiveUser();
      const { id } = await workspace.createTicket({ watcherUserIds: [workspace.userId] });
      for (const [body, path] of [
        [{ assigneeId: userId }, 'assigneeId'],
        [{ watcherUserIds: [workspace.userId, userId] }, 'watcherUserIds.1'],
      ] as const) {
        const { requestId: _, ...error } = errorOf(await patch(id, body));
        expect(error).toMatchObject({ code: 'INVALID_REFERENCE', details: [{ path }] });
        expect(JSON.stringify(error)).not.toContain(String(userId));
      }
    });

    it('keeps an inactive assignee or watcher of a ticket', async () => {
      const user = await workspace.createUser();
      const { id } = await workspace.createTicket({ assigneeId: user.id, watcherUserIds: [user.id] });
      await deactivateUser(workspace.context, user.email);
      const body = { title: 'Changed', assigneeId: user.id, watcherUserIds: [user.id, workspace.userId] };
      const answer = await patch(id, body);
      expect(answer.status, answer.text).toBe(200);
      expect((await read(id)).watcherUserIds).toEqual([workspace.userId, user.id].sort((a, b) => a - b));
      expect((await patch(id, { assigneeId: null })).status).toBe(200);
      expect(errorOf(await patch(id, { assigneeId: user.id })).code).toBe('INVALID_REFERENCE');
    });
  });

  describe('parentId', () => {
    const made = (count: number) => Promise.all(Array.from({ length: count }, () => workspace.createTicket()));

    it.each([1, 2, 3])('rejects a parentId that would create a cycle of %i tickets', async (length) => {
      const chain = await made(length);
      const ids = chain.map(({ id }) => id);
      for (const [i, id] of ids.slice(1).entries()) expect((await patch(id, { parentId: ids[i] })).status).toBe(200);
      const first = ids[0] as number;
      const answer = await patch(first, { parentId: ids.at(-1), title: 'Changed' });
      expect(errorOf(answer)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'parentId' }] });
      expect(await read(first)).toEqual(chain[0]);
    });

    it('accepts a parentId if the parent is not a descendant of the ticket', async () => {
      const [a, b, c] = (await made(3)).map(({ id }) => id) as [number, number, number];
      for (const [child, parentId] of [
        [b, a],
        [c, a],
        [c, b],
        [c, b],
      ] as const) {
        const answer = await patch(child, { parentId });
        expect(answer.status, answer.text).toBe(200);
        expect(answer.body.data.parentId).toBe(parentId);
      }
    });

    it.each([2, 3])(
      'rejects one of %i concurrent parentId changes that would together create a cycle',
      async (length) => {
        for (let round = 0; round < 10; round++) {
          const ids = (await made(length)).map(({ id }) => id);
          const answers = await Promise.all(ids.map((id, i) => patch(id, { parentId: ids[(i + 1) % length] })));
          const rejected = answers.filter(({ status }) => status !== 200);
          expect(rejected.map((answer) => errorOf(answer).code)).toEqual(['VALIDATION_ERROR']);
          const parents = await Promise.all(ids.map(async (id) => (await read(id)).parentId));
          expect(parents.filter((id) => id === null)).toHaveLength(1);
        }
      },
    );
  });

  describe('concurrent changes', () => {
    const statuses = (answers: Answer[]) => answers.map(({ status }) => status).sort();

    it('applies 20 concurrent changes to the customFields of a ticket', async () => {
      const { id } = await workspace.createTicket();
      const fields = Object.entries(keys(20));
      const answers = await Promise.all(fields.map(([name, value]) => patch(id, { customFields: { [name]: value } })));
      expect(statuses(answers)).toEqual(Array(20).fill(200));
      expect((await read(id)).customFields).toEqual(keys(20));
    });

    it('emits ticket.updated events in the order of concurrent changes', async () => {
      const owner = await createWorkspace(api);
      await owner.createWebhook();
      const { id } = await owner.createTicket();
      const titles = Array.from({ length: 20 }, (_, i) => `Title ${i}`);
      await Promise.all(titles.map((title) => owner.call('PATCH', `/tickets/${id}`, { title })));
      const where = { tenantId: owner.tenantId, type: 'ticket.updated' };
      const events = await api.prisma.event.findMany({ where, orderBy: { id: 'asc' } });
      const changes = events.map(({ body }) => JSON.parse(body).changes.title);
      expect(changes.map(({ to }) => to).sort()).toEqual(titles.sort());
      expect(changes.slice(1).map(({ from }) => from)).toEqual(changes.slice(0, -1).map(({ to }) => to));
    });

    it('delivers a ticket change to a webhook created while the change waited for a lock', async () => {
      const owner = await createWorkspace(api);
      const { id } = await owner.createTicket();
      let answer: Promise<Answer> | undefined;
      await api.owner.prisma.$transaction(async (tx) => {
        await tx.$executeRaw`SELECT FROM tickets WHERE tenant_id = ${owner.tenantId} AND id = ${id} FOR UPDATE`;
        answer = owner.call('PATCH', `/tickets/${id}`, { title: 'Told' });
        const waiting = () => api.prisma.$queryRaw<unknown[]>`SELECT FROM pg_locks WHERE NOT granted`;
        await expect.poll(waiting).toHaveLength(1);
        await owner.createWebhook();
      });
      expect((await answer)?.status).toBe(200);
      const where = { tenantId: owner.tenantId, type: 'ticket.updated' };
      expect(await api.prisma.event.count({ where })).toBe(1);
    });

    it('does not overwrite ticket fields that a concurrent transaction has changed', async () => {
      const { id } = (await create()).body.data;
      let answer: Promise<Answer> | undefined;
      await api.owner.prisma.$transaction(async (tx) => {
        await tx.$executeRaw`UPDATE tickets SET priority = 'CRITICAL', watcher_ids = ARRAY[${workspace.userId}::bigint] WHERE tenant_id = ${workspace.tenantId} AND id = ${id}`;
        answer = patch(id, { title: 'Changed at the same time' });
        const waiting = () => api.prisma.$queryRaw<unknown[]>`SELECT FROM pg_locks WHERE NOT granted`;
        await expect.poll(waiting).toHaveLength(1);
      });
      expect((await answer)?.body.data).toMatchObject({ priority: 'CRITICAL', watcherUserIds: [workspace.userId] });
      expect(await read(id)).toEqual((await answer)?.body.data);
    });

    it('rejects a ticket change if a concurrent change has made it invalid', async () => {
      for (let round = 0; round < 5; round++) {
        const { id } = await createTicketIn('RESOLVED');
        await patch(id, { categoryConfigId: 'cfg' });
        const moves = ['CLOSED', 'IN_PROGRESS'].map((status) => patch(id, { status }));
        expect(statuses(await Promise.all(moves))).toEqual([200, 400]);
        const clearings = ['category', 'categoryConfigId'].map((name) => patch(id, { [name]: null }));
        expect(statuses(await Promise.all(clearings))).toEqual([200, 400]);
      }
    });
  });
});
