import {
  Priority,
  type Ticket,
  TicketCategory,
  TicketStatus,
  TicketType,
  ticketNumberPrefixes,
  ticketTransitions,
  type User,
} from '@itsm-api/contract';
import { deactivateUser } from '@itsm-api/server/resources/users/queries.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Api, errorOf, startApi } from '../support/api.ts';
import { createWorkspace, ticket, unique, type Workspace } from '../support/workspace.ts';

let api: Api;
let workspace: Workspace;
let now = new Date('2026-11-20T10:00:00.000Z');

beforeAll(async () => {
  api = await startApi({ now: () => now });
  workspace = await createWorkspace(api);
});
afterAll(() => api.close());

const create = (fields: object = {}, owner = workspace) => owner.call('POST', '/tickets', { ...ticket, ...fields });
const patch = (id: number, body: unknown) => workspace.call('PATCH', `/tickets/${id}`, body);

async function read(id: number): Promise<Ticket> {
  return (await workspace.call('GET', `/tickets/${id}`)).body.data;
}

async function inactiveUser(): Promise<User> {
  return deactivateUser(workspace.context, (await workspace.createUser()).email);
}

/** A new ticket that has gone the shortest way to a status. */
async function ticketIn(status: TicketStatus): Promise<Ticket> {
  const made = await workspace.createTicket();
  if (status === 'OPEN') return made;
  const steps = ticketTransitions.OPEN.includes(status) ? [status] : (['RESOLVED', status] as const);
  for (const step of steps) expect((await patch(made.id, { status: step })).status).toBe(200);
  return read(made.id);
}

