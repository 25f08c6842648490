import { describe, expect } from 'vitest';
import { type Answer, errorOf } from '../support/api.ts';
import { it, workspace } from '../support/fixture.ts';
import { ticket, unique } from '../support/workspace.ts';

const numbered = (count: number, prefix = 't') => Array.from({ length: count }, (_, index) => `${prefix}${index + 10}`);

/** The requests that create and change a resource with tags. */
const resources = {
  tickets: {
    make: (fields: object) => workspace.call('POST', '/tickets', { ...ticket, ...fields }),
    change: (id: number, patch: object, headers = {}) => workspace.call('PATCH', `/tickets/${id}`, patch, headers),
  },
  assets: {
    make: (fields: object) =>
      workspace.call('POST', '/assets', { name: 'Laptop', type: 'LAPTOP', assetTag: unique(), ...fields }),
    change: (id: number, patch: object, headers = {}) => workspace.call('PATCH', `/assets/${id}`, patch, headers),
  },
};

describe.each(Object.entries(resources))('tags of %s', (path, { make, change }) => {
  const tagsOf = (answer: Answer) => answer.body.data.tags;
  const made = async (tags?: string[] | null) => (await make({ tags })).body.data;
  const listed = async (query: string) => {
    const { body } = await workspace.call('GET', `/${path}?${query}`);
    expect(body.meta.totalCount).toBe(body.data.length);
    return body.data.map(({ id }: { id: number }) => id);
  };

  it('stores tags in lower case and NFC, sorted and without duplicates', async () => {
    const given = ['VIP', 'site:Berlin', 'vip', 'Cafe\u0301', 'हिंदी', '日本', '24/7', 'Straße', 'a_b.c-d/e:f'];
    const stored = ['24/7', 'a_b.c-d/e:f', 'café', 'site:berlin', 'straße', 'vip', 'हिंदी', '日本'];
    const row = await made(given);
    expect(row.tags).toEqual(stored);
    expect((await workspace.call('GET', `/${path}/${row.id}`)).body.data).toEqual(row);
    expect([await made(null), await made()].map(({ tags }) => tags)).toEqual([[], []]);
  });

  it.each(['', ' vip', 'two words', 'a,b', ':a', '-a', 'emoji🙂', 'x'.repeat(51), 7, null])(
    'rejects the tag %j',
    async (tag) => {
      const { id } = await made();
      for (const field of ['tags', 'addTags', 'removeTags']) {
        const answer = await change(id, { [field]: ['ok', tag] });
        expect(errorOf(answer)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: `${field}.1` }] });
      }
    },
  );

  it('replaces, adds and removes tags, and changes the version only if the tags change', async () => {
    const row = await made(['b', 'a']);
    const added = (await change(row.id, { addTags: ['C', 'a'], removeTags: ['b', 'x'] })).body.data;
    expect(added).toEqual({ ...row, tags: ['a', 'c'], updatedAt: added.updatedAt, etag: added.etag });
    expect(added.etag).not.toBe(row.etag);
    for (const same of [{ tags: ['c', 'a', 'A'] }, { addTags: ['c'] }, { removeTags: ['b'] }, { addTags: [] }])
      expect((await change(row.id, same)).body.data).toEqual(added);
    expect(tagsOf(await change(row.id, { tags: [] }))).toEqual([]);
    const { data } = (await workspace.call('GET', `/${path}/${row.id}/activity`)).body;
    expect(data.map(({ changes }: { changes: object }) => changes)).toEqual([
      { tags: { from: ['a', 'c'], to: [] } },
      { tags: { from: ['a', 'b'], to: ['a', 'c'] } },
      {},
    ]);
  });

  it.each([
    [{ addTags: ['a', 'b'], removeTags: ['c', 'B'] }, 'removeTags', 'must not contain b, which is also in addTags'],
    [{ tags: ['a'], addTags: ['b'] }, 'addTags', "can't be combined with tags"],
    [{ tags: ['a'], removeTags: ['b'] }, 'removeTags', "can't be combined with tags"],
  ])('rejects the contradicting patch %j', async (patch, where, message) => {
    const { id } = await made();
    const error = errorOf(await change(id, patch));
    expect(error).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: where, message }] });
  });

  it('allows at most 50 tags in the result of a change', async () => {
    const row = await made([...numbered(50), ...numbered(50)]);
    expect(row.tags).toEqual(numbered(50));
    expect(errorOf(await change(row.id, { addTags: ['more'] }))).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: 'addTags', message: expect.stringContaining('51 tags') }],
    });
    expect(errorOf(await make({ tags: numbered(51) }))).toMatchObject({ details: [{ path: 'tags' }] });
    const swapped = await change(row.id, { addTags: numbered(50, 'u'), removeTags: numbered(50) });
    expect(tagsOf(swapped)).toEqual(numbered(50, 'u'));
  });

  it('checks If-Match before it adds tags', async () => {
    const row = await made();
    await change(row.id, { addTags: ['a'] });
    const late = await change(row.id, { addTags: ['b'] }, { 'if-match': row.etag });
    expect(errorOf(late)).toMatchObject({ code: 'PRECONDITION_FAILED' });
  });

  it('finds rows with one of the tags, also with other filters', async () => {
    const tag = unique().toLowerCase();
    const [a, b, c] = [await made([`${tag}a`]), await made([`${tag}a`, `${tag}b`]), await made([`${tag}b`])];
    expect(await listed(`tag=${tag}A`)).toEqual([b.id, a.id]);
    expect(await listed(`tag=${tag}a,${tag}b`)).toEqual([c.id, b.id, a.id]);
    expect(await listed(`tag=${tag}x`)).toEqual([]);
    expect(await listed(`tag=${tag}a,${tag}b&status=${b.status}&q=${path === 'tickets' ? 'VPN' : 'laptop'}`)).toEqual([
      c.id,
      b.id,
      a.id,
    ]);
    await change(b.id, { status: path === 'tickets' ? 'RESOLVED' : 'LOST', removeTags: [`${tag}a`] });
    expect(await listed(`tag=${tag}a`)).toEqual([a.id]);
    expect(await listed(`tag=${tag}b&status=${b.status}`)).toEqual([c.id]);
    expect(await listed(`tag=${tag}b&status=${path === 'tickets' ? 'RESOLVED' : 'LOST'}`)).toEqual([b.id]);
    expect((await workspace.call('GET', `/${path}?tag=a b`)).status).toBe(400);
  });
});

