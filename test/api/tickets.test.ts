import {
  Priority,
  plainTicketFields,
  type Ticket,
  TicketCategory,
  TicketType,
  ticketNumberPrefixes,
  type User,
} from '@itsm-api/contract';
import { deactivateUser } from '@itsm-api/server/resources/users/user-management.ts';
import { describe, expect } from 'vitest';
import { errorOf } from '../support/api.ts';
import { api, it as itBase, workspace } from '../support/fixture.ts';
import { bytes, keys, unstorable } from '../support/limits.ts';
import { createWorkspace, ticket, unique, type Workspace } from '../support/workspace.ts';

const now = new Date('2026-11-20T10:00:00.000Z');

const it = itBase.extend('options', { scope: 'file' }, { now: () => now });

const create = (fields: object = {}, owner = workspace) => owner.call('POST', '/tickets', { ...ticket, ...fields });
const patch = (id: number, body: unknown) => workspace.call('PATCH', `/tickets/${id}`, body);

async function read(id: number): Promise<Ticket> {
  return (await workspace.call('GET', `/tickets/${id}`)).body.data;
}

async function inactiveUser(): Promise<User> {
  return deactivateUser(workspace.context, (await workspace.createUser()).email);
}

describe('POST /tickets', () => {
  it('uses default values for missing fields of a new ticket', async () => {
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
        formKey: null,
        requesterId: workspace.userId,
        assigneeId: null,
        ...Object.fromEntries(Object.keys(plainTicketFields).map((name) => [name, null])),
        watcherUserIds: [],
        assetIds: [],
        tags: [],
        attachmentCount: 0,
        parentId: null,
        externalId: null,
        customFields: {},
        resolution: null,
        resolvedAt: null,
        closedAt: null,
        dueAt: null,
        plannedStartAt: null,
        plannedEndAt: null,
        approvalStatus: 'NONE',
        firstResponseDueAt: null,
        firstRespondedAt: null,
        redactedAt: null,
        commentCount: 0,
        linkCount: 0,
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        etag: expect.any(String),
      },
    });
  });

  it('returns every field of a new ticket by id and in the ticket list', async () => {
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
      externalId: 'zendesk:4711',
      assetIds: [(await owner.createAsset()).id],
      parentId: parent.id,
      customFields: { site: 'Köln', floors: [1, 'two', null, true] },
    };
    const { data } = (await create(fields, owner)).body;
    expect(data).toMatchObject(fields);
    expect((await owner.call('GET', `/tickets/${data.id}`)).body).toEqual({ success: true, data });
    expect((await owner.call('GET', '/tickets')).body.data).toEqual([data, parent]);
  });

  it('treats a null field of a new ticket like a missing field', async () => {
    const optional = [
      'priority',
      'categoryConfigId',
      'assigneeId',
      'watcherUserIds',
      'assetIds',
      'parentId',
      'customFields',
    ];
    const answer = await create(Object.fromEntries(optional.map((name) => [name, null])));
    expect(answer.status, answer.text).toBe(201);
    expect(answer.body.data).toMatchObject({
      priority: 'MEDIUM',
      categoryConfigId: null,
      assigneeId: null,
      watcherUserIds: [],
      assetIds: [],
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
    ['both categoryConfigId and category', { category: 'EMAIL', categoryConfigId: 'and this' }],
    ['a title of 255 characters', { title: 'x'.repeat(255) }],
    ['a description of 65,535 characters', { description: 'x'.repeat(65_535) }],
    ['a categoryConfigId of 255 characters', { categoryConfigId: 'x'.repeat(255) }],
  ])('creates a ticket with %s', async (_, fields) => {
    const answer = await create(fields);
    expect(answer.status, answer.text).toBe(201);
    // JSON.stringify removes undefined fields, which a response can't contain.
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
    ['a title of 256 characters', { title: 'x'.repeat(256) }, 'title'],
    ['a title that is not a string', { title: 5 }, 'title'],
    ['an empty description', { description: '' }, 'description'],
    ['a description of 65,536 characters', { description: 'x'.repeat(65_536) }, 'description'],
    ['an unknown type', { type: 'INCIDENTS' }, 'type'],
    ['a type in lower case', { type: 'incident' }, 'type'],
    ['an unknown category', { category: 'PRINTER' }, 'category'],
    ['an empty categoryConfigId', { categoryConfigId: '' }, 'categoryConfigId'],
    ['a categoryConfigId of 256 characters', { categoryConfigId: 'x'.repeat(256) }, 'categoryConfigId'],
    ['a categoryConfigId that is not an integer', { categoryConfigId: 5.5 }, 'categoryConfigId'],
    ['an unknown priority', { priority: 'URGENT' }, 'priority'],
    ['assigneeId 0', { assigneeId: 0 }, 'assigneeId'],
    ['assigneeId 1.5', { assigneeId: 1.5 }, 'assigneeId'],
    ['assigneeId 2^53', { assigneeId: 2 ** 53 }, 'assigneeId'],
    ['assigneeId as a string', { assigneeId: '1' }, 'assigneeId'],
    ['parentId -1', { parentId: -1 }, 'parentId'],
    ['parentId as a string', { parentId: '1' }, 'parentId'],
    ['parentId INC-0', { parentId: 'INC-0' }, 'parentId'],
    ['one watcher without an array', { watcherUserIds: 1 }, 'watcherUserIds'],
    ['a watcher 0', { watcherUserIds: [1, 0] }, 'watcherUserIds.1'],
    ['an asset 0', { assetIds: [1, 0] }, 'assetIds.1'],
    ['a status', { status: 'RESOLVED' }, 'status'],
    ['a resolution', { resolution: 'Done.' }, 'resolution'],
    ['a ticket number', { ticketNumber: 'INC-1' }, 'ticketNumber'],
  ])('rejects a new ticket with %s', async (_, fields, path) => {
    expect(errorOf(await create(fields))).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path }] });
  });

  it.each(['title', 'description', 'categoryConfigId'])(
    'rejects NUL and lone surrogates in the field %s of a ticket',
    async (path) => {
      for (const value of unstorable) {
        expect(errorOf(await create({ [path]: value }))).toMatchObject({
          code: 'VALIDATION_ERROR',
          details: [{ path }],
        });
      }
    },
  );

  it('trims only the title of a new ticket, before checking its length', async () => {
    const fields = { title: ` \n${'x'.repeat(255)}\t `, description: ' \n', categoryConfigId: ' ' };
    expect((await create(fields)).body.data).toMatchObject({ ...fields, title: 'x'.repeat(255) });
  });

  describe('ticketNumber', () => {
    const numbers = async (owner: Workspace, fields: object) => (await create(fields, owner)).body.data.ticketNumber;

    it('numbers the tickets of each tenant and ticket type from 1', async () => {
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

    it('leaves no gap in ticket numbers after a rejected creation or deletion', async () => {
      const owner = await createWorkspace(api);
      expect((await create({ title: '' }, owner)).status).toBe(400);
      expect((await create({ watcherUserIds: [Number.MAX_SAFE_INTEGER] }, owner)).status).toBe(400);
      expect(await numbers(owner, {})).toBe('INC-1');
      const deleted = api.prisma.ticket.deleteMany({ where: { tenantId: owner.tenantId } });
      await expect(deleted).rejects.toThrow('Tickets are never deleted');
      expect(await numbers(owner, {})).toBe('INC-2');
    });

    it('assigns consecutive numbers to 20 tickets that are created concurrently', async () => {
      const owner = await createWorkspace(api);
      const made = await Promise.all(Array.from({ length: 20 }, () => numbers(owner, {})));
      expect(new Set(made)).toEqual(new Set(Array.from({ length: 20 }, (_, i) => `INC-${i + 1}`)));
    });
  });

  describe('watcherUserIds', () => {
    let ids: number[];
    it.beforeAll(async () => {
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

    it('deduplicates and sorts the watcherUserIds of a ticket', async () => {
      const [a, b, c] = ids;
      const { data } = (await create({ watcherUserIds: [c, a, c, b, a] })).body;
      expect(data.watcherUserIds).toEqual([a, b, c]);
      expect(await read(data.id)).toEqual(data);
      const patched = (await patch(data.id, { watcherUserIds: [c, c, b] })).body.data;
      expect(patched).toEqual({ ...data, watcherUserIds: [b, c], updatedAt: patched.updatedAt, etag: patched.etag });
      expect(patched.updatedAt > data.updatedAt).toBe(true);
      expect(await read(data.id)).toEqual(patched);
    });

    it('rejects a ticket with more than 100 watchers', async () => {
      const { id } = (await create({ watcherUserIds: ids.slice(0, 100) })).body.data;
      expect((await read(id)).watcherUserIds).toEqual(ids.slice(0, 100));
      for (const answer of [await create({ watcherUserIds: ids }), await patch(id, { watcherUserIds: ids })]) {
        expect(errorOf(answer)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'watcherUserIds' }] });
      }
    });
  });

  describe('assetIds', () => {
    let ids: number[];
    it.beforeAll(async () => {
      const data = Array.from({ length: 51 }, () => {
        return { tenantId: workspace.tenantId, name: 'Laptop', assetTag: unique(), type: 'LAPTOP' as const };
      });
      const rows = await api.prisma.asset.createManyAndReturn({ data });
      ids = rows.map(({ id }) => Number(id)).sort((a, b) => a - b);
    });
    const listed = async (assetId: number | undefined) => {
      const { data } = (await workspace.call('GET', `/tickets?assetId=${assetId}`)).body;
      return data.map(({ id }: { id: number }) => id);
    };

    it('deduplicates and sorts the assetIds of a ticket, and replaces them with a patch', async () => {
      const [a, b, c] = ids;
      const { data } = (await create({ assetIds: [c, a, c, b, a] })).body;
      expect(data.assetIds).toEqual([a, b, c]);
      expect(await read(data.id)).toEqual(data);
      const patched = (await patch(data.id, { assetIds: [c, c, b] })).body.data;
      expect(patched).toEqual({ ...data, assetIds: [b, c], updatedAt: patched.updatedAt, etag: patched.etag });
      expect(patched.updatedAt > data.updatedAt).toBe(true);
      expect(await read(data.id)).toEqual(patched);
      expect((await patch(data.id, { assetIds: [b, c, b] })).body.data).toEqual(patched);
      expect([await listed(a), await listed(b)]).toEqual([[], [data.id]]);
      expect((await patch(data.id, { assetIds: [] })).body.data.assetIds).toEqual([]);
      expect(await listed(b)).toEqual([]);
      const { data: activity } = (await workspace.call('GET', `/tickets/${data.id}/activity`)).body;
      expect(activity[0].changes).toEqual({ assetIds: { from: [b, c], to: [] } });
    });

    it('rejects a ticket with more than 50 assets', async () => {
      const { id } = (await create({ assetIds: ids.slice(0, 50) })).body.data;
      expect((await read(id)).assetIds).toEqual(ids.slice(0, 50));
      for (const answer of [await create({ assetIds: ids }), await patch(id, { assetIds: ids })]) {
        expect(errorOf(answer)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'assetIds' }] });
      }
    });

    it('rejects unknown assets of a ticket', async () => {
      const assetIds = [ids[0], Number.MAX_SAFE_INTEGER];
      const { id } = (await create({ assetIds: [ids[0]] })).body.data;
      for (const answer of [await create({ assetIds }), await patch(id, { assetIds })]) {
        expect(errorOf(answer)).toMatchObject({
          code: 'INVALID_REFERENCE',
          details: [{ path: 'assetIds.1', message: 'must be an asset of this workspace' }],
        });
      }
    });
  });

  it('reports at most 20 of 100 unknown watchers of a ticket', async () => {
    const unknownIds = Array.from({ length: 100 }, (_, i) => Number.MAX_SAFE_INTEGER - i);
    const { code, details = [] } = errorOf(await create({ watcherUserIds: unknownIds }));
    expect(code).toBe('INVALID_REFERENCE');
    expect(details.map(({ path }) => path)).toEqual(unknownIds.slice(0, 20).map((_, i) => `watcherUserIds.${i}`));
  });

  it('rejects an inactive assignee or watcher for a new ticket', async () => {
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
      ['strings', { text: '', long: 'x'.repeat(16_000) }],
      ['numbers', { zero: 0, most: 1e15, least: -1e15, tiny: 1e-9, minus: -1e-9, precise: 0.1 }],
      ['booleans and null', { yes: true, no: false, nothing: null }],
      ['arrays', { none: [], many: ['a', 1, false, null, 1e15] }],
      ['unusual names', { constructor: 'a', toString: 'b', hasOwnProperty: 1, 'dots.and spaces': 2, 'ä🙂': 3, 7: 4 }],
      ['50 keys', keys(50)],
      ['16 KiB', bytes(16_384)],
    ])('stores and returns ticket customFields with %s', async (_, customFields) => {
      const answer = await create({ customFields });
      expect(answer.status, answer.text).toBe(201);
      expect(answer.body.data.customFields).toEqual(customFields);
      expect((await read(answer.body.data.id)).customFields).toEqual(customFields);
    });

    it.each<[string, unknown, string]>([
      ['an array', ['a'], 'customFields'],
      ['a string', 'a', 'customFields'],
      ['an object as value', { a: { b: 1 } }, 'customFields.a'],
      ['an array in an array', { a: [[1]] }, 'customFields.a'],
      ['an object in an array', { a: [{}] }, 'customFields.a'],
      ['a number above 1e15', { a: 1.0000000000000002e15 }, 'customFields.a'],
      ['a number below -1e15', { a: -1e308 }, 'customFields.a'],
      ['a number closer to 0 than 1e-9', { a: ['fine', 9.99e-10] }, 'customFields.a.1'],
      ['51 keys', keys(51), 'customFields'],
      ['16,385 bytes, though fewer characters', bytes(16_385), 'customFields'],
    ])('rejects ticket customFields that contain %s', async (_, customFields, path) => {
      const { id } = await workspace.createTicket();
      for (const answer of [await create({ customFields }), await patch(id, { customFields })]) {
        expect(errorOf(answer).code).toBe('VALIDATION_ERROR');
        expect(errorOf(answer).details?.[0]?.path).toContain(path);
      }
    });

    it('rejects a number in customFields that is too large for JavaScript', async () => {
      const body = JSON.stringify({ ...ticket, customFields: { n: 0 } }).replace('"n":0', '"n":1e309');
      expect(errorOf(await workspace.call('POST', '/tickets', body)).code).toBe('VALIDATION_ERROR');
    });

    it('rejects NUL and lone surrogates in the customFields of a ticket', async () => {
      for (const text of unstorable) {
        for (const customFields of [{ [text]: 1 }, { a: text }, { a: ['fine', text] }]) {
          expect(errorOf(await create({ customFields })).code).toBe('VALIDATION_ERROR');
        }
      }
    });
  });
});

