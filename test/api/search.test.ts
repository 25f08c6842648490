import type { Asset, Project, Task, Ticket, User } from '@itsm-api/contract';
import pino from 'pino';
import { describe, expect } from 'vitest';
import { errorOf, startApi } from '../support/api.ts';
import { api, itWithApi as it } from '../support/fixture.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

let workspace: Workspace;
let otherWorkspace: Workspace;

it.beforeAll(async () => {
  [workspace, otherWorkspace] = [await createWorkspace(api), await createWorkspace(api)];
});

const find = (path: string, q: string, owner = workspace) => owner.call('GET', `${path}q=${encodeURIComponent(q)}`);

/** Returns the titles of the tickets that match a search query, in response order. */
async function titles(q: string, filters = ''): Promise<string> {
  const { status, body, text } = await find(`/tickets?perPage=100&${filters}`, q);
  expect(status, text).toBe(200);
  expect(body.meta.totalCount).toBe(body.data.length);
  return body.data.map(({ title }: Ticket) => title).join(' | ');
}

describe('search on tickets', () => {
  let first: Ticket;

  it.beforeAll(async () => {
    first = await workspace.createTicket({ title: 'VPN drops', description: 'At the office in Köln, at 10.1.2.3' });
    await workspace.createTicket({ title: 'Printer', description: "It doesn't print; vpn is fine", priority: 'HIGH' });
    await workspace.createTicket({
      title: 'E-mail',
      description: 'ada.okafor@example.com gets <b>nothing</b> since v2.7',
    });
    await workspace.createTicket({ title: 'Follow-up', description: `See ${first.ticketNumber}, please` });
    await workspace.createTicket({
      title: '„Dock“ – won’t wake… 😀 → see «Hub»',
      description: 'Naïve\u00a0Straße、東京。ÖL©',
    });
    await workspace.createTicket({
      title: 'Re\u0301sume\u0301',
      description: 'Crème bru\u0302le\u0301e, 10~20 g at ~5%; မြန်မာ၊စာ',
    });
    await otherWorkspace.createTicket({ title: 'VPN of strangers', description: 'printer' });
  });

  it.each([
    ['vpn', 'Printer | VPN drops'],
    ['VPN', 'Printer | VPN drops'],
    ['vpn drops', 'VPN drops'],
    ['drops vpn', 'VPN drops'],
    ['vpn  printer', 'Printer'],
    ['vpn toner', ''],
    // Only the last word of a query can be a prefix.
    ['vp', 'Printer | VPN drops'],
    ['vpn dr', 'VPN drops'],
    ['vp drops', ''],
    ['rinter', ''],
    ['köln', 'VPN drops'],
    ['KÖLN', 'VPN drops'],
    ['koln', ''],
    // In queries and texts, every character except letters and digits separates words.
    ['e-mail', 'E-mail'],
    ['mail', 'E-mail'],
    ['ada.okafor@example.com', 'E-mail'],
    ['okafor', 'E-mail'],
    ['ada.oka', 'E-mail'],
    ['example.com', 'E-mail'],
    ['nothing', 'E-mail'],
    ['v2.7', 'E-mail'],
    ['10.1.2.3', 'VPN drops'],
    ["doesn't", 'Printer'],
    ['dock', '„Dock“ – won’t wake… 😀 → see «Hub»'],
    ['“dock” — wake…', '„Dock“ – won’t wake… 😀 → see «Hub»'],
    ['wake hub 👨‍👩‍👧 ❤️', '„Dock“ – won’t wake… 😀 → see «Hub»'],
    ["won't", '„Dock“ – won’t wake… 😀 → see «Hub»'],
    ['naïve straße', '„Dock“ – won’t wake… 😀 → see «Hub»'],
    ['東京 öl', '„Dock“ – won’t wake… 😀 → see «Hub»'],
    // A letter with an accent can consist of one or two code points.
    ['résumé brûlée', 'Re\u0301sume\u0301'],
    ['cre\u0300me RE\u0301SUM', 'Re\u0301sume\u0301'],
    ['re', ''],
    ['20 5 g', 'Re\u0301sume\u0301'],
    ['စာ', 'Re\u0301sume\u0301'],
    // Operators of PostgreSQL full-text queries have no special meaning in a search query.
    ['vpn & !printer', 'Printer'],
    ['vpn | toner', ''],
    ["'vpn':*", 'Printer | VPN drops'],
    ['vpn <-> drops', 'VPN drops'],
    ['vpn:A', 'VPN drops'],
    ['%vpn_', 'Printer | VPN drops'],
    ['\\vpn\\', 'Printer | VPN drops'],
    ["'; DROP TABLE texts; --", ''],
    ['(vpn', 'Printer | VPN drops'],
    ['x'.repeat(200), ''],
  ])('runs the search query %j and returns the tickets %j', async (q, found) => {
    expect(await titles(q)).toBe(found);
  });

  it('finds by number the ticket with this number, and tickets that mention it', async () => {
    expect(first.ticketNumber).toBe('INC-1');
    for (let i = 7; i <= 12; i++) await workspace.createTicket({ title: `Number ${i}`, description: 'x' });
    expect(await titles('INC-1')).toBe('Follow-up | VPN drops');
    expect(await titles('inc-1')).toBe('Follow-up | VPN drops');
    expect(await titles('INC-11')).toBe('Number 11');
    expect(await titles('INC-1 vpn')).toBe('VPN drops');
    expect(await titles('PRB-1')).toBe('');
  });

  it('combines ticket search with filters, sorting and pagination', async () => {
    const owner = await createWorkspace(api);
    const made: Ticket[] = [];
    for (const title of ['scanner a', 'scanner b', 'scanner c', 'scanner d']) {
      made.push(await owner.createTicket({ title, description: 'x', assigneeId: owner.userId }));
    }
    const ids = async (query: string) => {
      const { body } = await owner.call('GET', `/tickets?${query}`);
      return [...body.data.map(({ id }: Ticket) => made.findIndex((each) => each.id === id)), body.meta.totalCount];
    };
    expect(await ids('q=scanner')).toEqual([3, 2, 1, 0, 4]);
    expect(await ids('q=scanner&sort=id&perPage=3&page=2')).toEqual([3, 4]);
    await owner.call('PATCH', `/tickets/${made[1]?.id}`, { title: 'mouse', status: 'IN_PROGRESS' });
    expect(await ids('q=scanner')).toEqual([3, 2, 0, 3]);
    expect(await ids('q=mouse&status=IN_PROGRESS&assigneeId=me')).toEqual([1, 1]);
    expect(await ids('q=mouse&status=OPEN')).toEqual([0]);
    await owner.call('PATCH', `/tickets/${made[2]?.id}`, { description: 'a mouse, too' });
    expect(await ids('q=mouse&perPage=1')).toEqual([2, 2]);
    expect(await ids('q=mouse&page=9')).toEqual([2]);
  });

  it('indexes 10,000 words of a ticket, but no word of 60,000 characters', async () => {
    const words = Array.from({ length: 10_000 }, (_, i) => `w${i.toString(36)}`).join(' ');
    const long = `zzz${'y'.repeat(60_000)}`;
    await workspace.createTicket({ title: 'Many words', description: words });
    await workspace.createTicket({ title: 'A long word', description: long });
    const last = `w${(9999).toString(36)}`;
    expect(await titles(last)).toBe('Many words');
    expect(await titles(`w0 ${last}`)).toBe('Many words');
    expect(await titles(long.slice(0, 200))).toBe('');
    await workspace.createTicket({ title: 'A longer word', description: `qqq${'y'.repeat(300)}` });
    expect(await titles(`qqq${'y'.repeat(150)}`)).toBe('A longer word');
  });

  it('applies filters before limiting a ticket search to 10,000 matches', async () => {
    const owner = await createWorkspace(api);
    const { tenantId, userId } = owner;
    // A partition of the search index covers 32,768 tickets, so 40,000 tickets need two partitions.
    const insert = (sql: string) => api.owner.pool.query(`INSERT INTO ${sql}`);
    await insert(`ticket_sequences (tenant_id, total, incident) VALUES (${tenantId}, 40000, 40000)`);
    for (let from = 1; from < 40_000; from += 5000) {
      await insert(`tickets (tenant_id, ordinal, number, type, title, description, category, requester_id, created_at,
          updated_at)
        SELECT ${tenantId}, i, i, 'INCIDENT', CASE WHEN i % 20000 = 0 THEN 'rare' ELSE 'common' END,
          'number ' || i % 3, 'EMAIL', ${userId}, '2026-01-01T00:00:00Z'::timestamptz + i * interval '1 second', now()
        FROM generate_series(${from}, ${from + 4999}) AS i ORDER BY i`);
    }
    const list = async (query: string) => (await owner.call('GET', `/tickets?${query}`)).body;
    const numbers = (data: Ticket[]) => data.map(({ ticketNumber }) => Number(ticketNumber.slice(4)));

    const common = await list('q=common&perPage=2');
    expect(numbers(common.data)).toEqual([39_999, 39_998]);
    expect(common.meta).toEqual({ page: 1, perPage: 2, totalCount: 10_000, totalCountCapped: true });
    expect(numbers((await list('q=common&perPage=2&sort=id')).data)).toEqual([1, 2]);
    const last = await list('q=common&perPage=100&page=100');
    expect(last.data).toHaveLength(100);
    expect((await list('q=common&perPage=100&page=101')).data).toEqual([]);

    const rare = await list('q=rare');
    expect(numbers(rare.data)).toEqual([40_000, 20_000]);
    expect(rare.meta).toEqual({ page: 1, perPage: 20, totalCount: 2 });
    expect(numbers((await list('q=rare&sort=id')).data)).toEqual([20_000, 40_000]);

    // The server applies filters before it limits the matches to 10,000, so filters find older tickets.
    await api.owner.pool.query(
      `UPDATE tickets SET type = 'PROBLEM' WHERE tenant_id = ${tenantId} AND ordinal IN (7, 9)`,
    );
    for (const narrow of ['type=PROBLEM', 'type=PROBLEM&assigneeId=none', `type=PROBLEM&requesterId=${userId}`]) {
      expect(numbers((await list(`q=common&${narrow}`)).data), narrow).toEqual([9, 7]);
      const oldest = await list(`q=common&sort=id&perPage=1&${narrow}`);
      expect([numbers(oldest.data), oldest.meta.totalCount, oldest.meta.totalCountCapped]).toEqual([[7], 2, undefined]);
    }
    expect((await list('q=common&priority=LOW')).meta).toEqual({ page: 1, perPage: 20, totalCount: 0 });
    await api.owner.pool.query(
      `UPDATE tickets SET watcher_ids = ARRAY[${userId}] WHERE tenant_id = ${tenantId} AND ordinal < 3`,
    );
    expect(numbers((await list(`q=common&watcherUserId=${userId}`)).data)).toEqual([2, 1]);
    // If the search and the filter each match more than 10,000 tickets, the server can miss matches. It then marks the
    // total as capped.
    const madeAt = (ordinal: number) => new Date(Date.parse('2026-01-01T00:00:00Z') + ordinal * 1000).toISOString();
    const broad = await list(`q=common&createdBefore=${madeAt(25_000)}`);
    expect(broad.meta).toMatchObject({ totalCount: 0, totalCountCapped: true });
    const narrower = await list(`q=common&createdBefore=${madeAt(10_001)}&perPage=1`);
    expect(numbers(narrower.data)).toEqual([10_000]);
    expect(narrower.meta).toEqual({ page: 1, perPage: 1, totalCount: 10_000 });
  });
});

