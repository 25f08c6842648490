import {
  type CategoryConfig,
  CategoryConfigPatch,
  maxTicketCategories,
  NewCategoryConfig,
  type NewTicket,
  type Ticket,
} from '@itsm-api/contract';
import { importTicketCategories, updateTicketCategory } from '@itsm-api/server/resources/ticket-categories/queries.ts';
import { describe, expect, vi } from 'vitest';
import { type Answer, errorOf } from '../support/api.ts';
import { api, itInNewWorkspace as it, workspace } from '../support/fixture.ts';
import { createWorkspace, ticket } from '../support/workspace.ts';

const add = (id: string, overrides: Partial<NewCategoryConfig> = {}) =>
  workspace.createTicketCategory({ id, ...overrides });
const update = (id: string, patch: CategoryConfigPatch) => updateTicketCategory(workspace.context, id, patch);
const listed = async (query = ''): Promise<CategoryConfig[]> =>
  (await workspace.call('GET', `/ticket-categories${query}`)).body.data;

describe('GET /ticket-categories', () => {
  it('returns every field of all categories, in the order of their ids', async () => {
    const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const own = { createdAt: timestamp, updatedAt: timestamp, etag: expect.any(String) };
    await add('b', { name: 'Network', category: 'NETWORK' });
    await add('Z/ü ,1', { name: 'VPN', parentId: 'b' });
    await update('Z/ü ,1', { active: false });
    const { body } = await workspace.call('GET', '/ticket-categories');
    expect(body).toEqual({
      success: true,
      data: [
        { id: 'Z/ü ,1', name: 'VPN', parentId: 'b', category: null, active: false, ...own },
        { id: 'b', name: 'Network', parentId: null, category: 'NETWORK', active: true, ...own },
      ],
      meta: { page: 1, perPage: 20, totalCount: 2 },
    });
  });

  it('keeps the order on all pages', async () => {
    for (const id of ['d', 'a', 'c', 'e', 'b']) await add(id);
    const pages = await Promise.all([1, 2, 3, 4].map((page) => listed(`?perPage=2&page=${page}`)));
    expect(pages.map((page) => page.map(({ id }) => id))).toEqual([['a', 'b'], ['c', 'd'], ['e'], []]);
  });
});

describe('a new ticket category', () => {
  it.each([
    ['an empty id', { id: '' }],
    ['an id of 256 characters', { id: 'x'.repeat(256) }],
    ['an empty name', { name: ' ' }],
    ['a name of 101 characters', { name: 'n'.repeat(101) }],
    ['an unknown category', { category: 'PRINTERS' }],
  ])('rejects %s', (_, input) => {
    expect(NewCategoryConfig.safeParse({ id: 'vpn', name: 'VPN', ...input }).success).toBe(false);
  });

  it('rejects an id that another category of the workspace has', async () => {
    const message = 'vpn is already used by another category. Choose a different value.';
    await add('vpn');
    await update('vpn', { active: false });
    await expect(add('vpn')).rejects.toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'id', message }] });
    const other = await createWorkspace(api);
    await expect(other.createTicketCategory({ id: 'vpn' })).resolves.toMatchObject({ id: 'vpn' });
  });

  it('can be on up to three levels, below a category of the same workspace', async () => {
    await (await createWorkspace(api)).createTicketCategory({ id: 'foreign' });
    await add('1');
    await add('2', { parentId: '1' });
    await add('3', { parentId: '2' });
    const parents = {
      3: 'would make more than 3 levels. Choose a category on a higher level.',
      4: 'must not be the category itself or one of its descendants',
      foreign: 'must be the id of a ticket category of this workspace',
    };
    for (const [parentId, message] of Object.entries(parents)) {
      await expect(add('4', { parentId })).rejects.toMatchObject({ details: [{ path: 'parentId', message }] });
    }
    expect((await listed()).map(({ id }) => id)).toEqual(['1', '2', '3']);
  });

  it(`is rejected if the workspace has ${maxTicketCategories} categories`, async () => {
    const inputs = Array.from({ length: maxTicketCategories }, (_, i) => ({ id: `${i}`, name: 'VPN' }));
    expect(await importTicketCategories(workspace.context, inputs)).toMatchObject({ created: maxTicketCategories });
    await expect(add('one more')).rejects.toMatchObject({
      message: `A workspace has at most ${maxTicketCategories} ticket categories, including inactive ones. Change an existing category instead.`,
    });
  });
});