it('keeps the tags of all concurrent requests that add or remove different tags', async () => {
  const { id } = await workspace.createTicket();
  const tags = numbered(50);
  const send = (patch: object, index: number) =>
    index % 2 === 0
      ? workspace.call('PATCH', `/tickets/${id}`, patch)
      : workspace.call('PATCH', '/tickets/bulk', { tickets: [{ id, ...patch }] });
  for (const [field, expected] of [
    ['addTags', tags],
    ['removeTags', []],
  ] as const) {
    const answers = await Promise.all(tags.map((tag, index) => send({ [field]: [tag] }, index)));
    for (const { status, body, text } of answers)
      expect([status, body.data[0]?.status ?? 200], text).toEqual([200, 200]);
    expect((await workspace.call('GET', `/tickets/${id}`)).body.data.tags).toEqual(expected);
  }
  const { meta } = (await workspace.call('GET', `/tickets/${id}/activity`)).body;
  expect(meta.totalCount).toBe(1 + 2 * tags.length);
});

it('changes tags in bulk requests and in upserts', async () => {
  const { id } = await workspace.createTicket({ tags: ['a'] });
  const items = [{ id, addTags: ['b'], removeTags: ['A'] }];
  const [changed] = (await workspace.call('PATCH', '/tickets/bulk', { tickets: items })).body.data;
  expect(changed).toMatchObject({ status: 200, data: { tags: ['b'] } });
  const twice = [{ id, addTags: ['c'], removeTags: ['c'] }];
  const [rejected] = (await workspace.call('PATCH', '/tickets/bulk', { tickets: twice })).body.data;
  expect(rejected).toMatchObject({ status: 400, error: { details: [{ path: 'removeTags' }] } });

  const given = { assetTag: unique(), name: 'Laptop', type: 'LAPTOP', tags: ['Leased', 'b'] };
  const upsert = async (asset: object) => {
    const answer = await workspace.call('POST', '/assets/upsert', { assets: [asset] });
    return [answer.body.data[0].result, answer.body.data[0].data.tags];
  };
  expect(await upsert(given)).toEqual(['CREATED', ['b', 'leased']]);
  expect(await upsert({ ...given, tags: ['b', 'leased'] })).toEqual(['UNCHANGED', ['b', 'leased']]);
  expect(await upsert({ assetTag: given.assetTag })).toEqual(['UNCHANGED', ['b', 'leased']]);
  expect(await upsert({ assetTag: given.assetTag, tags: null })).toEqual(['UPDATED', []]);
});
