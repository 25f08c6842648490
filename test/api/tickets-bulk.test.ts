import { setChangePolicy } from '@itsm-api/server/resources/tickets/change-policy.ts';
import pg from 'pg';
import { describe, expect } from 'vitest';
import { type Answer, errorOf } from '../support/api.ts';
import { api, it, workspace } from '../support/fixture.ts';
import { pairsOf } from '../support/pairs.ts';
import { comment, createWorkspace, ticket, unique, type Workspace } from '../support/workspace.ts';

/**
 * Compares each result in a bulk response with the response to an equivalent single request
 * (docs/decisions/tickets.md).
 */
let other: Workspace;

it.beforeAll(async () => {
  other = await createWorkspace(api);
});

/** The result of one item in a bulk response. */
// biome-ignore lint/suspicious/noExplicitAny: a test fails when what it reads isn't there
type ItemResult = any;

const unknownId = 9007199254740991;

async function bulk(method: 'POST' | 'PATCH', tickets: unknown, of = workspace): Promise<ItemResult[]> {
  const answer = await of.call(method, '/tickets/bulk', { tickets });
  expect(answer.status, answer.text).toBe(200);
  expect(Object.keys(answer.body)).toEqual(['success', 'data']);
  return answer.body.data;
}

/** Converts the response of a single request into the expected result of a bulk item. */
function asItem({ status, body }: Answer): ItemResult {
  if (body.success) return { status, data: body.data };
  const { requestId: _, ...error } = body.error;
  return { status, error };
}

/** Creates a workspace with a field, a ticket category and the policy for changes. */
async function createRules(): Promise<Workspace> {
  const own = await createWorkspace(api);
  await own.createField({ key: 'floor', type: 'NUMBER' });
  await own.createTicketCategory();
  await setChangePolicy(own.context, true);
  return own;
}

