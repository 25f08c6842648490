import { type Asset, AssetStatus, AssetType, assetTransitions, type CustomFields, NewAsset } from '@itsm-api/contract';
import { createAsset } from '@itsm-api/server/resources/assets/queries.ts';
import { deactivateUser } from '@itsm-api/server/resources/users/user-management.ts';
import { describe, expect } from 'vitest';
import { errorOf } from '../support/api.ts';
import { api, it, workspace } from '../support/fixture.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const patch = (id: number, body: unknown) => workspace.call('PATCH', `/assets/${id}`, body);
const read = async ({ id }: Asset): Promise<Asset> => (await workspace.call('GET', `/assets/${id}`)).body.data;

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe('GET /assets', () => {
  let owner: Workspace;
  let made: Asset[];
  let ada: number;
  let email: string;

  it.beforeAll(async () => {
    owner = await createWorkspace(api);
    ({ id: ada, email } = await owner.createUser());
    made = [];
    for (const fields of [
      { name: 'a', type: 'LAPTOP', assignedToId: ada },
      { name: 'b', type: 'SERVER', status: 'MAINTENANCE' },
      { name: 'c', type: 'LAPTOP', status: 'LOST', assignedToId: owner.userId },
      { name: 'd', type: 'PRINTER', assignedToId: ada },
      { name: 'e', type: 'LAPTOP' },
    ] as const) {
      made.unshift(await owner.createAsset(fields));
    }
  });

  it('lists assets newest first', async () => {
    expect((await owner.call('GET', '/assets')).body).toEqual({
      success: true,
      data: made,
      meta: { page: 1, perPage: 20, totalCount: 5 },
    });
  });

  it.each([
    ['status=IN_USE', 'd a'],
    ['status=LOST,IN_STOCK', 'e c'],
    ['status=DISPOSED', ''],
    ['type=LAPTOP', 'e c a'],
    ['type=SERVER&type=PRINTER', 'd b'],
    ['assignedToId=ADA', 'd a'],
    ['assignedToId=EMAIL,nobody@example.com', 'd a'],
    ['assignedToId=ADA&assignedToId=OWNER', 'd c a'],
    ['assignedToId=9007199254740991', ''],
    ['type=LAPTOP&assignedToId=ADA,OWNER', 'c a'],
    ['type=LAPTOP,PRINTER&assignedToId=ADA,OWNER&status=IN_USE', 'd a'],
    ['type=SERVER&status=IN_USE', ''],
  ])('filters assets by %s', async (query, names) => {
    const filters = query.replace('ADA', String(ada)).replace('EMAIL', email).replace('OWNER', String(owner.userId));
    const { body } = await owner.call('GET', `/assets?${filters}`);
    expect(body.data.map(({ name }: Asset) => name).join(' ')).toBe(names);
    expect(body.meta.totalCount).toBe(body.data.length);
  });
});

