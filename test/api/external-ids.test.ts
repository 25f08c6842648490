import { importAssets } from '@itsm-api/server/resources/assets/import-assets.ts';
import { beforeEach, describe, expect } from 'vitest';
import { type Answer, errorOf } from '../support/api.ts';
import { itInNewWorkspace as it, workspace } from '../support/fixture.ts';
import { comment, ticket, unique } from '../support/workspace.ts';

let ticketId: number;

beforeEach(async () => {
  ticketId = (await workspace.createTicket()).id;
});

const asset = () => ({ name: 'Laptop', assetTag: unique(), type: 'LAPTOP' as const });

interface Linked {
  resource: string;
  path(): string;
  body(): object;
}

const linked: Linked[] = [
  { resource: 'ticket', path: () => '/tickets', body: () => ticket },
  { resource: 'comment', path: () => `/tickets/${ticketId}/comments`, body: () => comment },
  { resource: 'asset', path: () => '/assets', body: asset },
];

/** Returns the error for an external id that the resource with the given id has. */
function takenBy(resource: string, id: unknown) {
  const message = `is already used by another ${resource}. Use that ${resource}, or choose a different value.`;
  return {
    code: 'EXTERNAL_ID_EXISTS',
    message: `externalId ${message}`,
    details: [{ path: 'externalId', message, id }],
  };
}

describe.each(linked)('externalId of a $resource', ({ resource, path, body }) => {
  const create = (externalId: unknown, headers = {}): Promise<Answer> =>
    workspace.call('POST', path(), { ...body(), externalId }, headers);

  it('returns the external id that a request sets, and null without one', async () => {
    expect((await create('zendesk:4711')).body.data.externalId).toBe('zendesk:4711');
    expect((await create(null)).body.data.externalId).toBeNull();
    expect((await create(undefined)).body.data.externalId).toBeNull();
  });

  it('accepts 1 to 200 printable ASCII characters without space and comma', async () => {
    const all = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index)).join('');
    for (const externalId of ['0', 'x'.repeat(200), all.replace(',', '')]) {
      expect((await create(externalId)).body.data.externalId).toBe(externalId);
    }
    for (const externalId of ['', 'x'.repeat(201), 'a b', 'a,b', 'a\n', 'é', '\u007F', 4711]) {
      expect(errorOf(await create(externalId))).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: [{ path: 'externalId' }],
      });
    }
  });

  it('returns EXTERNAL_ID_EXISTS with the id of the existing resource', async () => {
    const { id } = (await create('a')).body.data;
    const again = await create('a');
    expect(again.status).toBe(400);
    expect(errorOf(again)).toMatchObject(takenBy(resource, id));
    expect((await create('A')).status).toBe(201);
  });

  it('creates only one of 5 concurrent resources with the same external id', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => create('a')));
    const [made, ...others] = answers.toSorted((a, b) => a.status - b.status);
    expect(made?.status).toBe(201);
    for (const each of others) expect(errorOf(each)).toMatchObject(takenBy(resource, made?.body.data.id));
  });

  it('replays the first response to a repeated Idempotency-Key', async () => {
    const [given, key] = [body(), { 'idempotency-key': unique() }];
    const send = (headers: Record<string, string>) =>
      workspace.call('POST', path(), { ...given, externalId: 'a' }, headers);
    const first = await send(key);
    const second = await send(key);
    expect(first.status).toBe(201);
    expect([second.status, second.body]).toEqual([201, first.body]);
    expect(errorOf(await send({ 'idempotency-key': unique() })).code).toBe('EXTERNAL_ID_EXISTS');
  });

  it('filters by one or several external ids', async () => {
    const ids: number[] = [];
    for (const externalId of ['a', 'b', 'c', null]) ids.push((await create(externalId)).body.data.id);
    const [a, b, c] = ids;
    const list = async (query: string) => {
      const { data, meta } = (await workspace.call('GET', `${path()}?${query}`)).body;
      return [meta.totalCount, ...data.map(({ id }: { id: number }) => id)];
    };
    expect(await list('externalId=b')).toEqual([1, b]);
    expect(await list('externalId=a,c,unknown')).toEqual([2, c, a]);
    expect(await list('externalId=a&externalId=b&externalId=c&perPage=1&page=2')).toEqual([3, b]);
    expect(await list('externalId=unknown')).toEqual([0]);
    const names = Array.from({ length: 101 }, (_, index) => `x${index}`);
    expect(await list(`externalId=a,${names.slice(0, 99)}`)).toEqual([1, a]);
    const many = await workspace.call('GET', `${path()}?externalId=${names}`);
    expect(errorOf(many)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'externalId' }] });
  });
});

