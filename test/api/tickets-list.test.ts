import type { Ticket } from '@itsm-api/contract';
import { describe, expect } from 'vitest';
import { errorOf } from '../support/api.ts';
import { api, itWithApi } from '../support/fixture.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const now = new Date('2026-11-20T10:00:00.000Z');

const it = itWithApi.extend('options', { scope: 'file' }, { now: () => now });

describe('GET /tickets', () => {
  let owner: Workspace;
  let made: Ticket[];
  let ada: number;
  let email: string;

  it.beforeAll(async () => {
    owner = await createWorkspace(api);
    ({ id: ada, email } = await owner.createUser());
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

  it('lists tickets newest first', async () => {
    expect((await owner.call('GET', '/tickets')).body).toEqual({
      success: true,
      data: made,
      meta: { page: 1, perPage: 20, totalCount: 5 },
    });
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
    ['assigneeId=ADDRESS', 'd a'],
    ['assigneeId=ADDRESS,OWNER', 'd b a'],
    ['assigneeId=nobody@example.com', ''],
    ['assigneeId=nobody@example.com,ADA', 'd a'],
    ['assigneeId=nobody@example.com&priority=HIGH', ''],
    ['status=OPEN&assigneeId=ADA', 'd a'],
    ['status=OPEN&assigneeId=ADA&priority=HIGH', 'a'],
    ['type=INCIDENT&category=EMAIL,NETWORK&status=PENDING,OPEN&priority=HIGH,LOW&assigneeId=OWNER', 'b'],
    ['priority=HIGH&category=ACCESS', ''],
  ])('filters tickets by %s', async (query, titles) => {
    const path = `/tickets?${query.replaceAll('ADA', String(ada)).replaceAll('ADDRESS', email).replaceAll('OWNER', String(owner.userId))}`;
    const { body } = await owner.call('GET', path);
    expect(body.data.map(({ title }: Ticket) => title).join(' ')).toBe(titles);
    expect(body.meta.totalCount).toBe(body.data.length);
    const last = await owner.call('GET', `${path}&perPage=1&page=${body.data.length}`);
    if (titles !== '')
      expect(last.body).toMatchObject({ data: body.data.slice(-1), meta: { totalCount: body.data.length } });
  });
});

describe('GET /tickets with filters that have no stored totals', () => {
  let owner: Workspace;
  let ada: number;
  let email: string;
  let [laptop, server]: number[] = [];
  const day = (number: number) => new Date(Date.UTC(2026, 0, number)).toISOString();

  it.beforeAll(async () => {
    owner = await createWorkspace(api);
    ({ id: ada, email } = await owner.createUser());
    [laptop, server] = [(await owner.createAsset()).id, (await owner.createAsset()).id];
    const assetIds = [laptop, server];
    const { id: parentId } = await owner.createTicket({ title: 'a', assigneeId: ada, watcherUserIds: [ada] });
    await owner.createTicket({ title: 'b', requesterId: ada, parentId, watcherUserIds: [ada, owner.userId], assetIds });
    await owner.createTicket({ title: 'c', parentId, assigneeId: owner.userId, priority: 'HIGH', assetIds: [server] });
    await owner.createTicket({ title: 'd', requesterId: ada, watcherUserIds: [owner.userId] });
    const { data } = (await owner.call('GET', '/tickets?priority=HIGH')).body;
    await owner.call('PATCH', `/tickets/${data[0].id}`, { status: 'PENDING' });
    // The order of the creation times differs from the order of the ids, so sorting by the wrong field fails the test.
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
    ['assetId=SERVER', 'c b'],
    ['assetId=LAPTOP,SERVER', 'c b'],
    ['assetId=LAPTOP', 'b'],
    ['assetId=SERVER&priority=HIGH', 'c'],
    ['assetId=SERVER&status=OPEN', 'b'],
    ['assetId=SERVER,LAPTOP&status=OPEN,PENDING&priority=HIGH', 'c'],
    ['assetId=SERVER&watcherUserId=ADA', 'b'],
    ['assetId=SERVER&q=ten&parentId=FIRST', 'c b'],
    ['assigneeId=none', 'd b'],
    ['assigneeId=none,ADA', 'd b a'],
    ['assigneeId=me', 'c'],
    ['assigneeId=me,ADA', 'c a'],
    ['assigneeId=me,none', 'd c b'],
    ['assigneeId=none&priority=HIGH', ''],
    ['assigneeId=EMAIL,me,none,17', 'd c b a'],
    ['assigneeId=none,nobody@example.com', 'd b'],
    ['requesterId=EMAIL', 'd b'],
    ['requesterId=EMAIL,OWNER&parentId=INC-1', 'c b'],
    ['requesterId=nobody@example.com', ''],
    ['watcherUserId=EMAIL', 'b a'],
    ['watcherUserId=EMAIL,nobody@example.com&q=ten', 'b a'],
    [`createdSince=${day(2)}`, 'd c a'],
    [`createdBefore=${day(2)}`, 'b'],
    [`createdSince=${day(2)}&createdBefore=${day(4)}`, 'c a'],
    // Tests a filter time that is 100 ns after the creation of a ticket, although stored times have only millisecond
    // precision.
    [`createdBefore=${day(2).replace('Z', '0001Z')}`, 'b a'],
    [`createdSince=${day(2).replace('Z', '0001Z')}&createdBefore=${day(4)}`, 'c'],
    ['createdSince=2026-01-02T01:00:00%2B01:00', 'd c a'],
    [`createdSince=${day(2)}&requesterId=ADA`, 'd'],
    ['createdSince=9999-01-01T00:00:00Z', ''],
  ])('finds tickets by %s', async (query, titles) => {
    const [first] = (await owner.call('GET', '/tickets?sort=id')).body.data;
    const names = { ADA: ada, EMAIL: email, OWNER: owner.userId, FIRST: first.id, LAPTOP: laptop, SERVER: server };
    const path = `/tickets?${query.replace(/ADA|EMAIL|OWNER|FIRST|LAPTOP|SERVER/g, (name) => String(names[name as keyof typeof names]))}`;
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
    ['status=open', 'status'],
    ['assigneeId=nobody', 'assigneeId'],
    ['assigneeId=7,NONE', 'assigneeId'],
    ['sort=createdAt', 'sort'],
    ['sort=id,-id', 'sort'],
    ['q=a&q=b', 'q'],
  ])('rejects the ticket list query %s', async (query, path) => {
    const answer = await owner.call('GET', `/tickets?${query}`);
    expect(answer.status, answer.text).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path }] });
  });

  it.each([
    ['/tickets', 'createdSince', '2026-01-02T01:00:00+00:00'],
    ['/tickets', 'createdBefore', '2026-01-02T01:00:00.123+01:00'],
    ['/tickets', 'dueSince', '2026-01-02T01:00:00+01:00'],
    ['/tickets', 'dueBefore', '2026-01-02T01:00:00+01:00'],
    ['/tickets', 'externalId', 'zendesk:1,a+b'],
    ['/tickets', 'assigneeId', 'ada+it@example.com'],
    ['/tickets/changes', 'since', '2026-01-02T01:00:00+01:00'],
    ['/comments/changes', 'since', '2026-01-02T01:00:00+01:00'],
  ])('asks to encode the + in the query %s?%s=%s', async (path, name, value) => {
    const encoded = await owner.call('GET', `${path}?${name}=${encodeURIComponent(value)}`);
    expect(encoded.status, encoded.text).toBe(200);
    const { message, details } = errorOf(await owner.call('GET', `${path}?${name}=${value}`));
    expect(details).toEqual([{ path: name, message: expect.stringMatching(/\. In URLs, write `\+` as `%2B`\.$/) }]);
    expect(message).toBe(`${name} ${details?.[0]?.message}`);
  });

  it.each(['createdSince=2026-01-02 1:00', 'createdSince=yesterday+now', 'status=OPEN+PENDING'])(
    'does not mention the encoding of + if another value would be invalid too: %s',
    async (query) => {
      expect(errorOf(await owner.call('GET', `/tickets?${query}`)).message).not.toContain('%2B');
    },
  );

  it('limits filtered ticket lists to 100,000 tickets', async () => {
    const many = await createWorkspace(api);
    const { tenantId, userId } = many;
    // Inserts the tickets without triggers, because the lists of the test need no search index and no change feed.
    const load = (from: number, to: number) =>
      api.owner.pool.query(`BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL session_replication_role = replica; INSERT INTO tickets (tenant_id, ordinal, number, type, title, description, category,
          requester_id, updated_at) SELECT ${tenantId}, i, i, 'CHANGE', 'x', 'x', 'EMAIL', ${userId}, now()
        FROM generate_series(${from}, ${to}) AS i ORDER BY i; COMMIT`);
    await api.owner.pool.query(
      `INSERT INTO ticket_sequences (tenant_id, total, change) VALUES (${tenantId}, 100001, 100001)`,
    );
    await api.owner.pool.query(
      `INSERT INTO ticket_counts VALUES (${tenantId}, 0, 'OPEN', 'MEDIUM', 'CHANGE', 'EMAIL', 100001)`,
    );
    // The statistics of PostgreSQL are older than the tickets, as after an import.
    await api.owner.pool.query('ANALYZE tickets');
    await load(1, 100_000);
    const meta = async (query: string) => (await many.call('GET', `/tickets?${query}`)).body.meta;
    expect(await meta('assigneeId=none')).toEqual({ page: 1, perPage: 20, totalCount: 100_000 });
    await load(100_001, 100_001);
    expect(await meta('assigneeId=none')).toMatchObject({ totalCount: 100_000, totalCountCapped: true });
    expect(await meta(`requesterId=${userId}`)).toMatchObject({ totalCount: 100_000, totalCountCapped: true });
    expect(await meta('')).toEqual({ page: 1, perPage: 20, totalCount: 100_001 });
    const page = async (query: string) => {
      const { text, body } = await many.call('GET', `/tickets?perPage=100&${query}`);
      return [body.data?.length ?? text, body.data?.[0]?.ticketNumber];
    };
    expect(await page('assigneeId=none&page=1000')).toEqual([100, 'CHG-101']);
    expect(await page('assigneeId=none&page=1000&sort=id')).toEqual([100, 'CHG-99901']);
    expect(await page('assigneeId=none&page=1001')).toEqual([0, undefined]);
    for (const filter of ['status=OPEN', 'status=OPEN,CLOSED', 'status=OPEN&type=CHANGE'])
      expect(await page(`${filter}&page=1000`), filter).toEqual([100, 'CHG-101']);
  });
});

describe('GET /tickets, oldest first', () => {
  it.each([
    ['', 'a b c d e'],
    ['status=OPEN', 'a b d'],
    ['status=OPEN,PENDING', 'a b c d'],
    ['type=INCIDENT&status=OPEN', 'a b d'],
    ['status=CLOSED', ''],
  ])(
    'lists tickets oldest first with the filter "%s", without gaps or duplicates between pages',
    async (query, titles) => {
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
    },
  );
});