describe('a changed ticket category', () => {
  it('changes only the given fields, and gets a new version', async () => {
    await add('network');
    const { id } = await add('vpn', { category: 'NETWORK' });
    const patches: CategoryConfigPatch[] = [
      { name: 'Remote access' },
      { parentId: 'network' },
      { parentId: null },
      { category: null },
      { active: false },
    ];
    for (const patch of patches) {
      const current = (await listed()).find((each) => each.id === id);
      const after = await update(id, CategoryConfigPatch.parse(patch));
      expect(after).toEqual({ ...current, ...patch, updatedAt: expect.any(String), etag: expect.any(String) });
      expect(after.etag).not.toBe(current?.etag);
      expect(await listed()).toContainEqual(after);
    }
  });

  it('changes nothing if the values are the same', async () => {
    const category = await add('vpn');
    expect(await update('vpn', { name: category.name, parentId: null, active: true })).toEqual(category);
  });

  it('rejects a parent that makes a cycle or moves a descendant to a fourth level', async () => {
    await add('top');
    await add('a');
    await add('b', { parentId: 'a' });
    await add('c', { parentId: 'b' });
    for (const [id, parentId] of [
      ['a', 'a'],
      ['a', 'c'],
      ['a', 'top'],
      ['b', 'unknown'],
    ] as const) {
      await expect(update(id, { parentId })).rejects.toMatchObject({ details: [{ path: 'parentId' }] });
    }
    expect(await update('b', { parentId: 'top' })).toMatchObject({ parentId: 'top' });
  });

  it('prevents cycles by concurrent changes', async () => {
    await add('a');
    await add('b');
    const changes = await Promise.allSettled([update('a', { parentId: 'b' }), update('b', { parentId: 'a' })]);
    expect(changes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('rejects a change if the category has changed since `ifMatch`', async () => {
    const { id, etag } = await add('vpn');
    await update(id, { name: 'Changed' });
    const context = { ...workspace.context, ifMatch: [etag] };
    await expect(updateTicketCategory(context, id, { name: 'Other' })).rejects.toMatchObject({
      code: 'PRECONDITION_FAILED',
    });
  });
});

describe('categoryConfigId of a ticket', () => {
  const given = { ...ticket, category: undefined };
  const create = (body: object) => workspace.call('POST', '/tickets', { ...given, ...body });
  const patch = (id: number, body: object) => workspace.call('PATCH', `/tickets/${id}`, body);
  const message = 'must be an active ticket category of this workspace';
  const invalid = { code: 'INVALID_REFERENCE', details: [{ path: 'categoryConfigId', message }] };
  const expectInvalid = (answer: Answer) => expect(errorOf(answer)).toMatchObject(invalid);

  it('accepts any text in a workspace without categories', async () => {
    const { data } = (await create({ categoryConfigId: 'any' })).body;
    expect(data).toMatchObject({ category: null, categoryConfigId: 'any' });
    expect((await patch(data.id, { categoryConfigId: 'other' })).body.data.categoryConfigId).toBe('other');
  });

  it('accepts an integer, which becomes text', async () => {
    const { data } = (await create({ categoryConfigId: 7 })).body;
    expect(data.categoryConfigId).toBe('7');
    const bulk = { tickets: [{ ...given, categoryConfigId: Number.MAX_SAFE_INTEGER }] };
    const [{ data: last }] = (await workspace.call('POST', '/tickets/bulk', bulk)).body.data;
    expect(last.categoryConfigId).toBe('9007199254740991');
    expect((await patch(data.id, { categoryConfigId: 12 })).body.data.categoryConfigId).toBe('12');
    const update = { tickets: [{ id: data.id, categoryConfigId: 0 }] };
    const [{ data: updated }] = (await workspace.call('PATCH', '/tickets/bulk', update)).body.data;
    expect(updated.categoryConfigId).toBe('0');
    for (const categoryConfigId of [7.5, 2 ** 53, true, ['7'], '']) {
      const details = [{ path: 'categoryConfigId' }];
      expect(errorOf(await patch(data.id, { categoryConfigId }))).toMatchObject({ code: 'VALIDATION_ERROR', details });
    }
    await add('42');
    expect((await create({ categoryConfigId: 42 })).body.data.categoryConfigId).toBe('42');
    expectInvalid(await create({ categoryConfigId: 7 }));
  });

  it('accepts only active categories in a workspace with categories', async () => {
    await add('vpn');
    await add('old');
    await update('old', { active: false });
    const { data } = (await create({ categoryConfigId: 'vpn' })).body;
    for (const categoryConfigId of ['old', 'unknown', 'VPN', 'vpn ']) {
      expectInvalid(await create({ categoryConfigId }));
      expectInvalid(await patch(data.id, { categoryConfigId }));
    }
    const importKey = await workspace.createKey({ isImport: true });
    const path = '/api/public/v1/tickets';
    const body = { ...given, categoryConfigId: 'old' };
    expectInvalid(await api.call({ method: 'POST', path, key: importKey, body }));
    expect((await patch(data.id, { category: 'OTHER', categoryConfigId: null })).status).toBe(200);
  });

  it('keeps its value when categories are added or deactivated', async () => {
    const { data: before } = (await create({ categoryConfigId: 'any' })).body;
    await add('vpn');
    const other = (await create({ categoryConfigId: 'vpn' })).body.data;
    await update('vpn', { active: false });
    expect((await patch(before.id, { categoryConfigId: 'any' })).body.data).toEqual(before);
    expect((await patch(before.id, { title: 'Changed' })).body.data.categoryConfigId).toBe('any');
    expect((await patch(other.id, { categoryConfigId: 'vpn', title: 'Changed' })).body.data).toMatchObject({
      ...{ title: 'Changed', categoryConfigId: 'vpn' },
    });
  });

  it('fills the category of a new ticket whose request contains no category', async () => {
    await add('vpn', { category: 'NETWORK' });
    await add('badges');
    const created = async (body: object) => (await create(body)).body.data.category;
    expect(await created({ categoryConfigId: 'vpn' })).toBe('NETWORK');
    expect(await created({ categoryConfigId: 'vpn', category: null })).toBe('NETWORK');
    expect(await created({ categoryConfigId: 'vpn', category: 'ACCESS' })).toBe('ACCESS');
    expect(await created({ categoryConfigId: 'badges' })).toBeNull();
    const { data } = (await create({ category: 'OTHER' })).body;
    expect((await patch(data.id, { categoryConfigId: 'vpn' })).body.data.category).toBe('OTHER');
  });

  it('is checked and fills the category for each item of a bulk request', async () => {
    await add('vpn', { category: 'NETWORK' });
    const ids = ['vpn', 'unknown', 'vpn'];
    const { body } = await workspace.call('POST', '/tickets/bulk', {
      tickets: ids.map((categoryConfigId) => ({ ...given, categoryConfigId })),
    });
    const filled = { status: 201, data: { category: 'NETWORK', categoryConfigId: 'vpn' } };
    expect(body.data).toMatchObject([filled, { status: 400, error: invalid }, filled]);
    const [{ data: first }, , { data: last }] = body.data;
    const changed = await workspace.call('PATCH', '/tickets/bulk', {
      tickets: [
        { id: first.id, categoryConfigId: 'unknown' },
        { id: last.id, categoryConfigId: null },
      ],
    });
    expect(changed.body.data).toMatchObject([
      { status: 400, error: invalid },
      { status: 200, data: { categoryConfigId: null } },
    ]);
  });

  it('is checked in the statement that looks up the other references', async () => {
    await add('vpn');
    const { id: parentId } = await workspace.createTicket();
    const runPipeline = vi.spyOn(api.databases.requests.pool, 'runPipeline');
    const countStatements = async (body: object) => {
      runPipeline.mockClear();
      expect((await create(body)).status).toBe(201);
      return runPipeline.mock.calls.flatMap(([statements]) => statements).length;
    };
    const without = await countStatements({ category: 'OTHER', parentId });
    expect(await countStatements({ categoryConfigId: 'vpn', parentId })).toBe(without);
    runPipeline.mockRestore();
  });
});

describe('GET /tickets?categoryConfigId', () => {
  it.each([
    ['categoryConfigId=vpn', [2, 0]],
    ['categoryConfigId=vpn&categoryConfigId=a,b&sort=id', [0, 1, 2]],
    ['categoryConfigId=a,b', [1]],
    ['categoryConfigId=vpn&status=OPEN&q=VPN', [2, 0]],
    ['categoryConfigId=unknown', []],
  ])('returns the matching tickets for %s', async (query, places) => {
    const made: Ticket[] = [];
    for (const categoryConfigId of ['vpn', 'a,b', 'vpn', undefined]) {
      made.push(await workspace.createTicket({ categoryConfigId } satisfies Partial<NewTicket>));
    }
    const { body } = await workspace.call('GET', `/tickets?${query}`);
    expect(body.data).toEqual(places.map((place) => made[place]));
    expect(body.meta.totalCount).toBe(places.length);
  });
});
