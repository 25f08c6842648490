import { type Asset, type AssetMatch, type Delivery, replayedHeader } from '@itsm-api/contract';
import type { Schema } from '@itsm-api/contract/openapi';
import { importAssets } from '@itsm-api/server/resources/assets/import-assets.ts';
import { deactivateUser } from '@itsm-api/server/resources/users/user-management.ts';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { valid } from '../openapi/arbitraries.ts';
import { document } from '../openapi/operations.ts';
import { api, it, workspace } from '../support/fixture.ts';
import { pairsOf } from '../support/pairs.ts';
import { createWorkspace, unique, type Workspace } from '../support/workspace.ts';

/** The result of one item. */
// biome-ignore lint/suspicious/noExplicitAny: a test fails when what it reads isn't there
type ItemResult = any;

async function upsert(assets: object[], { matchBy, of = workspace }: { matchBy?: AssetMatch; of?: Workspace } = {}) {
  const answer = await of.call('POST', '/assets/upsert', { assets, matchBy });
  expect(answer.status, answer.text).toBe(200);
  return answer.body.data as ItemResult[];
}

const laptop = () => ({ assetTag: `LT-${unique()}`, name: 'Laptop', type: 'LAPTOP' as const });

/** Returns everything that a write changes: the versions of the assets, their activities and their changes. */
async function readWrites(of = workspace) {
  const paths = ['/assets?perPage=100', '/assets/activity?perPage=100', '/assets/changes?perPage=100'];
  const answers = await Promise.all(paths.map((path) => of.call('GET', path)));
  return answers.map(({ body }) => body.data);
}

const errorOfItem = ({ status, error }: ItemResult) => [status, error?.code, error?.details?.[0]];