describe('PATCH /assets/:id', () => {
  it.each<[string, unknown]>([
    ...['name', 'serialNumber', 'manufacturer', 'model', 'location'].flatMap((name): [string, unknown][] => [
      [name, 'Ünï 🖥'],
      [name, 'x'.repeat(255)],
    ]),
    ['notes', '  Scratched.\n'],
    ['notes', 'x'.repeat(65_535)],
    ...AssetType.options.slice(1).map((type): [string, unknown] => ['type', type]),
    ...['2024-02-29', '0001-01-01', '0099-12-31', '9999-12-31'].map((date): [string, unknown] => [
      'purchaseDate',
      date,
    ]),
    ['purchaseCost', '1499.00'],
    ['customFields', { a: [1, null], b: 'ä' }],
  ])('changes only %s of an asset', async (name, value) => {
    const before = await workspace.createAsset();
    const answer = await patch(before.id, { [name]: value });
    expect(answer.status, answer.text).toBe(200);
    const { data } = answer.body;
    expect(data).toEqual({ ...before, [name]: value, updatedAt: data.updatedAt, etag: data.etag });
    expect(data.updatedAt > before.updatedAt).toBe(true);
    expect(await read(data)).toEqual(data);
  });

  it('trims an asset name before checking its length', async () => {
    const { id } = await workspace.createAsset();
    expect((await patch(id, { name: `\t${'x'.repeat(255)} ` })).body.data.name).toBe('x'.repeat(255));
  });

  it('clears optional asset fields that are set to null', async () => {
    const before = await workspace.createAsset({
      serialNumber: 'S',
      manufacturer: 'M',
      model: 'M',
      location: 'L',
      status: 'LOST',
      assignedToId: workspace.userId,
      purchaseDate: '2026-11-20',
      purchaseCost: '1.00',
      warrantyExpiresAt: '2026-11-20T10:00:00.000Z',
      notes: 'N',
    });
    const names = ['serialNumber', 'manufacturer', 'model', 'location', 'assignedToId', 'purchaseDate', 'purchaseCost'];
    const cleared = Object.fromEntries([...names, 'warrantyExpiresAt', 'notes'].map((name) => [name, null]));
    const { data } = (await patch(before.id, cleared)).body;
    expect(data).toEqual({ ...before, ...cleared, updatedAt: data.updatedAt, etag: data.etag });
    expect(await read(before)).toEqual(data);
  });

  const texts = ['name', 'serialNumber', 'manufacturer', 'model', 'location', 'notes'];

  it.each<[string, unknown]>([
    ...['id', 'assetTag', 'createdAt', 'updatedAt', 'ticketId'].map((name): [string, unknown] => [name, 'X']),
    ...['name', 'type', 'status', 'customFields'].map((name): [string, unknown] => [name, null]),
    ...texts.flatMap((name) => ['', 5, 'a\0b', '\ud800'].map((value): [string, unknown] => [name, value])),
    ...texts.slice(0, -1).map((name): [string, unknown] => [name, ' ']),
    ['type', 'TABLET'],
    ['status', 'IN STOCK'],
    ['assignedToId', '1'],
    ['assignedToId', 0],
    ...[
      '2024-02-30',
      '2023-02-29',
      '0000-01-01',
      '10000-01-01',
      '+010000-01-01',
      '-0001-01-01',
      '2026-1-1',
      '20261120',
      '',
      'soon',
      '2026-11-20T10:00:00Z',
      20261120,
    ].map((value): [string, unknown] => ['purchaseDate', value]),
    ...[
      '1000000000000',
      '1.234',
      '1.',
      '.5',
      '-1',
      '+1',
      '1e3',
      '1,50',
      ' 1',
      '1 ',
      '',
      'free',
      '٣',
      '0x10',
      'NaN',
      5,
      1.5,
    ].map((value): [string, unknown] => ['purchaseCost', value]),
    ...[
      '2026-11-20',
      '2026-11-20T10:00Z',
      '2026-11-20T10:00+02:00',
      '2026-11-20T10:00:00',
      '2026-11-20 10:00:00Z',
      '2024-02-30T10:00:00Z',
      '2026-11-20T24:00:00Z',
      '2026-11-20T10:00:60Z',
      '2026-11-20T10:00:00+24:00',
      '0000-01-01T00:00:00Z',
      '0001-01-01T00:00:00+00:01',
      '9999-12-31T23:59:59-00:01',
      '10000-01-01T00:00:00Z',
      '',
      'soon',
      1_800_000_000,
    ].map((value): [string, unknown] => ['warrantyExpiresAt', value]),
  ])('rejects an asset change with the field %s set to %j', async (path, value) => {
    const before = await workspace.createAsset();
    const answer = await patch(before.id, { notes: 'Changed', [path]: value });
    expect(answer.status, answer.text).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path }] });
    expect(await read(before)).toEqual(before);
  });

  it.each(texts)('rejects an asset change if the value of %s is too long', async (path) => {
    const { id } = await workspace.createAsset();
    const answer = await patch(id, { [path]: 'x'.repeat(path === 'notes' ? 65_536 : 256) });
    expect(errorOf(answer)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path }] });
  });

  it.each([
    ['0', '0.00'],
    ['7', '7.00'],
    ['007.5', '7.50'],
    ['1499.9', '1499.90'],
    ['0.01', '0.01'],
    ['999999999999', '999999999999.00'],
    ['999999999999.99', '999999999999.99'],
  ])('returns a purchaseCost of %s as %s', async (given, answered) => {
    const asset = await workspace.createAsset();
    expect((await patch(asset.id, { purchaseCost: given })).body.data.purchaseCost).toBe(answered);
    expect((await read(asset)).purchaseCost).toBe(answered);
  });

  it.each([
    ['2026-11-20T10:00:00Z', '2026-11-20T10:00:00.000Z'],
    ['2026-11-20T10:00:00.5Z', '2026-11-20T10:00:00.500Z'],
    ['2026-11-20T10:00:00+02:00', '2026-11-20T08:00:00.000Z'],
    ['2026-11-20T00:30:00.123-05:30', '2026-11-20T06:00:00.123Z'],
    ['2026-12-31T23:59:59-00:01', '2027-01-01T00:00:59.000Z'],
    ['2024-02-29T12:00:00Z', '2024-02-29T12:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['0099-06-01T00:00:00Z', '0099-06-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ['9999-12-31T23:59:59.999+01:00', '9999-12-31T22:59:59.999Z'],
  ])('returns a warrantyExpiresAt of %s in UTC', async (given, answered) => {
    const asset = await workspace.createAsset();
    const answer = await patch(asset.id, { warrantyExpiresAt: given });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.data.warrantyExpiresAt).toBe(answered);
    expect((await read(asset)).warrantyExpiresAt).toBe(answered);
  });

  it('does not change updatedAt of an asset if no other field changes', async () => {
    const before = await workspace.createAsset({
      assignedToId: workspace.userId,
      purchaseDate: '2026-11-20',
      purchaseCost: '7.00',
      warrantyExpiresAt: '2026-11-20T10:00:00.000Z',
      customFields: { a: [1] },
    });
    const { id, assetTag, createdAt, updatedAt, etag, ...fields } = before;
    for (const body of [
      fields,
      { name: ` ${before.name} ` },
      { purchaseCost: '07' },
      { warrantyExpiresAt: '2026-11-20T12:00:00+02:00' },
      { customFields: { a: [1], never: null } },
      { assignedToId: workspace.userId },
    ]) {
      expect((await patch(id, body)).body.data, JSON.stringify(body)).toEqual(before);
      expect(await read(before), JSON.stringify(body)).toEqual(before);
    }
  });

  describe('status', () => {
    it.each(AssetStatus.options)('allows only the documented asset status changes from %s', async (from) => {
      expect(assetTransitions(from)).toEqual(
        from === 'DISPOSED' ? [] : AssetStatus.options.filter((to) => to !== from),
      );
      for (const to of AssetStatus.options) {
        const before = await workspace.createAsset({ status: from });
        const answer = await patch(before.id, { status: to, notes: 'Moved.' });
        if (from === to || assetTransitions(from).includes(to)) {
          expect(answer.body.data).toMatchObject({ status: to, notes: 'Moved.' });
        } else {
          expect(errorOf(answer)).toMatchObject({ code: 'INVALID_TRANSITION', details: [{ path: 'status' }] });
          expect(errorOf(answer).message).toContain('DISPOSED');
          expect(await read(before)).toEqual(before);
        }
      }
    });

    type Holder = 'ada' | 'bo' | null;
    let users: Record<'ada' | 'bo', number>;
    const idOf = (holder: Holder) => (holder === null ? null : users[holder]);
    it.beforeAll(async () => {
      users = { ada: (await workspace.createUser()).id, bo: (await workspace.createUser()).id };
    });

    it.each<[AssetStatus, Holder, Holder, AssetStatus | undefined, AssetStatus]>([
      ...AssetStatus.options
        .filter((status) => status !== 'DISPOSED')
        .map((from): [AssetStatus, Holder, Holder, undefined, AssetStatus] => [from, null, 'ada', undefined, 'IN_USE']),
      ['MAINTENANCE', 'ada', 'bo', undefined, 'IN_USE'],
      ['IN_STOCK', null, 'ada', 'IN_TRANSIT', 'IN_TRANSIT'],
      ['IN_STOCK', null, 'ada', 'IN_STOCK', 'IN_STOCK'],
      ['IN_USE', 'ada', null, undefined, 'IN_STOCK'],
      ['IN_USE', 'ada', null, 'RETIRED', 'RETIRED'],
      ['IN_USE', 'ada', null, 'IN_USE', 'IN_USE'],
      ['MAINTENANCE', 'ada', null, undefined, 'MAINTENANCE'],
      ['LOST', 'ada', null, undefined, 'LOST'],
      ['DISPOSED', 'ada', null, undefined, 'DISPOSED'],
      ['DISPOSED', null, 'ada', 'DISPOSED', 'DISPOSED'],
      // The status changes automatically only if the holder changes.
      ['MAINTENANCE', 'ada', 'ada', undefined, 'MAINTENANCE'],
      ['IN_USE', null, null, undefined, 'IN_USE'],
    ])(
      'changes an asset in %s with holder %s to holder %s: with the requested status %s, the result is %s',
      async (status, before, after, given, expected) => {
        const { id } = await workspace.createAsset({ status, assignedToId: idOf(before) });
        const answer = await patch(id, { assignedToId: idOf(after), ...(given && { status: given }) });
        expect(answer.status, answer.text).toBe(200);
        expect(answer.body.data).toMatchObject({ status: expected, assignedToId: idOf(after) });
      },
    );

    it('returns INVALID_TRANSITION if a request assigns a DISPOSED asset to a user', async () => {
      const before = await workspace.createAsset({ status: 'DISPOSED', assignedToId: users.ada });
      expect(errorOf(await patch(before.id, { assignedToId: users.bo })).code).toBe('INVALID_TRANSITION');
      expect(await read(before)).toEqual(before);
    });
  });

  it('accepts an inactive holder only if the asset already has this holder', async () => {
    const user = await workspace.createUser();
    const { id } = await workspace.createAsset({ assignedToId: user.id });
    await deactivateUser(workspace.context, user.email);
    expect((await patch(id, { notes: 'Changed', assignedToId: user.id })).status).toBe(200);
    expect((await patch(id, { assignedToId: null })).status).toBe(200);
    expect(errorOf(await patch(id, { assignedToId: user.id }))).toMatchObject({
      code: 'INVALID_REFERENCE',
      details: [{ path: 'assignedToId' }],
    });
  });

  it.each<CustomFields>([
    { __prismaRawParameters__: true, values: [1, 'x'] },
    { __prismaRawParameters__: true },
    { $type: 'Json', value: '[1]' },
    { $type: 'Param', name: 'x' },
    { toJSON: 'x', _ref: 'x', _container: 'x' },
    { set: 1, push: 1, increment: 1, equals: 1 },
  ])('stores asset customFields unchanged even if they look like Prisma arguments: %j', async (customFields) => {
    const made = await workspace.createAsset({ customFields });
    expect(made.customFields).toEqual(customFields);
    expect((await read(made)).customFields).toEqual(customFields);
    const bare = await workspace.createAsset({ customFields: { values: 'kept' } });
    const changed = await patch(bare.id, { customFields });
    expect(changed.body.data.customFields).toEqual({ values: 'kept', ...customFields });
    expect((await read(bare)).customFields).toEqual({ values: 'kept', ...customFields });
  });

  it('merges customFields into an asset before checking their limits', async () => {
    const fields = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, i]));
    const { id } = await workspace.createAsset({ customFields: fields });
    expect(errorOf(await patch(id, { customFields: { more: 1 } }))).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: 'customFields' }],
    });
    const { k0: _, ...kept } = fields;
    const answer = await patch(id, { customFields: { k0: null, k1: ['x'], more: 1e15 } });
    expect(answer.body.data.customFields).toEqual({ ...kept, k1: ['x'], more: 1e15 });
  });

  it('applies 10 concurrent changes to the customFields of an asset', async () => {
    const asset = await workspace.createAsset();
    const names = Array.from({ length: 10 }, (_, i) => `k${i}`);
    await Promise.all(names.map((name) => patch(asset.id, { customFields: { [name]: 1 } })));
    expect(Object.keys((await read(asset)).customFields)).toEqual(names);
  });
});