describe('POST /tickets/bulk', () => {
  it('creates tickets with consecutive numbers in the order of the bulk request', async () => {
    const own = await createWorkspace(api);
    await own.createTicket();
    const types = ['INCIDENT', 'CHANGE', 'INCIDENT', 'SERVICE_REQUEST', 'PROBLEM', 'CHANGE'];
    const answers = await bulk(
      'POST',
      types.map((type, i) => ({ ...ticket, type, title: `No. ${i}` })),
      own,
    );
    expect(answers.map(({ status }) => status)).toEqual(types.map(() => 201));
    const made = answers.map(({ data }) => data);
    expect(made.map(({ title }) => title)).toEqual(types.map((_, i) => `No. ${i}`));
    expect(made.map(({ ticketNumber }) => ticketNumber)).toEqual([
      'INC-2',
      'CHG-1',
      'INC-3',
      'REQ-1',
      'PRB-1',
      'CHG-2',
    ]);
    const list = await own.call('GET', '/tickets');
    expect(list.body.data.slice(0, -1)).toEqual(made.toReversed());
    expect(list.body.meta.totalCount).toBe(7);
    expect((await own.createTicket()).ticketNumber).toBe('INC-4');
  });

  it('creates tickets with their first comments', async () => {
    const own = await createWorkspace(api);
    await own.createWebhook({ events: ['ticket.created', 'ticket.updated'] });
    const comments = ['First', 'Second'].map((body) => ({ ...comment, body }));
    const [commented, plain] = await bulk('POST', [{ ...ticket, comments }, ticket], own);
    expect([commented.data.commentCount, plain.data.commentCount]).toEqual([2, 0]);
    expect(commented.data).toEqual((await own.call('GET', `/tickets/${commented.data.id}`)).body.data);
    const list = await own.call('GET', `/tickets/${commented.data.id}/comments`);
    expect(list.body.data).toMatchObject([
      { ...comments[1], authorId: own.userId },
      { ...comments[0], authorId: own.userId },
    ]);
    const events = await api.prisma.event.findMany({ where: { tenantId: own.tenantId }, orderBy: { id: 'asc' } });
    expect(events.map(({ type, body }) => [type, JSON.parse(body).ticket])).toEqual([
      ['ticket.created', commented.data],
      ['ticket.created', plain.data],
    ]);
  });

  it('creates no ticket whose comments are invalid', async () => {
    const own = await createWorkspace(api);
    const results = await bulk(
      'POST',
      [
        { ...ticket, comments: [comment, { ...comment, body: '' }] },
        { ...ticket, comments: Array(101).fill(comment) },
        { ...ticket, comments: Array(100).fill(comment) },
      ],
      own,
    );
    expect(results).toMatchObject([
      { status: 400, error: { code: 'VALIDATION_ERROR', details: [{ path: 'comments.1.body' }] } },
      { status: 400, error: { code: 'VALIDATION_ERROR', details: [{ path: 'comments' }] } },
      { status: 201, data: { commentCount: 100 } },
    ]);
    expect((await own.call('GET', '/tickets')).body.meta.totalCount).toBe(1);
  });

  it('rejects a request with more than 1,000 comments', async () => {
    const tickets = Array(11).fill({ ...ticket, comments: Array(100).fill(comment) });
    const answer = await workspace.call('POST', '/tickets/bulk', { tickets });
    expect([answer.status, errorOf(answer).code]).toEqual([400, 'PAYLOAD_TOO_LARGE']);
  });

  it('accepts all ticket fields in a bulk create item', async () => {
    const [user, parent] = [await workspace.createUser(), await workspace.createTicket()];
    const full = {
      ...ticket,
      priority: 'HIGH',
      categoryConfigId: 'x',
      assigneeId: user.id,
      watcherUserIds: [user.id, workspace.userId, user.id],
      assetIds: [(await workspace.createAsset()).id],
      parentId: parent.id,
      customFields: { site: 'Berlin', floors: [1, 2] },
    };
    const [first, second] = await bulk('POST', [full, ticket]);
    const single = await workspace.createTicket(full as never);
    const { id, ticketNumber, createdAt, updatedAt, etag, ...rest } = single;
    expect(first.data).toMatchObject(rest);
    expect(second.data).toMatchObject({ watcherUserIds: [], assigneeId: null, customFields: {}, status: 'OPEN' });
    expect((await workspace.call('GET', `/tickets/${first.data.id}`)).body.data).toEqual(first.data);
  });

  const faults: [string, () => Promise<unknown>][] = [
    ['no title', async () => ({ ...ticket, title: undefined })],
    ['an unknown field', async () => ({ ...ticket, surprise: 1 })],
    ['several errors', async () => ({ title: '', type: 'NONSENSE', customFields: { x: {} } })],
    ['no category', async () => ({ ...ticket, category: null })],
    ['a title of control characters', async () => ({ ...ticket, title: 'a\u0000b' })],
    ['an id', async () => ({ ...ticket, id: 1 })],
    ['an unknown assignee', async () => ({ ...ticket, assigneeId: unknownId })],
    ["another workspace's user", async () => ({ ...ticket, assigneeId: other.userId })],
    ['some unknown watchers', async () => ({ ...ticket, watcherUserIds: [workspace.userId, unknownId, other.userId] })],
    ['an unknown asset', async () => ({ ...ticket, assetIds: [unknownId] })],
    ["another workspace's asset", async () => ({ ...ticket, assetIds: [(await other.createAsset()).id] })],
    ['an unknown parent', async () => ({ ...ticket, parentId: unknownId })],
    ["another workspace's parent", async () => ({ ...ticket, parentId: (await other.createTicket()).id })],
    ['a parent with an unknown ticket number', async () => ({ ...ticket, parentId: 'PRB-99' })],
    ['a parent with a malformed ticket number', async () => ({ ...ticket, parentId: 'INC-01' })],
    ['an inactive assignee', async () => ({ ...ticket, assigneeId: await inactiveUser() })],
    ['no fields', async () => ({})],
  ];

  it('returns the same error for an invalid bulk create item as for POST /tickets', async () => {
    for (const [name, fault] of faults) {
      const wrong = await fault();
      const single = asItem(await workspace.call('POST', '/tickets', wrong));
      const [before, rejected, after] = await bulk('POST', [ticket, wrong, ticket]);
      expect(rejected, name).toEqual(single);
      expect(rejected.status, name).toBe(400);
      expect([before.status, after.status]).toEqual([201, 201]);
      expect(after.data.id).toBeGreaterThan(before.data.id);
    }
  });

  it('returns the error of POST /tickets for a bulk create item with two faults', async () => {
    const own = await createRules();
    await own.createTicket({ externalId: 'taken' });
    const bodies = pairsOf<object>({
      title: { title: '' },
      assignee: { assigneeId: unknownId },
      address: { requesterId: 'unknown@example.com' },
      category: { categoryConfigId: 'unknown' },
      field: { customFields: { floor: 'x' } },
      'external id': { externalId: 'taken' },
      'field of imports': { createdAt: '2026-01-01T00:00:00Z' },
    }).map(([names, body]) => ({ names, body: { ...ticket, ...body } }));
    const items = await bulk(
      'POST',
      bodies.map(({ body }) => body),
      own,
    );
    for (const [index, { names, body }] of bodies.entries()) {
      expect(items[index], names).toEqual(asItem(await own.call('POST', '/tickets', body)));
      expect(items[index].status, names).toBe(400);
    }
  });

  it.each([
    ['null', null],
    ['a number', 7],
    ['a string', 'x'],
    ['an array', []],
  ])('rejects %s as a bulk create item, but creates the valid tickets', async (_, wrong) => {
    const [made, rejected] = await bulk('POST', [ticket, wrong]);
    expect(made.status).toBe(201);
    expect(rejected).toMatchObject({ status: 400, error: { code: 'VALIDATION_ERROR' } });
  });

  it('returns an error for each of 100 invalid bulk create items', async () => {
    const answers = await bulk(
      'POST',
      Array.from({ length: 100 }, () => ({})),
    );
    expect(answers).toHaveLength(100);
    for (const { status } of answers) expect(status).toBe(400);
  });

  it('emits ticket.created for each ticket of a bulk create, in request order', async () => {
    const own = await createWorkspace(api);
    const hooks = [await own.createWebhook(), await own.createWebhook({ events: ['ticket.updated'] })];
    const answers = await bulk('POST', [ticket, {}, { ...ticket, title: 'Second' }], own);
    const made = answers.flatMap(({ data }) => data ?? []);
    expect(await readEvents(own)).toEqual(
      made.map((data) => ({ type: 'ticket.created', actor: getActor(own), ticket: data })),
    );
    const deliveries = await api.prisma.delivery.findMany({ where: { tenantId: own.tenantId } });
    expect(deliveries.map(({ subscriptionId }) => Number(subscriptionId))).toEqual([hooks[0]?.id, hooks[0]?.id]);
  });
});