describe.each(linked.filter(({ resource }) => resource !== 'comment'))(
  'PATCH of the externalId of a $resource',
  ({ resource, path, body }) => {
    const create = async (fields = {}): Promise<{ id: number; externalId: string | null; updatedAt: string }> =>
      (await workspace.call('POST', path(), { ...body(), ...fields })).body.data;
    const patch = (id: number, fields: object) => workspace.call('PATCH', `${path()}/${id}`, fields);

    it('sets an external id once', async () => {
      const { id } = await create();
      expect((await patch(id, { externalId: null })).body.data.externalId).toBeNull();
      const set = await patch(id, { externalId: 'a' });
      expect(set.body.data.externalId).toBe('a');
      expect((await patch(id, { externalId: 'a' })).body).toEqual(set.body);
      for (const externalId of ['b', null]) {
        expect(errorOf(await patch(id, { externalId }))).toMatchObject({
          code: 'VALIDATION_ERROR',
          details: [
            {
              path: 'externalId',
              message: 'can be set only once, and it is already set. Omit it.',
            },
          ],
        });
      }
      const { data } = (await workspace.call('GET', `${path()}/${id}/activity`)).body;
      expect(data[0]).toMatchObject({ action: 'UPDATED', changes: { externalId: { from: null, to: 'a' } } });
      expect(data).toHaveLength(2);
    });

    it('returns EXTERNAL_ID_EXISTS for an external id of another resource, and changes nothing', async () => {
      const { id } = await create({ externalId: 'a' });
      const other = await create();
      expect(errorOf(await patch(other.id, { externalId: 'a' }))).toMatchObject(takenBy(resource, id));
      expect((await workspace.call('GET', `${path()}/${other.id}`)).body.data).toEqual(other);
    });

    it('gives one of 5 resources the external id that concurrent requests set', async () => {
      const rows = await Promise.all(Array.from({ length: 4 }, () => create()));
      const answers = await Promise.all([
        ...rows.map(({ id }) => patch(id, { externalId: 'a' })),
        workspace.call('POST', path(), { ...body(), externalId: 'a' }),
      ]);
      const [made, ...others] = answers.toSorted((a, b) => a.status - b.status);
      expect(made?.status).toBeLessThan(300);
      for (const each of others) expect(errorOf(each)).toMatchObject(takenBy(resource, made?.body.data.id));
    });
  },
);

describe('externalId in an import of assets', () => {
  it('creates an asset once if imports and requests with its external id run concurrently', async () => {
    const runImport = () => importAssets(workspace.context, [{ ...asset(), externalId: 'a' }], { update: false });
    const results = await Promise.allSettled([
      runImport(),
      runImport(),
      workspace.createAsset({ externalId: 'a' }),
      workspace.createAsset({ externalId: 'a' }),
    ]);
    const rejected = results.filter((result) => result.status === 'rejected');
    expect(rejected).toHaveLength(3);
    for (const { reason } of rejected)
      expect(reason.message).toMatch(/^No assets were imported|^externalId is already/);
  });
});