describe('search on the other lists', () => {
  it('finds assets by name, tag and serial number', async () => {
    for (const owner of [workspace, otherWorkspace]) {
      await owner.createAsset({ name: 'Laptop of Ada', assetTag: 'LT-0311', serialNumber: 'PF3K9XZ1', type: 'LAPTOP' });
      await owner.createAsset({ name: 'Laptop of Bo', assetTag: 'LT-0312', type: 'OTHER', notes: 'PF3K9XZ1' });
    }
    const names = async (q: string, filter = '') => {
      const { body } = await find(`/assets?${filter}`, q);
      return [...body.data.map(({ name }: Asset) => name), body.meta.totalCount];
    };
    expect(await names('laptop')).toEqual(['Laptop of Bo', 'Laptop of Ada', 2]);
    expect(await names('LT-0311')).toEqual(['Laptop of Ada', 1]);
    expect(await names('pf3k9x')).toEqual(['Laptop of Ada', 1]);
    expect(await names('laptop', 'type=OTHER,SERVER&')).toEqual(['Laptop of Bo', 1]);
    expect(await names('laptop', 'perPage=1&page=2&')).toEqual(['Laptop of Ada', 2]);
    const { body } = await find('/assets?', 'LT-0312');
    await workspace.call('PATCH', `/assets/${body.data[0].id}`, { name: 'Tablet of Bo' });
    expect(await names('laptop')).toEqual(['Laptop of Ada', 1]);
    expect(await names('tablet bo')).toEqual(['Tablet of Bo', 1]);
  });

  it('finds users by name and email address', async () => {
    await workspace.createUser({ name: 'Ada Okafor', email: 'ada.okafor@example.com', jobTitle: 'Plumber' });
    const emails = async (q: string, filter = '') =>
      (await find(`/users?${filter}`, q)).body.data.map(({ email }: User) => email);
    expect(await emails('okafor')).toEqual(['ada.okafor@example.com']);
    expect(await emails('ada.okafor@example.com', 'active=true&role=AGENT&')).toEqual(['ada.okafor@example.com']);
    expect(await emails('ada', 'active=false&')).toEqual([]);
    expect(await emails('plumber')).toEqual([]);
  });

  it('finds projects and tasks by each of their text fields', async () => {
    const project = await workspace.createProject({ key: 'OFFICE7', name: 'Move', description: 'Desks on floor 3' });
    const other = await workspace.createProject({ key: 'OTHER7', name: 'Move, too' });
    const keys = async (q: string) => (await find('/projects?', q)).body.data.map(({ key }: Project) => key);
    expect(await keys('office')).toEqual(['OFFICE7']);
    expect(await keys('desks 3')).toEqual(['OFFICE7']);
    expect(await keys('move')).toEqual(['OTHER7', 'OFFICE7']);
    await workspace.createTask({ title: 'Order cables', description: 'patch, 2 m' }, project);
    await workspace.createTask({ title: 'Order cables' }, other);
    const tasks = async (q: string) =>
      (await find(`/projects/${project.id}/tasks?`, q)).body.data.map(({ title }: Task) => title);
    expect(await tasks('cab')).toEqual(['Order cables']);
    expect(await tasks('patch cables')).toEqual(['Order cables']);
    expect(await tasks('floor')).toEqual([]);
  });

  it('finds matching tasks of a project even if another project has 10,050 newer matches', async () => {
    const owner = await createWorkspace(api);
    const [mine, other] = [await owner.createProject(), await owner.createProject()];
    for (const title of ['Order cables', 'Lay cables', 'Order desks']) await owner.createTask({ title }, mine);
    await api.owner.pool.query(`INSERT INTO tasks (tenant_id, project_id, title, updated_at)
      SELECT ${owner.tenantId}, ${other.id}, 'Order cables ' || i, now() FROM generate_series(1, 10050) AS i`);
    const list = async ({ id }: Project, query: string) => {
      const { data, meta } = (await owner.call('GET', `/projects/${id}/tasks?q=cables${query}`)).body;
      return [data.map(({ title }: Task) => title), meta.totalCount, meta.totalCountCapped ?? false];
    };
    expect(await list(mine, '')).toEqual([['Lay cables', 'Order cables'], 2, false]);
    expect(await list(mine, '&page=2&perPage=1')).toEqual([['Order cables'], 2, false]);
    expect(await list(mine, '&status=DONE')).toEqual([[], 0, false]);
    expect(await list(other, '&perPage=1')).toEqual([['Order cables 10050'], 10_000, true]);
    expect(await list(other, '&perPage=1&status=DONE')).toEqual([[], 0, false]);
  });
});