describe('PATCH /tickets/bulk', () => {
  it('updates and returns every ticket of a bulk update', async () => {
    const [user, parent] = [await workspace.createUser(), await workspace.createTicket()];
    const [a, b, c] = [await workspace.createTicket(), await workspace.createTicket(), await workspace.createTicket()];
    const { id: assetId } = await workspace.createAsset();
    const answers = await bulk('PATCH', [
      { id: c.id, status: 'RESOLVED', resolution: 'Done', watcherUserIds: [user.id], assetIds: [assetId] },
      { id: a.id, title: 'Changed', customFields: { site: 'Bonn' }, assigneeId: user.id },
      { id: b.id, priority: b.priority },
      { id: parent.id, description: 'Above' },
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(answers[0].data).toMatchObject({
      id: c.id,
      status: 'RESOLVED',
      resolvedAt: expect.any(String),
      watcherUserIds: [user.id],
      assetIds: [assetId],
    });
    expect(answers[1].data).toMatchObject({ id: a.id, title: 'Changed', customFields: { site: 'Bonn' } });
    // A bulk item that changes no field doesn't change `updatedAt`.
    expect(answers[2].data).toEqual(b);
    for (const { data } of answers) {
      expect((await workspace.call('GET', `/tickets/${data.id}`)).body.data).toEqual(data);
    }
  });

  it('updates only the tickets in a bulk update whose etag equals `ifMatch`', async () => {
    const [a, b] = [await workspace.createTicket(), await workspace.createTicket()];
    await workspace.call('PATCH', `/tickets/${b.id}`, { title: 'By another client' });
    const items = [a, b].map(({ id, etag }) => ({ id, ifMatch: etag, priority: 'CRITICAL' }));
    const [first, second] = await bulk('PATCH', items);
    expect(first).toMatchObject({ status: 200, data: { priority: 'CRITICAL' } });
    expect(second).toMatchObject({ status: 412, error: { code: 'PRECONDITION_FAILED' } });
    const { data } = (await workspace.call('GET', `/tickets/${b.id}`)).body;
    expect(data).toMatchObject({ title: 'By another client', priority: b.priority });
    // A proxy that compresses adds the prefix `W/` to the header `ETag`.
    for (const ifMatch of [data.etag, `W/${first.data.etag}`]) {
      const id = ifMatch === data.etag ? b.id : a.id;
      expect((await bulk('PATCH', [{ id, ifMatch, priority: 'LOW' }]))[0].status).toBe(200);
    }
  });

  it.each(['3-abc', 'w/"3-abc"', 'W/', '"3-abc", "4-abc"', '*'])(
    'rejects the value %s of `ifMatch` in a bulk update',
    async (ifMatch) => {
      const { id } = await workspace.createTicket();
      const [{ status, error }] = await bulk('PATCH', [{ id, ifMatch, priority: 'LOW' }]);
      expect([status, error.code, error.details[0].path]).toEqual([400, 'VALIDATION_ERROR', 'ifMatch']);
    },
  );

  it('changes the watchers of one ticket in a bulk update without affecting other tickets', async () => {
    const users = await Promise.all([1, 2, 3].map(async () => (await workspace.createUser()).id));
    const watcherUserIds = users.toSorted((x, y) => x - y);
    const [a, b] = [await workspace.createTicket({ watcherUserIds }), await workspace.createTicket({ watcherUserIds })];
    await bulk('PATCH', [
      { id: a.id, watcherUserIds: watcherUserIds.slice(1) },
      { id: b.id, title: 'x' },
    ]);
    const watchers = async (id: number) => (await workspace.call('GET', `/tickets/${id}`)).body.data.watcherUserIds;
    expect([await watchers(a.id), await watchers(b.id)]).toEqual([watcherUserIds.slice(1), watcherUserIds]);
  });

  it('returns the same error for an invalid bulk update item as for PATCH /tickets/{id}', async () => {
    const closed = await workspace.createTicket();
    await workspace.call('PATCH', `/tickets/${closed.id}`, { status: 'CANCELLED' });
    const full = await workspace.createTicket({
      customFields: Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`field${i}`, i])),
    });
    const theirs = await other.createTicket();
    const mine = await workspace.createTicket();
    const faults: [number | string, Record<string, unknown>][] = [
      [closed.id, { status: 'OPEN' }],
      [closed.id, { title: 'x', status: 'IN_PROGRESS' }],
      [full.id, { customFields: { more: 1 } }],
      [mine.id, { category: null }],
      [mine.id, { title: '' }],
      [mine.id, { type: 'CHANGE' }],
      [mine.id, {}],
      [mine.id, { assigneeId: unknownId }],
      [mine.id, { watcherUserIds: [other.userId] }],
      [mine.id, { parentId: unknownId }],
      [mine.id, { parentId: theirs.id }],
      [mine.id, { parentId: mine.id }],
      [mine.id, { parentId: mine.ticketNumber }],
      [mine.id, { parentId: 'PRB-99' }],
      [unknownId, { parentId: 'PRB-99' }],
      ['PRB-99', { title: 'x' }],
      [theirs.id, { title: 'x' }],
      [unknownId, { title: 'x' }],
      [unknownId, { title: '' }],
    ];
    for (const [id, patch] of faults) {
      const single = asItem(await workspace.call('PATCH', `/tickets/${id}`, patch));
      const [first, second] = [await workspace.createTicket(), await workspace.createTicket()];
      const answers = await bulk('PATCH', [
        { id: first.id, title: 'y' },
        { id, ...patch },
        { id: second.id, title: 'y' },
      ]);
      expect(answers[1], JSON.stringify([id, patch])).toEqual(single);
      expect(answers.map(({ status }) => status)).toEqual([200, single.status, 200]);
      expect(single.status).toBeGreaterThanOrEqual(400);
    }
    expect((await other.call('GET', `/tickets/${theirs.id}`)).body.data).toEqual(theirs);
  });

  it('returns the error of PATCH /tickets/{id} for a bulk update item with two faults', async () => {
    const own = await createRules();
    await own.createTicket({ externalId: 'taken' });
    const { id } = await own.createTicket({ type: 'CHANGE' });
    const patches = pairsOf<{ ifMatch?: string }>({
      title: { title: '' },
      version: { ifMatch: '"999-x"' },
      transition: { status: 'CLOSED' },
      policy: { status: 'IN_PROGRESS' },
      'no category': { category: null },
      window: { plannedEndAt: '2026-01-01T00:00:00Z' },
      assignee: { assigneeId: unknownId },
      address: { watcherUserIds: ['unknown@example.com'] },
      'ticket category': { categoryConfigId: 'unknown' },
      field: { customFields: { floor: 'x' } },
      cycle: { parentId: id },
      'external id': { externalId: 'taken' },
    });
    for (const [names, { ifMatch, ...patch }] of patches) {
      const headers: Record<string, string> = ifMatch === undefined ? {} : { 'if-match': ifMatch };
      const [item] = await bulk('PATCH', [{ id, ifMatch, ...patch }], own);
      expect(item, names).toEqual(asItem(await own.call('PATCH', `/tickets/${id}`, patch, headers)));
      expect(item.status, names).toBeGreaterThanOrEqual(400);
    }
  });

  it.each([
    [{}],
    [null],
    [{ title: 'x' }],
    [{ id: '1', title: 'x' }],
    [{ id: 1.5, title: 'x' }],
    [{ id: 0, title: 'x' }],
  ])('rejects the bulk update item %j, but applies the valid items', async (wrong) => {
    const made = await workspace.createTicket();
    const [changed, rejected] = await bulk('PATCH', [{ id: made.id, title: 'y' }, wrong]);
    expect(changed.status).toBe(200);
    expect(rejected).toMatchObject({ status: 400, error: { code: 'VALIDATION_ERROR' } });
  });

  it('accepts ticket numbers as ids in a bulk update', async () => {
    const own = await createWorkspace(api);
    const [above, a, b] = [
      await own.createTicket({ type: 'PROBLEM' }),
      await own.createTicket(),
      await own.createTicket(),
    ];
    const answers = await bulk(
      'PATCH',
      [
        { id: b.ticketNumber, title: 'B' },
        { id: 'INC-3', title: 'C' },
        { id: a.ticketNumber, parentId: above.ticketNumber },
      ],
      own,
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 200]);
    expect(answers[0].data).toMatchObject({ id: b.id, title: 'B' });
    expect(answers[2].data).toMatchObject({ id: a.id, parentId: above.id });
    const [made] = await bulk('POST', [{ ...ticket, parentId: 'PRB-1' }], own);
    expect(made.data.parentId).toBe(above.id);
    // A new workspace has no ticket PRB-1.
    expect(await bulk('PATCH', [{ id: 'PRB-1', title: 'x' }], await createWorkspace(api))).toMatchObject([
      { status: 404 },
    ]);
  });

  it('rejects a bulk update that lists a ticket by both id and number', async () => {
    const made = await workspace.createTicket();
    const tickets = [{ id: made.id, title: 'x' }, {}, { id: made.ticketNumber, title: 'y' }];
    expect(errorOf(await workspace.call('PATCH', '/tickets/bulk', { tickets }))).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: 'tickets.2.id', message: 'is a duplicate: list each ticket only once' }],
    });
    const second = [
      { id: made.id, title: 'x' },
      { id: made.ticketNumber, title: '' },
    ];
    expect((await workspace.call('PATCH', '/tickets/bulk', { tickets: second })).status).toBe(400);
    expect((await workspace.call('GET', `/tickets/${made.id}`)).body.data).toEqual(made);
  });

  it.each([null, '', 'n/a', 0, 1.5])(
    'rejects all bulk update items with the invalid id %j, but applies valid items',
    async (id) => {
      const { id: made } = await workspace.createTicket();
      const answers = await bulk('PATCH', [
        { id, title: 'x' },
        { id: made, title: 'y' },
        { id, title: 'x' },
      ]);
      expect(answers.map(({ status }) => status)).toEqual([400, 200, 400]);
      expect(answers[0].error).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'id' }] });
    },
  );

  it('checks for parentId cycles after each item of a bulk update', async () => {
    const make = async (parentId?: number) => (await workspace.createTicket({ parentId })).id;
    const [a, b, c] = [await make(), await make(), await make()];
    const circle = [
      { id: a, parentId: b },
      { id: b, parentId: c },
      { id: c, parentId: a },
    ];
    const answers = await bulk('PATCH', circle);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400]);
    expect(answers[2].error.message).toBe('parentId must not be the ticket itself or one of its descendants');
    // The first item removes the parent of `below`, so the second item can set `below` as the parent of `top`.
    const [top, below] = [await make(), await make()];
    await workspace.call('PATCH', `/tickets/${below}`, { parentId: top });
    const turned = await bulk('PATCH', [
      { id: below, parentId: null },
      { id: top, parentId: below },
    ]);
    expect(turned.map(({ status }) => status)).toEqual([200, 200]);
  });

  it('emits ticket.updated for each ticket that a bulk update changes', async () => {
    const own = await createWorkspace(api);
    const [a, b] = [await own.createTicket(), await own.createTicket()];
    await own.createWebhook();
    const answers = await bulk('PATCH', [{ id: b.id, title: 'B' }, { id: a.id, title: a.title }, { id: 7 }], own);
    expect(await readEvents(own)).toEqual([
      {
        type: 'ticket.updated',
        actor: getActor(own),
        ticket: answers[0].data,
        changes: { title: { from: b.title, to: 'B' } },
      },
    ]);
  });

  it('locks the tickets of a bulk update in id order', async () => {
    const ids = (
      await bulk(
        'POST',
        Array.from({ length: 9 }, () => ticket),
      )
    ).map(({ data }) => data.id);
    const client = new pg.Client({ connectionString: api.databaseUrl });
    await client.connect();
    // Without a fixed lock order, the two requests would deadlock. Each would lock half of the tickets and wait for the
    // rest.
    await client.query(`BEGIN; SELECT FROM tickets WHERE id = ${ids[4]} FOR UPDATE`);
    const change = (title: string) => ids.map((id) => ({ id, title }));
    const both = Promise.all([bulk('PATCH', change('Up')), bulk('PATCH', change('Down').toReversed())]);
    const waiting = `SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%FOR NO KEY UPDATE%'`;
    await expect.poll(async () => (await api.owner.pool.query(waiting)).rows[0].count).toBe(2);
    await client.end();
    for (const answers of await both) for (const { status } of answers) expect(status).toBe(200);
  });

  it('keeps ticket totals correct during concurrent bulk updates', async () => {
    const own = await createWorkspace(api);
    const made = (
      await bulk(
        'POST',
        Array.from({ length: 40 }, () => ticket),
        own,
      )
    ).map(({ data }) => data.id);
    const priorities = ['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'];
    const rounds = Array.from({ length: 12 }, (_, round) => {
      const ids = round % 2 === 0 ? made : made.toReversed();
      return bulk(
        'PATCH',
        ids.map((id, i) => ({ id, priority: priorities[(i * 7 + round) % 4] })),
        own,
      );
    });
    const singles = made.map((id, i) => own.call('PATCH', `/tickets/${id}`, { priority: priorities[i % 4] }));
    for (const answers of await Promise.all(rounds)) for (const { status } of answers) expect(status).toBe(200);
    for (const { status } of await Promise.all(singles)) expect(status).toBe(200);
    for (const priority of priorities) {
      const { body } = await own.call('GET', `/tickets?priority=${priority}&perPage=100`);
      expect(body.meta.totalCount).toBe(body.data.length);
    }
  });
});