describe('POST /assets and GET /assets/:id', () => {
  const post = (fields: object) => workspace.call('POST', '/assets', { name: 'Server', type: 'SERVER', ...fields });

  it('creates an asset and returns it by id', async () => {
    const fields = {
      assetTag: 'SV-POST',
      purchaseCost: '7.5',
      customFields: { rack: 4 },
      assignedToId: workspace.userId,
    };
    const answer = await post(fields);
    expect(answer.status, answer.text).toBe(201);
    expect(answer.body.data).toMatchObject({ ...fields, purchaseCost: '7.50', status: 'IN_USE', notes: null });
    expect((await workspace.call('GET', `/assets/${answer.body.data.id}`)).body).toEqual(answer.body);
  });

  it.each<[string, object, string, string]>([
    ['a tag that already exists', { assetTag: 'SV-TAKEN' }, 'VALIDATION_ERROR', 'assetTag'],
    ['no tag', {}, 'VALIDATION_ERROR', 'assetTag'],
    ['an unknown type', { assetTag: 'SV-X', type: 'CAR' }, 'VALIDATION_ERROR', 'type'],
    ['a cost that is a number', { assetTag: 'SV-X', purchaseCost: 7.5 }, 'VALIDATION_ERROR', 'purchaseCost'],
    ['an id', { assetTag: 'SV-X', id: 5 }, 'VALIDATION_ERROR', 'id'],
    ['an unknown holder', { assetTag: 'SV-X', assignedToId: 2 ** 50 }, 'INVALID_REFERENCE', 'assignedToId'],
  ])('rejects a new asset with %s', async (_, fields, code, path) => {
    if (path === 'assetTag') await post({ assetTag: 'SV-TAKEN' });
    const answer = await post(fields);
    expect(answer.status, answer.text).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code, details: [{ path }] });
  });
});