describe('externalId in bulk requests', () => {
  it('rejects only the bulk items whose external id exists, also in the same request', async () => {
    const { id } = await workspace.createTicket({ externalId: 'a' });
    const tickets = ['b', 'a', 'b', undefined, 'c'].map((externalId) => ({ ...ticket, externalId }));
    const key = { 'idempotency-key': unique() };
    const { status, body } = await workspace.call('POST', '/tickets/bulk', { tickets }, key);
    expect(status).toBe(200);
    const created = { status: 201, data: { externalId: 'b' } };
    expect(body.data).toMatchObject([
      created,
      { status: 400, error: takenBy('ticket', id) },
      { status: 400, error: takenBy('ticket', body.data[0].data.id) },
      { status: 201, data: { externalId: null } },
      { status: 201, data: { externalId: 'c' } },
    ]);
    expect((await workspace.call('POST', '/tickets/bulk', { tickets }, key)).body).toEqual(body);
    const { meta } = (await workspace.call('GET', '/tickets')).body;
    expect(meta.totalCount).toBe(5);
  });

  it('creates the second of two bulk items with the same external id if the first is invalid', async () => {
    const invalid = { ...ticket, externalId: 'a', assigneeId: 9007199254740991 };
    const tickets = [invalid, { ...ticket, externalId: 'a' }];
    const { data } = (await workspace.call('POST', '/tickets/bulk', { tickets })).body;
    expect(data).toMatchObject([
      { status: 400, error: { code: 'INVALID_REFERENCE' } },
      { status: 201, data: { externalId: 'a' } },
    ]);
  });

  it('sets external ids in a bulk update, and rejects a repeated one', async () => {
    const [first, second, third] = await Promise.all([1, 2, 3].map(() => workspace.createTicket()));
    const { data } = (
      await workspace.call('PATCH', '/tickets/bulk', {
        tickets: [
          { id: first?.id, externalId: 'a' },
          { id: second?.id, externalId: 'a', title: 'Not changed' },
          { id: third?.id, externalId: 'b' },
        ],
      })
    ).body;
    expect(data).toMatchObject([
      { status: 200, data: { externalId: 'a' } },
      { status: 400, error: takenBy('ticket', first?.id) },
      { status: 200, data: { externalId: 'b' } },
    ]);
    expect((await workspace.call('GET', `/tickets/${second?.id}`)).body.data).toEqual(second);
  });

  it('rejects only the bulk comments whose external id exists, also in the same request', async () => {
    const { id } = await workspace.createComment(ticketId, { externalId: 'a' });
    const comments = ['b', 'a', 'b', undefined].map((externalId) => ({ ...comment, externalId }));
    const { status, body } = await workspace.call('POST', `/tickets/${ticketId}/comments/bulk`, { comments });
    expect(status).toBe(200);
    expect(body.data).toMatchObject([
      { status: 201, data: { externalId: 'b' } },
      { status: 400, error: takenBy('comment', id) },
      { status: 400, error: takenBy('comment', body.data[0].data.id) },
      { status: 201, data: { externalId: null } },
    ]);
    expect((await workspace.call('GET', `/tickets/${ticketId}`)).body.data.commentCount).toBe(3);
  });

  it('creates no ticket if the external id of one of its comments exists', async () => {
    const { id } = await workspace.createComment(ticketId, { externalId: 'a' });
    const tickets = [['b', 'c'], ['d', 'a'], ['e', 'b'], ['f', 'f'], ['g']].map((externalIds, index) => {
      const comments = externalIds.map((externalId) => ({ ...comment, externalId }));
      return { ...ticket, externalId: `${index}`, comments };
    });
    const { data } = (await workspace.call('POST', '/tickets/bulk', { tickets })).body;
    const list = `/tickets/${data[0].data.id}/comments?externalId=b`;
    const [b] = (await workspace.call('GET', list)).body.data;
    const path = 'comments.1.externalId';
    expect(data).toMatchObject([
      { status: 201, data: { externalId: '0', commentCount: 2 } },
      { status: 400, error: { code: 'EXTERNAL_ID_EXISTS', details: [{ path, id }] } },
      { status: 400, error: { code: 'EXTERNAL_ID_EXISTS', details: [{ path, id: b.id }] } },
      { status: 400, error: { code: 'VALIDATION_ERROR', details: [{ path }] } },
      { status: 201, data: { externalId: '4', commentCount: 1 } },
    ]);
    expect((await workspace.call('GET', '/tickets')).body.meta.totalCount).toBe(3);
  });

  it('completes concurrent requests that lock tickets and external ids', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, async (_, round) => {
        const id = (name: string) => `${name}:${round % 3}`;
        const { id: other } = await workspace.createTicket({ parentId: ticketId });
        return Promise.all([
          workspace.call('PATCH', `/tickets/${ticketId}`, { externalId: id('patch'), watcherUserIds: [] }),
          workspace.call('PATCH', '/tickets/bulk', {
            tickets: [
              { id: other, externalId: id('a') },
              { id: ticketId, title: id('b') },
            ],
          }),
          workspace.call('POST', `/tickets/${ticketId}/comments`, { ...comment, externalId: id('c') }),
          workspace.call('POST', `/tickets/${other}/comments/bulk`, {
            comments: [{ ...comment, externalId: id('d') }],
          }),
          workspace.call('POST', '/tickets/bulk', {
            tickets: [
              { ...ticket, parentId: ticketId, externalId: id('a'), comments: [{ ...comment, externalId: id('d') }] },
            ],
          }),
        ]);
      }),
    );
    for (const { status, text } of answers.flat()) expect(status, text).toBeLessThan(500);
  });

  it('creates each ticket once if two bulk requests with the same external ids run concurrently', async () => {
    const tickets = Array.from({ length: 20 }, (_, index) => ({ ...ticket, externalId: `old:${index}` }));
    const answers = await Promise.all(
      [tickets, tickets.toReversed()].map((each) => workspace.call('POST', '/tickets/bulk', { tickets: each })),
    );
    const statuses = answers.flatMap(({ body }) => body.data.map((item: { status: number }) => item.status));
    expect(statuses.toSorted()).toEqual([...Array(20).fill(201), ...Array(20).fill(400)]);
  });
});