describe.each(['POST', 'PATCH'] as const)('%s /tickets/bulk as a whole', (method) => {
  it.each([
    ['no tickets', {}, 'tickets'],
    ['an empty array', { tickets: [] }, 'tickets'],
    ['101 tickets', { tickets: Array.from({ length: 101 }, () => ticket) }, 'tickets'],
    ['19,000 items', { tickets: Array.from({ length: 19_000 }, () => 0) }, 'tickets'],
    ['an object as tickets', { tickets: { 0: ticket } }, 'tickets'],
    ['a string as tickets', { tickets: 'x' }, 'tickets'],
    ['an unknown field', { tickets: [ticket], atomic: true }, 'atomic'],
    [
      'a duplicate id',
      {
        tickets: [
          { id: 5, title: 'x' },
          { id: 6, title: 'x' },
          { id: 5, title: '' },
        ],
      },
      'tickets.2.id',
    ],
  ])('rejects a bulk request with %s', async (_, body, path) => {
    const before = await api.prisma.ticket.count();
    const answer = await workspace.call(method, '/tickets/bulk', body);
    expect(answer.status, answer.text).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path }] });
    expect(await api.prisma.ticket.count()).toBe(before);
  });

  it('writes no ticket if the database fails during a bulk request', async () => {
    const title = `Fails ${unique()}`;
    const { id } = await workspace.createTicket();
    await api.owner.pool.query(`ALTER TABLE tickets ADD CONSTRAINT none CHECK (title <> '${title}') NOT VALID`);
    const before = await api.prisma.ticket.count();
    const tickets = [
      { ...(method === 'POST' ? ticket : { id: (await workspace.createTicket()).id }), title: 'Good' },
      { ...(method === 'POST' ? ticket : { id }), title },
    ];
    const answer = await workspace.call(method, '/tickets/bulk', { tickets });
    await api.owner.pool.query('ALTER TABLE tickets DROP CONSTRAINT none');
    expect(answer.status).toBe(500);
    expect(await api.prisma.ticket.count()).toBe(before + (method === 'POST' ? 0 : 1));
    expect(await api.prisma.ticket.count({ where: { tenantId: workspace.tenantId, title: 'Good' } })).toBe(0);
  });

  it('counts a bulk request as one request toward the rate limit', async () => {
    const tickets = [
      { ...(method === 'POST' ? ticket : { id: (await workspace.createTicket()).id }), title: 'x' },
      { ...(method === 'POST' ? ticket : { id: (await workspace.createTicket()).id }), title: 'y' },
    ];
    const left = async () =>
      Number((await workspace.call('GET', '/tickets?perPage=1')).headers['x-ratelimit-remaining']);
    const before = await left();
    await workspace.call(method, '/tickets/bulk', { tickets });
    expect(await left()).toBe(before - 2);
  });
});

async function inactiveUser(): Promise<number> {
  const { id } = await workspace.createUser();
  await api.prisma.user.updateMany({ where: { id }, data: { active: false } });
  return id;
}

/** Returns the actor that an event must contain if the API key of the workspace made the change. */
function getActor({ context: { userId, keyId } }: Workspace): object {
  return { userId: Number(userId), keyId: Number(keyId) };
}

async function readEvents({ tenantId }: Workspace): Promise<unknown[]> {
  const events = await api.prisma.event.findMany({ where: { tenantId }, orderBy: { id: 'asc' } });
  return events.map(({ body }) => {
    const { id: _, timestamp, ...rest } = JSON.parse(body);
    return rest;
  });
}