describe('POST /assets/upsert', () => {
  it('creates, then updates, then leaves an asset unchanged', async () => {
    const own = await createWorkspace(api);
    const given = { ...laptop(), location: 'Berlin', customFields: { site: 'B', old: null } };
    const [created] = await upsert([given], { of: own });
    expect(created).toMatchObject({ status: 201, result: 'CREATED', data: { status: 'IN_STOCK', location: 'Berlin' } });
    expect(created.data.customFields).toEqual({ site: 'B' });

    const change = { assetTag: given.assetTag, location: 'Munich', customFields: { floor: 3 } };
    const [updated] = await upsert([change], { of: own });
    expect(updated).toMatchObject({ status: 200, result: 'UPDATED', data: { id: created.data.id, name: 'Laptop' } });
    expect(updated.data).toMatchObject({ location: 'Munich', customFields: { site: 'B', floor: 3 } });
    expect(updated.data.etag).toMatch(/^"2-/);
    expect((await own.call('GET', `/assets/${updated.data.id}`)).body.data).toEqual(updated.data);

    // Transactions in other databases can delay the newest changes in the feed.
    await expect.poll(async () => (await readWrites(own))[2]).toEqual([updated.data]);
    const before = await readWrites(own);
    expect(await upsert([change], { of: own })).toEqual([{ status: 200, result: 'UNCHANGED', data: updated.data }]);
    expect(await readWrites(own)).toEqual(before);
    const [, activities] = before;
    expect(activities.map(({ action, changes }: ItemResult) => [action, Object.keys(changes)])).toEqual([
      ['CREATED', []],
      ['UPDATED', ['location', 'customFields']],
    ]);
  });

  it('returns the error of POST /assets or PATCH /assets/{id} for an item with two faults', async () => {
    const own = await createWorkspace(api);
    await own.createField({ resource: 'ASSET', key: 'floor', type: 'NUMBER' });
    const taken = await own.createAsset({ externalId: 'taken' });
    const retired = await own.createAsset({ status: 'RETIRED' });
    const common = {
      name: { name: '' },
      assignee: { assignedToId: 9007199254740991 },
      address: { assignedToId: 'unknown@example.com' },
      field: { customFields: { floor: 'x' } },
    };
    const isNew = (matchBy: AssetMatch) => ({
      method: 'POST',
      path: '/assets',
      item: () => ({ ...laptop(), externalId: unique() }),
      matchBy,
    });
    const ofRetired = { method: 'PATCH', path: `/assets/${retired.id}`, item: () => ({}), matchBy: undefined };
    const cases = [
      { ...isNew('assetTag'), faults: { ...common, 'external id': { externalId: 'taken' } } },
      { ...isNew('externalId'), faults: { ...common, tag: { assetTag: taken.assetTag } } },
      { ...ofRetired, faults: { ...common, status: { status: 'IN_USE' }, 'external id': { externalId: 'taken' } } },
    ];
    for (const { method, path, item, matchBy, faults } of cases) {
      for (const [names, fault] of pairsOf<object>(faults)) {
        const body = { ...item(), ...fault };
        const key = method === 'PATCH' ? { assetTag: retired.assetTag } : {};
        const [result] = await upsert([{ ...key, ...body }], { matchBy, of: own });
        const { status, body: single } = await own.call(method, path, body);
        const { requestId: _, ...error } = single.error;
        expect(result, `${method} ${names}`).toEqual({ status, error });
      }
    }
  });

  it('returns one result for each item, in order', async () => {
    const [existing, changed, created] = [laptop(), laptop(), laptop()];
    await upsert([existing, changed]);
    const results = await upsert([created, { ...changed, name: 'Renamed' }, { assetTag: 7 }, existing]);
    expect(results.map(({ status, result }) => [status, result])).toEqual([
      [201, 'CREATED'],
      [200, 'UPDATED'],
      [400, undefined],
      [200, 'UNCHANGED'],
    ]);
    expect(results.map(({ data }) => data?.assetTag)).toEqual([
      created.assetTag,
      changed.assetTag,
      undefined,
      existing.assetTag,
    ]);
  });

  it('answers any valid body with CREATED, then UNCHANGED, and UNCHANGED again', async () => {
    const own = await createWorkspace(api);
    const ids = { assignedToId: [own.userId, (await own.createUser()).id] };
    const items = valid(document.components.schemas.AssetUpsertItem as Schema, ids) as fc.Arbitrary<
      Record<string, unknown>
    >;
    const written = fc.record(
      {
        purchaseCost: fc.constantFrom('1499', '01499.5', '0', null),
        warrantyExpiresAt: fc.constantFrom('2027-03-01T02:00:00+02:00', '2027-03-01T00:00:00.1239Z', null),
        purchaseDate: fc.constantFrom('2024-02-29', '0001-01-01', null),
        location: fc.constantFrom(' Berlin ', 'Café', 'Cafe\u0301', null),
        customFields: fc.constantFrom({ zero: -0, list: [-0, null, ' '], none: null }, { b: 1e-9, a: '' }, {}, null),
        status: fc.constantFrom('IN_STOCK', 'DISPOSED', null),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(fc.oneof(items, written), fc.constantFrom('assetTag', 'externalId'), async (any, matchBy) => {
        const { externalId: _, ...fields } = any as Record<string, unknown>;
        const externalId = matchBy === 'externalId' ? { externalId: unique() } : {};
        const given = { ...fields, ...laptop(), assignedToId: ids.assignedToId[1], ...externalId };
        const options = { of: own, matchBy: matchBy as AssetMatch };
        const [first] = await upsert([given], options);
        // Custom fields can exceed 16 KiB, which JSON Schema can't express.
        fc.pre(first.status !== 400);
        const reordered = Object.fromEntries(Object.entries(given).reverse());
        const [[second], [third]] = [await upsert([reordered], options), await upsert([given], options)];
        expect([first.result, second.result, third.result]).toEqual(['CREATED', 'UNCHANGED', 'UNCHANGED']);
        expect([second.data, third.data]).toEqual([first.data, first.data]);
      }),
      { numRuns: 60 },
    );
  });

  it('follows the rules of PATCH for an existing asset', async () => {
    const own = await createWorkspace(api);
    const { id: leaver } = await own.createUser();
    const made = await own.createAsset({ assignedToId: leaver });
    const disposed = await own.createAsset({ status: 'DISPOSED' });
    await deactivateUser(own.context, leaver);
    const results = await upsert(
      [
        { assetTag: made.assetTag, assignedToId: leaver },
        { assetTag: disposed.assetTag, status: 'IN_USE' },
      ],
      { of: own },
    );
    expect(results[0]).toEqual({
      status: 200,
      result: 'UNCHANGED',
      data: (await own.call('GET', `/assets/${made.id}`)).body.data,
    });
    expect(errorOfItem(results[1]).slice(0, 2)).toEqual([400, 'INVALID_TRANSITION']);

    const [unassigned] = await upsert([{ assetTag: made.assetTag, assignedToId: null }], { of: own });
    expect(unassigned).toMatchObject({ result: 'UPDATED', data: { status: 'IN_STOCK', assignedToId: null } });
    const [again, created] = await upsert(
      [
        { assetTag: made.assetTag, assignedToId: leaver },
        { ...laptop(), assignedToId: leaver },
      ],
      { of: own },
    );
    expect([again, created].map(errorOfItem)).toEqual(
      Array(2).fill([400, 'INVALID_REFERENCE', { path: 'assignedToId', message: expect.any(String) }]),
    );
  });

  it('requires the match field of each item, and the required fields of a new asset', async () => {
    const results = await upsert([{ name: 'Laptop' }, { assetTag: `LT-${unique()}` }]);
    expect(results.map(({ error }) => error.details.map(({ path }: { path: string }) => path))).toEqual([
      ['assetTag'],
      ['name', 'type'],
    ]);
    const [missing] = await upsert([laptop()], { matchBy: 'externalId' });
    expect(missing.error).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'externalId' }] });
  });

  it('returns the same error as POST and PATCH if custom fields exceed their limits', async () => {
    const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [index, 'x']));
    const existing = await workspace.createAsset({ customFields: fields(50) });
    const items = [
      { ...laptop(), customFields: fields(51) },
      { ...laptop(), customFields: { text: 'x'.repeat(16_384) } },
      { assetTag: existing.assetTag, customFields: { more: 'x' } },
    ];
    const [many, long, more] = items;
    const expected = [
      await workspace.call('POST', '/assets', many),
      await workspace.call('POST', '/assets', long),
      await workspace.call('PATCH', `/assets/${existing.id}`, { customFields: more?.customFields }),
    ];
    const results = await upsert(items);
    expect(results.map(({ error }) => error)).toEqual(
      expected.map(({ body: { error } }) => ({ ...error, requestId: undefined })),
    );
  });

  it('rejects the second of two items with the same match, and names the first', async () => {
    const junk = { ...laptop(), assetTag: `To be filled by O.E.M. ${unique()}` };
    const [other, first, repeated] = await upsert([laptop(), junk, { ...junk, assetTag: ` ${junk.assetTag} ` }]);
    expect([other.status, first.status]).toEqual([201, 201]);
    expect(repeated.error).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'assetTag' }] });
    expect(repeated.error.message).toContain('index 1');
  });

  it('sets a missing external id, but changes neither tags nor external ids', async () => {
    const [own, other] = [await workspace.createAsset(), await workspace.createAsset({ externalId: unique() })];
    const externalId = unique();
    const [taken, set] = await upsert([
      { assetTag: own.assetTag, externalId: other.externalId },
      { ...laptop(), externalId },
    ]);
    expect(taken.error).toMatchObject({ code: 'EXTERNAL_ID_EXISTS', details: [{ path: 'externalId', id: other.id }] });
    expect(set.status).toBe(201);

    const [joined] = await upsert([{ assetTag: own.assetTag, externalId: unique() }]);
    expect(joined.result).toBe('UPDATED');
    const [second] = await upsert([{ assetTag: own.assetTag, externalId: unique() }]);
    expect(second.error).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'externalId' }] });

    const [renamed, takenTag] = await upsert(
      [
        { externalId, assetTag: `LT-${unique()}` },
        { ...laptop(), externalId: unique(), assetTag: own.assetTag },
      ],
      { matchBy: 'externalId' },
    );
    expect([renamed, takenTag].map(({ error }) => [error.code, error.details[0].path])).toEqual(
      Array(2).fill(['VALIDATION_ERROR', 'assetTag']),
    );
  });

  it('gives an asset tag to only one of two items', async () => {
    const { assetTag } = laptop();
    const items = ['First', 'Second'].map((name) => ({ ...laptop(), assetTag, name, externalId: unique() }));
    const [first, second] = await upsert(items, { matchBy: 'externalId' });
    expect(first).toMatchObject({ result: 'CREATED', data: items[0] });
    expect(second.error).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'assetTag' }] });
    expect((await workspace.call('GET', `/assets/${first.data.id}`)).body.data).toEqual(first.data);
  });

  it('gives an external id to only one of two items', async () => {
    const externalId = unique();
    const existing = await workspace.createAsset();
    const results = await upsert([
      { ...laptop(), externalId },
      { ...laptop(), externalId },
      { assetTag: existing.assetTag, externalId },
    ]);
    expect(results.map(({ status, error }) => error?.code ?? status)).toEqual([
      201,
      'EXTERNAL_ID_EXISTS',
      'EXTERNAL_ID_EXISTS',
    ]);
    expect(results[1].error.details[0].id).toBe(results[0].data.id);

    const [free, other] = [unique(), await workspace.createAsset()];
    const [first, second] = await upsert([existing, other].map(({ assetTag }) => ({ assetTag, externalId: free })));
    expect(first).toMatchObject({ result: 'UPDATED', data: { externalId: free } });
    expect(second.error).toMatchObject({ code: 'EXTERNAL_ID_EXISTS', details: [{ id: existing.id }] });
  });

  it('finds no asset of another workspace', async () => {
    const theirs = await createWorkspace(api);
    const foreign = await theirs.createAsset({ externalId: unique() });
    const { assetTag, externalId } = foreign;
    const [byTag] = await upsert([{ ...laptop(), assetTag }]);
    const [byExternalId] = await upsert([{ ...laptop(), externalId }], { matchBy: 'externalId' });
    expect([byTag.result, byExternalId.result]).toEqual(['CREATED', 'CREATED']);
    expect((await theirs.call('GET', '/assets')).body.data).toEqual([foreign]);
  });

  it('replays the same results for the same idempotency key', async () => {
    const [existing, item] = [await workspace.createAsset(), laptop()];
    const body = { assets: [item, { assetTag: existing.assetTag, name: 'Renamed' }, { name: 'Unnamed' }] };
    const headers = { 'idempotency-key': unique() };
    const [first, second] = [
      await workspace.call('POST', '/assets/upsert', body, headers),
      await workspace.call('POST', '/assets/upsert', body, headers),
    ];
    expect(first.body.data.map(({ result }: ItemResult) => result)).toEqual(['CREATED', 'UPDATED', undefined]);
    expect(second.body).toEqual(first.body);
    expect(second.headers[replayedHeader]).toBe('true');
  });

  it('emits asset.created only for new assets', async () => {
    const own = await createWorkspace(api);
    const existing = await own.createAsset();
    const { id } = await own.createWebhook({ events: ['asset.created'] });
    const item = laptop();
    await upsert([{ assetTag: existing.assetTag, name: 'Renamed' }, item], { of: own });
    await upsert([item], { of: own });
    const { data } = (await own.call('GET', `/webhooks/${id}/deliveries`)).body;
    expect(data.map(({ event }: Delivery) => event)).toEqual(['asset.created']);
  });

  it('loses no field when requests and imports with the same new tags run concurrently in opposite orders', async () => {
    const own = await createWorkspace(api);
    for (let round = 0; round < 20; round++) {
      const tags = Array.from({ length: 8 }, () => `LT-${unique()}`);
      const request = (field: string, order: string[]) =>
        upsert(
          order.map((assetTag) => ({ ...laptop(), assetTag, [field]: field, customFields: { [field]: round } })),
          { of: own },
        );
      const single = { ...laptop(), assetTag: tags[3] };
      const serials = tags.toReversed().map((assetTag) => ({ ...laptop(), assetTag, serialNumber: 'serial' }));
      const [created, imported, ...results] = await Promise.all([
        own.call('POST', '/assets', single),
        importAssets(own.context, serials, { update: true }),
        request('location', tags),
        request('model', tags.toReversed()),
        request('notes', [...tags.slice(4), ...tags.slice(0, 4)]),
      ]);
      expect([201, 400]).toContain(created.status);
      expect(Object.values(imported).reduce((sum, count) => sum + count)).toBe(8);
      expect(results.flat().map(({ error }) => error)).toEqual(Array(24).fill(undefined));
      const { data } = (await own.call('GET', `/assets?${tags.map((tag) => `assetTag=${tag}`).join('&')}`)).body;
      expect(data).toHaveLength(8);
      for (const { location, model, notes, serialNumber, customFields } of data as Asset[]) {
        expect([location, model, notes, serialNumber]).toEqual(['location', 'model', 'notes', 'serial']);
        expect(customFields).toEqual({ location: round, model: round, notes: round });
      }
    }
  });
});