describe('a ticket addressed by its number', () => {
  it('reads and updates a ticket by its number', async () => {
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
    'returns 404 for the unknown ticket number %s',
    async (number) => {
      const owner = await createWorkspace(api);
      await owner.createTicket();
      for (const answer of [
        await owner.call('GET', `/tickets/${number}`),
        await owner.call('PATCH', `/tickets/${number}`, { title: 'x' }),
      ]) {
        expect(answer.status, answer.text).toBe(404);
        expect(errorOf(answer).message).toBe('Ticket not found in this workspace. Check the id or ticket number.');
      }
    },
  );

  it('returns 404 for a ticket number that exists only in another workspace', async () => {
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
  ])('returns 400 for the malformed ticket number %s', async (text) => {
    const answer = await workspace.call('GET', `/tickets/${text}`);
    expect(answer.status, answer.text).toBe(400);
    expect(errorOf(answer).message).toBe('id must be a positive integer or a ticket number such as INC-17');
  });
});

describe('POST /tickets with requesterId', () => {
  it('sets requesterId to the user of the API key by default', async () => {
    const { id } = await workspace.createUser({ role: 'REQUESTER' });
    expect((await create({ requesterId: id })).body.data.requesterId).toBe(id);
    expect((await create({ requesterId: null })).body.data.requesterId).toBe(workspace.userId);
  });

  it('rejects the requesterId of an inactive or unknown user', async () => {
    for (const requesterId of [(await inactiveUser()).id, Number.MAX_SAFE_INTEGER]) {
      expect(errorOf(await create({ requesterId }))).toMatchObject({
        code: 'INVALID_REFERENCE',
        details: [{ path: 'requesterId' }],
      });
    }
  });
});