describe('createAsset, which the command line calls', () => {
  const create = (fields: object) =>
    createAsset(workspace.context, NewAsset.parse({ name: 'Server', type: 'SERVER', ...fields }));

  it('returns every field of a new asset in the asset list', async () => {
    const fields = {
      name: 'Laptop of the front desk',
      assetTag: 'LT-0311',
      serialNumber: 'PF3K9XZ1',
      type: 'LAPTOP',
      status: 'RETIRED',
      manufacturer: 'Lenovo',
      model: 'ThinkPad T14',
      location: 'Berlin, floor 3',
      assignedToId: workspace.userId,
      purchaseDate: '2025-03-14',
      notes: ' As new.\n',
      externalId: 'snipeit:18',
      tags: ['leased'],
      customFields: { a: 1 },
    };
    const made = await create({ ...fields, purchaseCost: '1499.9', warrantyExpiresAt: '2028-03-14T00:00:00+01:00' });
    expect(made).toEqual({
      ...fields,
      id: expect.any(Number),
      purchaseCost: '1499.90',
      warrantyExpiresAt: '2028-03-13T23:00:00.000Z',
      createdAt: timestamp,
      updatedAt: timestamp,
      etag: expect.any(String),
    });
    expect(await read(made)).toEqual(made);
  });

  it('uses default values for missing fields of a new asset', async () => {
    expect(await create({ assetTag: 'SV-1' })).toEqual({
      id: expect.any(Number),
      name: 'Server',
      assetTag: 'SV-1',
      serialNumber: null,
      type: 'SERVER',
      status: 'IN_STOCK',
      manufacturer: null,
      model: null,
      location: null,
      assignedToId: null,
      purchaseDate: null,
      purchaseCost: null,
      warrantyExpiresAt: null,
      notes: null,
      externalId: null,
      tags: [],
      customFields: {},
      createdAt: timestamp,
      updatedAt: timestamp,
      etag: expect.any(String),
    });
    expect((await create({ assetTag: 'SV-2', assignedToId: workspace.userId })).status).toBe('IN_USE');
  });

  it('requires asset tags to be unique within a workspace', async () => {
    await create({ assetTag: 'TWICE' });
    await expect(create({ assetTag: ' TWICE ' })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: 'assetTag' }],
    });
    expect((await (await createWorkspace(api)).createAsset({ assetTag: 'TWICE' })).assetTag).toBe('TWICE');
  });
});