const keys = (count: number, from = 0) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i + from}`, 1]));
/** Takes so many bytes as JSON, of which the euro signs take three each. */
const bytes = (size: number) => ({ k: '€'.repeat(5000) + 'x'.repeat(size - 15_000 - '{"k":""}'.length) });

/** What PostgreSQL or UTF-8 can't hold. */
const unstorable = ['a\0b', '\0', 'half \ud83d', '\ude00 half', '\ude00\ud83d'];

describe('POST /tickets', () => {
  it('fills in what is not given', async () => {
    const answer = await create();
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      success: true,
      data: {
        ...ticket,
        id: expect.any(Number),
        ticketNumber: expect.stringMatching(/^INC-\d+$/),
        status: 'OPEN',
        priority: 'MEDIUM',
        categoryConfigId: null,
        requesterId: workspace.userId,
        assigneeId: null,
        watcherUserIds: [],
        parentId: null,
        customFields: {},
        resolution: null,
        resolvedAt: null,
        closedAt: null,
        commentCount: 0,
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
    });
  });

  it('keeps every field, and answers the same in detail and list', async () => {
    const owner = await createWorkspace(api);
    const parent = await owner.createTicket();
    const fields = {
      title: 'Drucker druckt nicht 🖨️',
      description: '  אין נייר\n\tand no toner 👩‍🔧\uffff\n',
      type: 'SERVICE_REQUEST',
      category: 'HARDWARE',
      categoryConfigId: ' cfg/ü 1 ',
      priority: 'CRITICAL',
      assigneeId: owner.userId,
      watcherUserIds: [owner.userId],
      parentId: parent.id,
      customFields: { site: 'Köln', floors: [1, 'two', null, true] },
    };
    const { data } = (await create(fields, owner)).body;
    expect(data).toMatchObject(fields);
    expect((await owner.call('GET', `/tickets/${data.id}`)).body).toEqual({ success: true, data });
    expect((await owner.call('GET', '/tickets')).body.data).toEqual([data, parent]);
  });

  it('takes null for absent', async () => {
    const optional = ['priority', 'categoryConfigId', 'assigneeId', 'watcherUserIds', 'parentId', 'customFields'];
    const answer = await create(Object.fromEntries(optional.map((name) => [name, null])));
    expect(answer.status, answer.text).toBe(201);
    expect(answer.body.data).toMatchObject({
      priority: 'MEDIUM',
      categoryConfigId: null,
      assigneeId: null,
      watcherUserIds: [],
      parentId: null,
      customFields: {},
    });
    expect((await create({ category: null, categoryConfigId: 'cfg' })).body.data.category).toBeNull();
  });

  it.each<[string, object]>([
    ...TicketType.options.map((type): [string, object] => [`the type ${type}`, { type }]),
    ...Priority.options.map((priority): [string, object] => [`the priority ${priority}`, { priority }]),
    ...TicketCategory.options.map((category): [string, object] => [`the category ${category}`, { category }]),
    ['categoryConfigId alone', { category: undefined, categoryConfigId: 'only this' }],
    ['categoryConfigId beside category', { category: 'EMAIL', categoryConfigId: 'and this' }],
    ['a title of 255', { title: 'x'.repeat(255) }],
    ['a description of 65,535', { description: 'x'.repeat(65_535) }],
    ['a categoryConfigId of 255', { categoryConfigId: 'x'.repeat(255) }],
  ])('takes %s', async (_, fields) => {
    const answer = await create(fields);
    expect(answer.status, answer.text).toBe(201);
    // Sent as JSON, a field that is undefined is absent.
    expect(answer.body.data).toMatchObject(JSON.parse(JSON.stringify(fields)));
  });

  it.each([
    ['a missing title', { title: undefined }, 'title'],
    ['a missing description', { description: undefined }, 'description'],
    ['a missing type', { type: undefined }, 'type'],
    ['neither category nor categoryConfigId', { category: undefined }, 'category'],
    ['null for both category and categoryConfigId', { category: null, categoryConfigId: null }, 'category'],
    ['null as title', { title: null }, 'title'],
    ['null as description', { description: null }, 'description'],
    ['null as type', { type: null }, 'type'],
    ['an empty title', { title: '' }, 'title'],
    ['a blank title', { title: ' \t\n\u00a0' }, 'title'],
    ['a title of 256', { title: 'x'.repeat(256) }, 'title'],
    ['a title that is no text', { title: 5 }, 'title'],
    ['an empty description', { description: '' }, 'description'],
    ['a description of 65,536', { description: 'x'.repeat(65_536) }, 'description'],
    ['an unknown type', { type: 'INCIDENTS' }, 'type'],
    ['a type in lower case', { type: 'incident' }, 'type'],
    ['an unknown category', { category: 'PRINTER' }, 'category'],
    ['an empty categoryConfigId', { categoryConfigId: '' }, 'categoryConfigId'],
    ['a categoryConfigId of 256', { categoryConfigId: 'x'.repeat(256) }, 'categoryConfigId'],
    ['a categoryConfigId that is a number', { categoryConfigId: 5 }, 'categoryConfigId'],
    ['an unknown priority', { priority: 'URGENT' }, 'priority'],
    ['assigneeId 0', { assigneeId: 0 }, 'assigneeId'],
    ['assigneeId 1.5', { assigneeId: 1.5 }, 'assigneeId'],
    ['assigneeId 2^53', { assigneeId: 2 ** 53 }, 'assigneeId'],
    ['assigneeId as text', { assigneeId: '1' }, 'assigneeId'],
    ['parentId -1', { parentId: -1 }, 'parentId'],
    ['parentId as text', { parentId: '1' }, 'parentId'],
    ['parentId INC-0', { parentId: 'INC-0' }, 'parentId'],
    ['one watcher without an array', { watcherUserIds: 1 }, 'watcherUserIds'],
    ['a watcher 0', { watcherUserIds: [1, 0] }, 'watcherUserIds.1'],
    ['a status', { status: 'RESOLVED' }, 'status'],
    ['a resolution', { resolution: 'Done.' }, 'resolution'],
    ['a ticket number', { ticketNumber: 'INC-1' }, 'ticketNumber'],
  ])('rejects %s', async (_, fields, path) => {
    expect(errorOf(await create(fields))).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path }] });
  });

  it.each(['title', 'description', 'categoryConfigId'])('rejects NUL and lone surrogates in the %s', async (path) => {
    for (const value of unstorable) {
      expect(errorOf(await create({ [path]: value }))).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path }] });
    }
  });

  it('trims the title, and only then measures it; it trims nothing else', async () => {
    const fields = { title: ` \n${'x'.repeat(255)}\t `, description: ' \n', categoryConfigId: ' ' };
    expect((await create(fields)).body.data).toMatchObject({ ...fields, title: 'x'.repeat(255) });
  });

  describe('ticketNumber', () => {
    const numbers = async (owner: Workspace, fields: object) => (await create(fields, owner)).body.data.ticketNumber;

    it('counts from 1 per tenant and type', async () => {
      for (const owner of [await createWorkspace(api), await createWorkspace(api)]) {
        for (const type of TicketType.options) {
          const prefix = ticketNumberPrefixes[type];
          expect([await numbers(owner, { type }), await numbers(owner, { type })]).toEqual([
            `${prefix}-1`,
            `${prefix}-2`,
          ]);
        }
      }
      expect(ticketNumberPrefixes).toEqual({ INCIDENT: 'INC', PROBLEM: 'PRB', CHANGE: 'CHG', SERVICE_REQUEST: 'REQ' });
    });

    it('has no gap where a ticket was refused, and a ticket cannot be deleted', async () => {
      const owner = await createWorkspace(api);
      expect((await create({ title: '' }, owner)).status).toBe(400);
      expect((await create({ watcherUserIds: [Number.MAX_SAFE_INTEGER] }, owner)).status).toBe(400);
      expect(await numbers(owner, {})).toBe('INC-1');
      const deleted = api.prisma.ticket.deleteMany({ where: { tenantId: owner.tenantId } });
      await expect(deleted).rejects.toThrow('Tickets are never deleted');
      expect(await numbers(owner, {})).toBe('INC-2');
    });

    it('has no gap and no repetition in 20 creates at once', async () => {
      const owner = await createWorkspace(api);
      const made = await Promise.all(Array.from({ length: 20 }, () => numbers(owner, {})));
      expect(new Set(made)).toEqual(new Set(Array.from({ length: 20 }, (_, i) => `INC-${i + 1}`)));
    });
  });

  describe('watcherUserIds', () => {
    let ids: number[];
    beforeAll(async () => {
      const rows = await api.prisma.user.createManyAndReturn({
        data: Array.from({ length: 101 }, () => ({
          tenantId: workspace.tenantId,
          name: 'Watcher',
          email: `${unique()}@example.com`,
          role: 'AGENT' as const,
        })),
      });
      ids = rows.map(({ id }) => Number(id)).sort((a, b) => a - b);
    });

    it('are deduplicated and ascending', async () => {
      const [a, b, c] = ids;
      const { data } = (await create({ watcherUserIds: [c, a, c, b, a] })).body;
      expect(data.watcherUserIds).toEqual([a, b, c]);
      expect(await read(data.id)).toEqual(data);
      const patched = (await patch(data.id, { watcherUserIds: [c, c, b] })).body.data;
      expect(patched).toEqual({ ...data, watcherUserIds: [b, c], updatedAt: patched.updatedAt });
      expect(patched.updatedAt > data.updatedAt).toBe(true);
      expect(await read(data.id)).toEqual(patched);
    });

    it('are at most 100', async () => {
      const { id } = (await create({ watcherUserIds: ids.slice(0, 100) })).body.data;
      expect((await read(id)).watcherUserIds).toEqual(ids.slice(0, 100));
      for (const answer of [await create({ watcherUserIds: ids }), await patch(id, { watcherUserIds: ids })]) {
        expect(errorOf(answer)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'watcherUserIds' }] });
      }
    });
  });

  it('names at most 20 of many watchers who are nobody', async () => {
    const nobody = Array.from({ length: 100 }, (_, i) => Number.MAX_SAFE_INTEGER - i);
    const { code, details = [] } = errorOf(await create({ watcherUserIds: nobody }));
    expect(code).toBe('INVALID_REFERENCE');
    expect(details.map(({ path }) => path)).toEqual(nobody.slice(0, 20).map((_, i) => `watcherUserIds.${i}`));
  });

  it('rejects an inactive assignee and watcher', async () => {
    const { id } = await inactiveUser();
    expect(errorOf(await create({ assigneeId: id }))).toMatchObject({
      code: 'INVALID_REFERENCE',
      details: [{ path: 'assigneeId' }],
    });
    expect(errorOf(await create({ watcherUserIds: [workspace.userId, id] }))).toMatchObject({
      code: 'INVALID_REFERENCE',
      details: [{ path: 'watcherUserIds.1' }],
    });
  });

  describe('customFields', () => {
    it.each([
      ['text', { text: '', long: 'x'.repeat(16_000) }],
      ['numbers', { zero: 0, most: 1e15, least: -1e15, tiny: 1e-9, minus: -1e-9, precise: 0.1 }],
      ['booleans and null', { yes: true, no: false, nothing: null }],
      ['arrays', { none: [], many: ['a', 1, false, null, 1e15] }],
      ['unusual names', { constructor: 'a', toString: 'b', hasOwnProperty: 1, 'dots.and spaces': 2, 'ä🙂': 3, 7: 4 }],
      ['50 keys', keys(50)],
      ['16 KiB', bytes(16_384)],
    ])('keeps %s', async (_, customFields) => {
      const answer = await create({ customFields });
      expect(answer.status, answer.text).toBe(201);
      expect(answer.body.data.customFields).toEqual(customFields);
      expect((await read(answer.body.data.id)).customFields).toEqual(customFields);
    });

    it.each<[string, unknown, string]>([
      ['an array', ['a'], 'customFields'],
      ['text', 'a', 'customFields'],
      ['an object as value', { a: { b: 1 } }, 'customFields.a'],
      ['an array in an array', { a: [[1]] }, 'customFields.a'],
      ['an object in an array', { a: [{}] }, 'customFields.a'],
      ['a number above 1e15', { a: 1.0000000000000002e15 }, 'customFields.a'],
      ['a number below -1e15', { a: -1e308 }, 'customFields.a'],
      ['a number nearer to 0 than 1e-9', { a: ['fine', 9.99e-10] }, 'customFields.a.1'],
      ['51 keys', keys(51), 'customFields'],
      ['16,385 bytes, though fewer characters', bytes(16_385), 'customFields'],
    ])('rejects %s', async (_, customFields, path) => {
      const { id } = await workspace.createTicket();
      for (const answer of [await create({ customFields }), await patch(id, { customFields })]) {
        expect(errorOf(answer).code).toBe('VALIDATION_ERROR');
        expect(errorOf(answer).details?.[0]?.path).toContain(path);
      }
    });

    it('rejects a number that no JSON reader could hold', async () => {
      const body = JSON.stringify({ ...ticket, customFields: { n: 0 } }).replace('"n":0', '"n":1e309');
      expect(errorOf(await workspace.call('POST', '/tickets', body)).code).toBe('VALIDATION_ERROR');
    });

    it('rejects NUL and lone surrogates in names, values and arrays', async () => {
      for (const text of unstorable) {
        for (const customFields of [{ [text]: 1 }, { a: text }, { a: ['fine', text] }]) {
          expect(errorOf(await create({ customFields })).code).toBe('VALIDATION_ERROR');
        }
      }
    });
  });
});

describe('GET /tickets', () => {
  let owner: Workspace;
  let made: Ticket[];
  let ada: number;

  beforeAll(async () => {
    owner = await createWorkspace(api);
    ada = (await owner.createUser()).id;
    made = [];
    for (const fields of [
      { title: 'a', priority: 'HIGH', category: 'NETWORK', assigneeId: ada },
      { title: 'b', priority: 'LOW', category: 'EMAIL', assigneeId: owner.userId },
      { title: 'c', priority: 'HIGH', category: 'EMAIL', type: 'PROBLEM' },
      { title: 'd', category: undefined, categoryConfigId: 'x', type: 'CHANGE', assigneeId: ada },
      { title: 'e', priority: 'CRITICAL', category: 'ACCESS' },
    ] as const) {
      made.unshift(await owner.createTicket(fields));
    }
    for (const [title, status] of [
      ['b', 'PENDING'],
      ['c', 'RESOLVED'],
    ]) {
      const { id } = made.find((each) => each.title === title) as Ticket;
      Object.assign(
        made.find((each) => each.id === id) as Ticket,
        (await owner.call('PATCH', `/tickets/${id}`, { status })).body.data,
      );
    }
  });

  it('lists newest first, whatever was changed last, and pages without gap or repetition', async () => {
    expect((await owner.call('GET', '/tickets')).body).toEqual({
      success: true,
      data: made,
      meta: { page: 1, perPage: 20, totalCount: 5 },
    });
    const pages = await Promise.all([1, 2, 3, 4].map((page) => owner.call('GET', `/tickets?perPage=2&page=${page}`)));
    expect(pages.map(({ body }) => body.data)).toEqual([made.slice(0, 2), made.slice(2, 4), made.slice(4), []]);
    expect(pages.map(({ body }) => body.meta)).toEqual(
      [1, 2, 3, 4].map((page) => ({ page, perPage: 2, totalCount: 5 })),
    );
  });

  it.each([
    ['status=OPEN', 'e d a'],
    ['status=PENDING,RESOLVED', 'c b'],
    ['status=PENDING&status=RESOLVED', 'c b'],
    ['status=PENDING,RESOLVED&status=OPEN', 'e d c b a'],
    ['status=CLOSED', ''],
    ['priority=HIGH', 'c a'],
    ['priority=MEDIUM', 'd'],
    ['priority=LOW,CRITICAL', 'e b'],
    ['type=INCIDENT', 'e b a'],
    ['type=PROBLEM&type=CHANGE', 'd c'],
    ['category=EMAIL', 'c b'],
    ['category=ACCESS,NETWORK', 'e a'],
    ['assigneeId=ADA', 'd a'],
    ['assigneeId=ADA&assigneeId=OWNER', 'd b a'],
    ['assigneeId=ADA,OWNER', 'd b a'],
    ['assigneeId=9007199254740991', ''],
    ['status=OPEN&assigneeId=ADA', 'd a'],
    ['status=OPEN&assigneeId=ADA&priority=HIGH', 'a'],
    ['type=INCIDENT&category=EMAIL,NETWORK&status=PENDING,OPEN&priority=HIGH,LOW&assigneeId=OWNER', 'b'],
    ['priority=HIGH&category=ACCESS', ''],
  ])('filters by %s', async (query, titles) => {
    const path = `/tickets?${query.replaceAll('ADA', String(ada)).replaceAll('OWNER', String(owner.userId))}`;
    const { body } = await owner.call('GET', path);
    expect(body.data.map(({ title }: Ticket) => title).join(' ')).toBe(titles);
    expect(body.meta.totalCount).toBe(body.data.length);
    const last = await owner.call('GET', `${path}&perPage=1&page=${body.data.length}`);
    if (titles !== '')
      expect(last.body).toMatchObject({ data: body.data.slice(-1), meta: { totalCount: body.data.length } });
  });
});

describe('GET /tickets by what the totals do not tell', () => {
  let owner: Workspace;
  let ada: number;
  const day = (number: number) => new Date(Date.UTC(2026, 0, number)).toISOString();

  beforeAll(async () => {
    owner = await createWorkspace(api);
    ada = (await owner.createUser()).id;
    const { id: parentId } = await owner.createTicket({ title: 'a', assigneeId: ada, watcherUserIds: [ada] });
    await owner.createTicket({ title: 'b', requesterId: ada, parentId, watcherUserIds: [ada, owner.userId] });
    await owner.createTicket({ title: 'c', parentId, assigneeId: owner.userId, priority: 'HIGH' });
    await owner.createTicket({ title: 'd', requesterId: ada, watcherUserIds: [owner.userId] });
    // The second was made before the first, elsewhere.
    for (const [title, created] of Object.entries({ a: day(2), b: day(1), c: day(3), d: day(4) })) {
      await api.prisma.ticket.updateMany({ where: { tenantId: owner.tenantId, title }, data: { createdAt: created } });
    }
  });

  it.each([
    ['requesterId=ADA', 'd b'],
    ['requesterId=ADA,OWNER', 'd c b a'],
    ['parentId=FIRST', 'c b'],
    ['parentId=INC-1', 'c b'],
    ['parentId=INC-1,INC-3,PRB-9', 'c b'],
    ['parentId=PRB-9', ''],
    ['parentId=FIRST&priority=HIGH', 'c'],
    ['watcherUserId=ADA', 'b a'],
    ['watcherUserId=OWNER&watcherUserId=ADA', 'd b a'],
    ['watcherUserId=ADA&requesterId=ADA', 'b'],
    ['watcherUserId=ADA&q=ten', 'b a'],
    ['watcherUserId=ADA&q=ten&parentId=FIRST', 'b'],
    ['assigneeId=none', 'd b'],
    ['assigneeId=none,ADA', 'd b a'],
    ['assigneeId=me', 'c'],
    ['assigneeId=me,ADA', 'c a'],
    ['assigneeId=me,none', 'd c b'],
    ['assigneeId=none&priority=HIGH', ''],
    [`createdSince=${day(2)}`, 'd c a'],
    [`createdBefore=${day(2)}`, 'b'],
    [`createdSince=${day(2)}&createdBefore=${day(4)}`, 'c a'],
    // Behind the one that was made at the beginning of the millisecond.
    [`createdBefore=${day(2).replace('Z', '0001Z')}`, 'b a'],
    [`createdSince=${day(2).replace('Z', '0001Z')}&createdBefore=${day(4)}`, 'c'],
    ['createdSince=2026-01-02T01:00:00%2B01:00', 'd c a'],
    [`createdSince=${day(2)}&requesterId=ADA`, 'd'],
    ['createdSince=9999-01-01T00:00:00Z', ''],
  ])('finds %s', async (query, titles) => {
    const [first] = (await owner.call('GET', '/tickets?sort=id')).body.data;
    const names = { ADA: ada, OWNER: owner.userId, FIRST: first.id };
    const path = `/tickets?${query.replace(/ADA|OWNER|FIRST/g, (name) => String(names[name as keyof typeof names]))}`;
    const list = async (more: string) => (await owner.call('GET', `${path}&${more}`)).body;
    const all = await list('perPage=100');
    expect(all.data?.map(({ title }: Ticket) => title).join(' '), JSON.stringify(all)).toBe(titles);
    expect(all.meta).toEqual({ page: 1, perPage: 100, totalCount: all.data.length });
    expect((await list('sort=id')).data).toEqual(all.data.toReversed());
    for (const [i, ticket] of all.data.entries()) {
      expect(await list(`perPage=1&page=${i + 1}`)).toMatchObject({
        data: [ticket],
        meta: { totalCount: all.data.length },
      });
    }
    expect((await list(`page=2`)).data).toEqual([]);
  });

  it.each([
    ['createdSince=yesterday', 'createdSince'],
    ['createdSince=2026-01-01', 'createdSince'],
    ['createdBefore=2026-01-01T00:00:00Z&createdBefore=2026-01-02T00:00:00Z', 'createdBefore'],
    ['assigneeId=nobody', 'assigneeId.0'],
    ['assigneeId=7,NONE', 'assigneeId.1'],
    ['sort=createdAt', 'sort'],
    ['sort=id,-id', 'sort'],
    ['q=a&q=b', 'q'],
  ])('refuses %s', async (query, path) => {
    const answer = await owner.call('GET', `/tickets?${query}`);
    expect(answer.status, answer.text).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path }] });
  });

  it('counts at most 100,000, and answers the pages of those', async () => {
    const many = await createWorkspace(api);
    const { tenantId, userId } = many;
    const load = (from: number, to: number) =>
      api.owner.pool.query(`INSERT INTO tickets (tenant_id, ordinal, number, type, title, description, category,
          requester_id, updated_at) SELECT ${tenantId}, i, i, 'CHANGE', 'x', 'x', 'EMAIL', ${userId}, now()
        FROM generate_series(${from}, ${to}) AS i ORDER BY i`);
    await api.owner.pool.query(
      `INSERT INTO ticket_sequences (tenant_id, total, change) VALUES (${tenantId}, 100001, 100001)`,
    );
    for (let from = 1; from < 100_000; from += 5000) await load(from, from + 4999);
    const meta = async (query: string) => (await many.call('GET', `/tickets?${query}`)).body.meta;
    expect(await meta('assigneeId=none')).toEqual({ page: 1, perPage: 20, totalCount: 100_000 });
    await load(100_001, 100_001);
    expect(await meta('assigneeId=none')).toMatchObject({ totalCount: 100_000, totalCountCapped: true });
    expect(await meta(`requesterId=${userId}`)).toMatchObject({ totalCount: 100_000, totalCountCapped: true });
    expect(await meta('')).toEqual({ page: 1, perPage: 20, totalCount: 100_001 });
    const page = async (query: string) => {
      const { data } = (await many.call('GET', `/tickets?assigneeId=none&perPage=100&${query}`)).body;
      return [data.length, data[0]?.ticketNumber];
    };
    expect(await page('page=1000')).toEqual([100, 'CHG-101']);
    expect(await page('page=1000&sort=id')).toEqual([100, 'CHG-99901']);
    expect(await page('page=1001')).toEqual([0, undefined]);
  }, 300_000);
});

describe('GET /tickets, oldest first', () => {
  it.each([
    ['', 'a b c d e'],
    ['status=OPEN', 'a b d'],
    ['status=OPEN,PENDING', 'a b c d'],
    ['type=INCIDENT&status=OPEN', 'a b d'],
    ['status=CLOSED', ''],
  ])('with %s, pages without gap or repetition', async (query, titles) => {
    const owner = await createWorkspace(api);
    for (const title of 'abcde') await owner.createTicket({ title });
    const [e, , c] = (await owner.call('GET', '/tickets')).body.data;
    await owner.call('PATCH', `/tickets/${c.id}`, { status: 'PENDING' });
    await owner.call('PATCH', `/tickets/${e.id}`, { status: 'RESOLVED' });
    const list = async (more: string) => (await owner.call('GET', `/tickets?${query}&sort=id&${more}`)).body;
    expect((await list('')).data.map(({ title }: Ticket) => title).join(' ')).toBe(titles);
    const pages = await Promise.all([1, 2, 3, 4].map((page) => list(`perPage=2&page=${page}`)));
    expect(pages.flatMap(({ data }) => data.map(({ title }: Ticket) => title)).join(' ')).toBe(titles);
    expect(new Set(pages.map(({ meta }) => meta.totalCount))).toEqual(
      new Set([titles.length === 0 ? 0 : titles.split(' ').length]),
    );
  });
});

describe('a ticket named by its number', () => {
  it('is read and changed as by its id', async () => {
    const owner = await createWorkspace(api);
    const made = await owner.createTicket({ type: 'SERVICE_REQUEST' });
    expect(made.ticketNumber).toBe('REQ-1');
    const byId = await owner.call('GET', `/tickets/${made.id}`);
    expect((await owner.call('GET', '/tickets/REQ-1')).text).toBe(byId.text);
    const changed = await owner.call('PATCH', '/tickets/REQ-1', { title: 'Changed' });
    expect(changed.body.data).toMatchObject({ id: made.id, title: 'Changed' });
    expect((await owner.call('GET', `/tickets/${made.id}`)).body.data.title).toBe('Changed');
  });

  it.each(['INC-999', 'PRB-1', 'INC-2147483648', 'INC-999999999999999'])(
    'is 404 where there is no %s',
    async (number) => {
      const owner = await createWorkspace(api);
      await owner.createTicket();
      for (const answer of [
        await owner.call('GET', `/tickets/${number}`),
        await owner.call('PATCH', `/tickets/${number}`, { title: 'x' }),
      ]) {
        expect(answer.status, answer.text).toBe(404);
        expect(errorOf(answer).message).toBe('There is no such ticket in this workspace.');
      }
    },
  );

  it("is not another workspace's", async () => {
    const [owner, other] = [await createWorkspace(api), await createWorkspace(api)];
    await other.createTicket();
    expect((await owner.call('GET', '/tickets/INC-1')).status).toBe(404);
  });

  it.each([
    'inc-1',
    'INC1',
    'INC-',
    'INC-0',
    'INC-01',
    'INC--1',
    'INC-1.5',
    'INC-1e3',
    'ABC-1',
    'XINC-1',
    'INC-1x',
    '-1',
  ])('is 400 for %s', async (text) => {
    const answer = await workspace.call('GET', `/tickets/${text}`);
    expect(answer.status, answer.text).toBe(400);
    expect(errorOf(answer).message).toBe('id must be a positive integer or a ticket number such as INC-17');
  });
});

describe('POST /tickets with requesterId', () => {
  it("makes it that user's, and the key's without one", async () => {
    const { id } = await workspace.createUser({ role: 'REQUESTER' });
    expect((await create({ requesterId: id })).body.data.requesterId).toBe(id);
    expect((await create({ requesterId: null })).body.data.requesterId).toBe(workspace.userId);
  });

  it('rejects one who is inactive or nobody', async () => {
    for (const requesterId of [(await inactiveUser()).id, Number.MAX_SAFE_INTEGER]) {
      expect(errorOf(await create({ requesterId }))).toMatchObject({
        code: 'INVALID_REFERENCE',
        details: [{ path: 'requesterId' }],
      });
    }
  });
});

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
  ])('changes the %s and nothing else', async (name, value) => {
    const before = await workspace.createTicket();
    const answer = await patch(before.id, { [name]: value });
    expect(answer.status, answer.text).toBe(200);
    const { data } = answer.body;
    expect(data).toEqual({ ...before, [name]: value, updatedAt: data.updatedAt });
    expect(data.updatedAt > before.updatedAt).toBe(true);
    expect(await read(before.id)).toEqual(data);
  });

  it('takes the number of a parent for its id', async () => {
    const owner = await createWorkspace(api);
    const [parent, before] = [await owner.createTicket({ type: 'PROBLEM' }), await owner.createTicket()];
    const made = await owner.call('POST', '/tickets', { ...ticket, parentId: 'PRB-1' });
    expect(made.body.data.parentId).toBe(parent.id);
    const changed = await owner.call('PATCH', `/tickets/${before.id}`, { parentId: 'PRB-1' });
    expect(changed.body.data.parentId).toBe(parent.id);
    const unknown = { code: 'INVALID_REFERENCE', message: 'parentId names no ticket of this workspace' };
    for (const parentId of ['PRB-2', 'CHG-1', 'INC-2147483648']) {
      expect(errorOf(await owner.call('POST', '/tickets', { ...ticket, parentId }))).toMatchObject(unknown);
      expect(errorOf(await owner.call('PATCH', '/tickets/INC-1', { parentId }))).toMatchObject(unknown);
    }
    const theirs = await createWorkspace(api);
    expect(errorOf(await theirs.call('POST', '/tickets', { ...ticket, parentId: 'PRB-1' }))).toMatchObject(unknown);
  });

  it('sets assignee, watchers and parent, and clears by null what may be absent', async () => {
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
    }).map(([name, value]): [string, object, string] => [`${name}, which cannot change`, { [name]: value }, name]),
    ['a blank title', { title: '  ' }, 'title'],
    ['a title of 256', { title: 'x'.repeat(256) }, 'title'],
    ['an empty description', { description: '' }, 'description'],
    ['a description of 65,536', { description: 'x'.repeat(65_536) }, 'description'],
    ['an empty resolution', { resolution: '' }, 'resolution'],
    ['a resolution of 65,536', { resolution: 'x'.repeat(65_536) }, 'resolution'],
    ['an empty categoryConfigId', { categoryConfigId: '' }, 'categoryConfigId'],
    ['an unknown status', { status: 'DONE' }, 'status'],
    ...unstorable.map((resolution): [string, object, string] => ['NUL or half a pair', { resolution }, 'resolution']),
  ])('rejects %s', async (_, fields, path) => {
    const before = await workspace.createTicket();
    const answer = await patch(before.id, { priority: 'LOW', ...fields });
    expect(errorOf(answer)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path }] });
    expect(await read(before.id)).toEqual(before);
  });

  it('must keep category or categoryConfigId', async () => {
    const { id } = await workspace.createTicket();
    const refused = [{ category: null }, { category: null, categoryConfigId: null }];
    for (const body of refused) {
      expect(errorOf(await patch(id, body))).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: [{ path: 'category', message: 'is required unless categoryConfigId is given' }],
      });
    }
    expect((await patch(id, { category: null, categoryConfigId: 'cfg' })).status).toBe(200);
    expect(errorOf(await patch(id, { categoryConfigId: null })).code).toBe('VALIDATION_ERROR');
    expect((await patch(id, { category: 'OTHER', categoryConfigId: null })).status).toBe(200);
  });

  it('leaves updatedAt when it changes nothing', async () => {
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

  it('takes -0 for 0, as it is stored and answered', async () => {
    const before = await workspace.createTicket({ customFields: { n: 0 } });
    const answer = await patch(before.id, '{"customFields":{"n":-0}}');
    expect(answer.body.data).toEqual(before);
  });

  describe('status', () => {
    const moves = TicketStatus.options.flatMap((from) => TicketStatus.options.map((to) => ({ from, to })));
    const allowed = (from: TicketStatus, to: TicketStatus) => ticketTransitions[from].includes(to);

    it.each(moves.filter(({ from, to }) => allowed(from, to)))('can go from $from to $to', async ({ from, to }) => {
      const before = await ticketIn(from);
      now = new Date(now.getTime() + 60_000);
      const { data } = (await patch(before.id, { status: to })).body;
      const moment = now.toISOString();
      expect(data).toEqual({
        ...before,
        status: to,
        resolvedAt: to === 'RESOLVED' ? moment : to === 'CLOSED' ? before.resolvedAt : null,
        closedAt: to === 'CLOSED' ? moment : null,
        updatedAt: data.updatedAt,
      });
      expect(await read(before.id)).toEqual(data);
    });

    it.each(moves.filter(({ from, to }) => from !== to && !allowed(from, to)))(
      'cannot go from $from to $to',
      async ({ from, to }) => {
        const before = await ticketIn(from);
        const { code, message, details } = errorOf(await patch(before.id, { status: to, title: 'Changed' }));
        expect(code).toBe('INVALID_TRANSITION');
        expect(details).toEqual([{ path: 'status', message: expect.any(String) }]);
        for (const text of [message, details?.[0]?.message ?? '']) {
          const named =
            text
              .split(from)
              .at(-1)
              ?.match(/\b[A-Z_]{4,}\b/g) ?? [];
          expect(named).toEqual(ticketTransitions[from]);
          expect(text.endsWith('which is final')).toBe(named.length === 0);
        }
        expect(await read(before.id)).toEqual(before);
      },
    );

    it.each(TicketStatus.options)('stays %s without a change when given again', async (status) => {
      const before = await ticketIn(status);
      now = new Date(now.getTime() + 60_000);
      const answer = await patch(before.id, { status });
      expect(answer.status).toBe(200);
      expect(answer.body.data).toEqual(before);
    });

    it.each(['CLOSED', 'CANCELLED'] as const)('lets the other fields of a %s ticket change', async (status) => {
      const { id, resolvedAt, closedAt } = await ticketIn(status);
      const fields = { title: 'Changed', priority: 'LOW', resolution: 'As said.', customFields: { a: 1 } };
      expect((await patch(id, { ...fields, status })).body.data).toMatchObject({
        ...fields,
        status,
        resolvedAt,
        closedAt,
      });
    });
  });

  describe('customFields', () => {
    it('are merged; null removes', async () => {
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

    it('are held to the limits after merging', async () => {
      const { id } = await workspace.createTicket({ customFields: keys(50) });
      const refused = await patch(id, { customFields: { k50: 1 } });
      expect(errorOf(refused)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'customFields' }] });
      expect((await patch(id, { customFields: { k50: 1, k0: null } })).status).toBe(200);

      const large = await workspace.createTicket({ customFields: bytes(16_384) });
      expect(errorOf(await patch(large.id, { customFields: { l: 1 } }))).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: [{ path: 'customFields' }],
      });
      expect((await patch(large.id, { customFields: { k: null, l: 'x'.repeat(16_000) } })).status).toBe(200);
    });

    it('may be named in any number, when the merged ones are within the limits', async () => {
      const { id } = await workspace.createTicket({ customFields: keys(50) });
      const removed = Object.fromEntries(Object.keys(keys(50)).map((name) => [name, null]));
      const answer = await patch(id, { customFields: { ...removed, ...keys(10, 50) } });
      expect(answer.status, answer.text).toBe(200);
      expect(answer.body.data.customFields).toEqual(keys(10, 50));
    });
  });

  describe('an inactive user', () => {
    it('cannot be newly named', async () => {
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

    it('may stay where they are already', async () => {
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

    it.each([1, 2, 3])('cannot close a cycle of %i', async (length) => {
      const chain = await made(length);
      const ids = chain.map(({ id }) => id);
      for (const [i, id] of ids.slice(1).entries()) expect((await patch(id, { parentId: ids[i] })).status).toBe(200);
      const first = ids[0] as number;
      const answer = await patch(first, { parentId: ids.at(-1), title: 'Changed' });
      expect(errorOf(answer)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'parentId' }] });
      expect(await read(first)).toEqual(chain[0]);
    });

    it('may be any ticket that is not below, and the same again', async () => {
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

    it.each([2, 3])('cannot close a cycle by %i moves at once', async (length) => {
      for (let round = 0; round < 10; round++) {
        const ids = (await made(length)).map(({ id }) => id);
        const answers = await Promise.all(ids.map((id, i) => patch(id, { parentId: ids[(i + 1) % length] })));
        const refused = answers.filter(({ status }) => status !== 200);
        expect(refused.map((answer) => errorOf(answer).code)).toEqual(['VALIDATION_ERROR']);
        const parents = await Promise.all(ids.map(async (id) => (await read(id)).parentId));
        expect(parents.filter((id) => id === null)).toHaveLength(1);
      }
    });
  });

  describe('many at once', () => {
    const statuses = (answers: Answer[]) => answers.map(({ status }) => status).sort();

    it('lose nothing', async () => {
      const { id } = await workspace.createTicket();
      const fields = Object.entries(keys(20));
      const answers = await Promise.all(fields.map(([name, value]) => patch(id, { customFields: { [name]: value } })));
      expect(statuses(answers)).toEqual(Array(20).fill(200));
      expect((await read(id)).customFields).toEqual(keys(20));
    });

    it('tell of each change as it followed the one before', async () => {
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

    it('tell who has subscribed while they waited', async () => {
      const owner = await createWorkspace(api);
      const { id } = await owner.createTicket();
      let answer: Promise<Answer> | undefined;
      await api.prisma.$transaction(async (tx) => {
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

    it('see what the one before has left, watchers too', async () => {
      const { id } = (await create()).body.data;
      let answer: Promise<Answer> | undefined;
      await api.prisma.$transaction(async (tx) => {
        await tx.$executeRaw`UPDATE tickets SET priority = 'CRITICAL' WHERE tenant_id = ${workspace.tenantId} AND id = ${id}`;
        await tx.ticketWatcher.create({
          data: { tenantId: workspace.tenantId, ticketId: id, userId: workspace.userId },
        });
        answer = patch(id, { title: 'Changed at the same time' });
        const waiting = () => api.prisma.$queryRaw<unknown[]>`SELECT FROM pg_locks WHERE NOT granted`;
        await expect.poll(waiting).toHaveLength(1);
      });
      expect((await answer)?.body.data).toMatchObject({ priority: 'CRITICAL', watcherUserIds: [workspace.userId] });
      expect(await read(id)).toEqual((await answer)?.body.data);
    });

    it('cannot do together what neither may do after the other', async () => {
      for (let round = 0; round < 5; round++) {
        const { id } = await ticketIn('RESOLVED');
        await patch(id, { categoryConfigId: 'cfg' });
        const moves = ['CLOSED', 'IN_PROGRESS'].map((status) => patch(id, { status }));
        expect(statuses(await Promise.all(moves))).toEqual([200, 400]);
        const clearings = ['category', 'categoryConfigId'].map((name) => patch(id, { [name]: null }));
        expect(statuses(await Promise.all(clearings))).toEqual([200, 400]);
      }
    });
  });
});