describe('GET /assets by tag and serial number', () => {
  it('finds exact values, also with commas, and distinguishes case', async () => {
    const own = await createWorkspace(api);
    const [comma, plain, lower] = [
      await own.createAsset({ assetTag: 'A,1', serialNumber: 'S,1' }),
      await own.createAsset({ assetTag: 'B2', serialNumber: 'S2' }),
      await own.createAsset({ assetTag: 'b2', serialNumber: 'S2' }),
    ];
    const find = async (query: string) => {
      const { body } = await own.call('GET', `/assets?${query}`);
      expect(body.meta.totalCount).toBe(body.data.length);
      return body.data.map(({ id }: Asset) => id);
    };
    expect(await find('assetTag=A,1')).toEqual([comma.id]);
    expect(await find('assetTag=B2')).toEqual([plain.id]);
    expect(await find('assetTag=A%2C1&assetTag=b2&assetTag=none')).toEqual([lower.id, comma.id]);
    expect(await find('serialNumber=S,1')).toEqual([comma.id]);
    expect(await find('serialNumber=S2')).toEqual([lower.id, plain.id]);
    expect(await find('serialNumber=S2&assetTag=b2')).toEqual([lower.id]);
    const many = Array.from({ length: 101 }, (_, index) => `assetTag=${index}`).join('&');
    expect((await own.call('GET', `/assets?${many}`)).status).toBe(400);
  });

  it('normalizes Unicode, and rejects invisible characters', async () => {
    const own = await createWorkspace(api);
    const [composed, decomposed] = ['Ger\u00e4t', 'Gera\u0308t'];
    const post = async (path: string, body: object) => (await own.call('POST', path, body)).body;
    const given = { assetTag: decomposed, serialNumber: ` ${decomposed}`, name: 'Laptop', type: 'LAPTOP' };
    const created = (await post('/assets', given)).data;
    expect(created).toMatchObject({ assetTag: composed, serialNumber: composed });
    expect((await post('/assets', { ...given, assetTag: composed })).error.details).toMatchObject([
      { path: 'assetTag' },
    ]);
    const items = [composed, decomposed].map((assetTag) => ({ assetTag, serialNumber: decomposed, name: assetTag }));
    expect((await post('/assets/upsert', { assets: items })).data).toMatchObject([
      { result: 'UPDATED', data: { id: created.id, name: composed } },
      { status: 400, error: { message: expect.stringContaining(`assetTag ${composed} is a duplicate`) } },
    ]);
    for (const filter of ['assetTag', 'serialNumber']) {
      for (const value of [composed, decomposed]) {
        const { data } = (await own.call('GET', `/assets?${filter}=${encodeURIComponent(value)}`)).body;
        expect(data.map(({ id }: Asset) => id)).toEqual([created.id]);
      }
    }

    const message = 'must not contain invisible characters, such as a zero-width space. Remove them.';
    for (const character of [
      '\u200b',
      '\u200d',
      '\u202e',
      '\u2066',
      '\u2060',
      '\u00ad',
      '\u061c',
      '\u115f',
      '\ufe0f',
    ]) {
      const value = `LT-1${character}2`;
      for (const path of ['assetTag', 'serialNumber']) {
        const detail = [{ path, message }];
        const body = { ...given, assetTag: 'LT-12', [path]: value };
        expect((await post('/assets', body)).error.details).toEqual(detail);
        expect((await post('/assets/upsert', { assets: [body] })).data[0].error.details).toEqual(detail);
        const filtered = await own.call('GET', `/assets?${path}=${encodeURIComponent(value)}`);
        expect(filtered.body.data).toEqual([]);
      }
      const patched = await own.call('PATCH', `/assets/${created.id}`, { serialNumber: value });
      expect(patched.body.error.details).toEqual([{ path: 'serialNumber', message }]);
    }
  });
});