describe.each(['/tickets', '/assets', '/users', '/projects'])('search on %s', (path) => {
  it.each([
    ['', 'at least 1'],
    ['   ', 'letter or a digit'],
    ['!?., -', 'letter or a digit'],
    ['%', 'letter or a digit'],
    ["&|!():*'", 'letter or a digit'],
    ['🖨️', 'letter or a digit'],
    ['x'.repeat(201), 'at most 200'],
    ['x'.repeat(10_000), 'at most 200'],
    ['a\0b', 'control characters'],
  ])('rejects the search query %j', async (q, message) => {
    const answer = await find(`${path}?`, q);
    expect(answer.status, answer.text).toBe(400);
    expect(errorOf(answer).code).toBe('VALIDATION_ERROR');
    expect(errorOf(answer).details?.[0]?.path).toBe('q');
    expect(errorOf(answer).message).toContain(message);
  });
});

describe('a list query that exceeds the statement timeout', () => {
  it('returns QUERY_TOO_BROAD if a list query exceeds the statement timeout', async () => {
    const logged: { msg: string }[] = [];
    const logger = pino({ level: 'warn' }, { write: (line) => logged.push(JSON.parse(line)) });
    const slow = await startApi({ databaseUrl: api.databaseUrl, env: { STATEMENT_TIMEOUT_MS: '1000' }, logger });
    const lock = await api.owner.pool.connect();
    try {
      await lock.query('BEGIN; LOCK TABLE texts IN ACCESS EXCLUSIVE MODE');
      await lock.query('LOCK TABLE ticket_counts, projects IN ACCESS EXCLUSIVE MODE');
      const paths = ['/tickets?q=vpn', '/assets?q=laptop', '/tickets?status=OPEN,CLOSED', '/projects?status=ACTIVE'];
      const call = (path: string) => slow.call({ method: 'GET', path: `/api/public/v1${path}`, key: workspace.key });
      for (const answer of await Promise.all(paths.map(call))) {
        expect(answer.status, answer.text).toBe(400);
        expect(errorOf(answer)).toMatchObject({ code: 'QUERY_TOO_BROAD', message: expect.stringContaining('filter') });
      }
      const answer = await slow.call({ method: 'GET', path: '/api/public/v1/tickets', key: workspace.key });
      expect(answer.status).toBe(200);
      expect(logged.filter(({ msg }) => msg.includes('STATEMENT_TIMEOUT_MS'))).toHaveLength(4);
    } finally {
      await lock.query('ROLLBACK');
      lock.release();
      await slow.close();
    }
  });
});

describe('search_texts()', () => {
  it('rejects a call to search_texts() without a tenant or from the system role', async () => {
    const call = "SELECT * FROM search_texts('tickets', 'vpn', true, 10)";
    await expect(api.owner.pool.query(call)).rejects.toThrow('without a tenant');
    await expect(api.databases.system.pool.query(call)).rejects.toThrow('permission denied');
  });
});
