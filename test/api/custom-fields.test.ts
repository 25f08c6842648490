import {
  type CustomFieldDefinition,
  type CustomFields,
  type NewCustomFieldDefinition,
  pathPrefix,
  type Ticket,
} from '@itsm-api/contract';
import { backfillFilters } from '@itsm-api/server/resources/custom-fields/filter-backfill.ts';
import { countNonconforming } from '@itsm-api/server/resources/custom-fields/nonconforming-check.ts';
import {
  createCustomFieldDefinition,
  updateCustomFieldDefinition,
} from '@itsm-api/server/resources/custom-fields/queries.ts';
import { setStrictMode } from '@itsm-api/server/resources/custom-fields/strict-mode.ts';
import pg from 'pg';
import { describe, expect } from 'vitest';
import { type Answer, errorOf } from '../support/api.ts';
import { query } from '../support/database.ts';
import { api, itInNewWorkspace as it, workspace } from '../support/fixture.ts';
import { createWorkspace, ticket, unique } from '../support/workspace.ts';

const options = [
  { value: 'berlin', label: 'Berlin' },
  { value: 'home office', label: 'Home office' },
];
const site = { key: 'site', type: 'SELECT', options } satisfies Partial<NewCustomFieldDefinition>;
const detailsOf = (answer: Answer) => {
  expect([answer.status, errorOf(answer).code], answer.text).toEqual([400, 'VALIDATION_ERROR']);
  return errorOf(answer).details;
};
const notSite = { path: 'customFields.site', message: 'must be one of: berlin, home office' };
const missing = { path: 'customFields.site', message: 'is required' };
const laptop = () => ({ name: 'Laptop', assetTag: unique(), type: 'LAPTOP' as const });

describe('GET /custom-fields', () => {
  const listed = async (query = '') => (await workspace.call('GET', `/custom-fields${query}`)).body;

  it('returns every field of a definition, in the order of resources and keys', async () => {
    await workspace.createField({ ...site, label: 'Site', description: 'Where?', required: true });
    await workspace.createField({ key: 'floor', type: 'NUMBER', label: 'Floor' });
    await workspace.createField({ resource: 'ASSET', key: 'site', label: 'Site' });
    const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const own = {
      active: true,
      nonconforming: 0,
      createdAt: timestamp,
      updatedAt: timestamp,
      etag: expect.any(String),
    };
    const plain = { ...own, description: null, options: null, required: false, filterable: false };
    const { data, meta } = await listed();
    expect(data).toEqual([
      { ...plain, resource: 'ASSET', key: 'site', type: 'TEXT', label: 'Site' },
      { ...plain, resource: 'TICKET', key: 'floor', type: 'NUMBER', label: 'Floor' },
      {
        ...{ ...own, resource: 'TICKET', key: 'site', type: 'SELECT', label: 'Site', description: 'Where?' },
        ...{ options: options.map((option) => ({ ...option, active: true })), required: true, filterable: false },
      },
    ]);
    expect(meta).toEqual({ page: 1, perPage: 20, totalCount: 3 });
    expect((await listed('?resource=ASSET')).data).toEqual([data[0]]);
    expect((await listed('?resource=ASSET,TICKET&perPage=2&page=2')).data).toEqual([data[2]]);
  });

  it('accepts an API key with any scope', async () => {
    const key = await workspace.createKey({ scopes: ['kb:read'] });
    expect((await api.call({ method: 'GET', path: `${pathPrefix}/custom-fields`, key })).status).toBe(200);
  });
});

describe('a value', () => {
  it.each<[NewCustomFieldDefinition['type'], valid: unknown[], invalid: unknown[], message: string]>([
    ['TEXT', ['', 'Berlin'], [3, true, ['a']], 'must be a string'],
    ['NUMBER', [0, -1.5], ['3', false], 'must be a number'],
    ['BOOLEAN', [true, false], ['true', 1], 'must be true or false'],
    [
      'DATE',
      ['2026-11-20'],
      ['2026-02-30', '20.11.2026', '2026-11-20T10:00:00Z', 20261120],
      'must be a date such as 2026-11-20',
    ],
    ['SELECT', ['berlin', 'home office'], ['Berlin', '', ['berlin'], 1], notSite.message],
    [
      'MULTI_SELECT',
      [[], ['home office', 'berlin']],
      ['berlin', ['berlin', 'berlin'], ['Bonn'], [null]],
      'must be an array of different values. Allowed values: berlin, home office',
    ],
    ['USER', [1], [0, 1.5, '1', 'ada@acme.example'], 'must be the id of a user'],
  ])('of the type %s is checked when a request creates or changes a ticket', async (type, valid, invalid, message) => {
    await workspace.createField({ ...site, type, options: type.includes('SELECT') ? options : undefined });
    for (const value of valid) {
      const customFields = { site: value as string };
      expect((await workspace.createTicket({ customFields })).customFields).toEqual(customFields);
    }
    const { id } = await workspace.createTicket();
    for (const value of invalid) {
      const customFields = { site: value };
      const answers = [
        await workspace.call('POST', '/tickets', { ...ticket, customFields }),
        await workspace.call('PATCH', `/tickets/${id}`, { customFields }),
      ];
      for (const answer of answers) expect(detailsOf(answer)).toEqual([{ ...notSite, message }]);
    }
  });

  it('is checked in bulk requests of tickets, for each item', async () => {
    await workspace.createField(site);
    const create = ['berlin', 'Bonn'].map((site) => ({ ...ticket, customFields: { site } }));
    const created = (await workspace.call('POST', '/tickets/bulk', { tickets: create })).body.data;
    expect(created).toMatchObject([{ status: 201 }, { status: 400, error: { details: [notSite] } }]);
    const { id } = await workspace.createTicket();
    const change = [
      { id: created[0].data.id, customFields: { site: 'Bonn' } },
      { id, customFields: { site: 'berlin' } },
    ];
    const changed = (await workspace.call('PATCH', '/tickets/bulk', { tickets: change })).body.data;
    expect(changed).toMatchObject([{ status: 400, error: { details: [notSite] } }, { status: 200 }]);
  });

  it('is checked when a request creates, changes or upserts an asset', async () => {
    await workspace.createField({ ...site, resource: 'ASSET' });
    const asset = await workspace.createAsset({ customFields: { site: 'berlin' } });
    const customFields = { site: 'Bonn' };
    expect(detailsOf(await workspace.call('POST', '/assets', { ...laptop(), customFields }))).toEqual([notSite]);
    expect(detailsOf(await workspace.call('PATCH', `/assets/${asset.id}`, { customFields }))).toEqual([notSite]);
    const assets = [
      { assetTag: asset.assetTag, customFields },
      { ...laptop(), customFields },
      { ...laptop(), customFields: { site: 'home office' } },
    ];
    const { body } = await workspace.call('POST', '/assets/upsert', { assets });
    const rejected = { status: 400, error: { details: [notSite] } };
    expect(body.data).toMatchObject([rejected, rejected, { status: 201 }]);
  });

  it('is checked only if the request names the field', async () => {
    const { id } = await workspace.createTicket({ customFields: { site: 'Bonn', floor: 2 } });
    await workspace.createField(site);
    await workspace.createField({ ...site, resource: 'ASSET', key: 'floor' });
    const { status, body } = await workspace.call('PATCH', `/tickets/${id}`, {
      title: 'x',
      customFields: { floor: 3 },
    });
    expect([status, body.data.customFields]).toEqual([200, { site: 'Bonn', floor: 3 }]);
    const cleared = await workspace.call('PATCH', `/tickets/${id}`, { customFields: { site: null } });
    expect([cleared.status, cleared.body.data.customFields]).toEqual([200, { floor: 3 }]);
  });

  it('is checked within a second after the first definition, also for an API key that was already used', async () => {
    const { id } = await workspace.createTicket();
    await workspace.createField(site);
    const set = () => workspace.call('PATCH', `/tickets/${id}`, { customFields: { site: unique() } });
    await expect.poll(async () => (await set()).status).toBe(400);
  });

  it('can be any value if the definition is inactive', async () => {
    const definition = await workspace.createField({ ...site, required: true });
    await updateCustomFieldDefinition(workspace.context, definition, { active: false });
    await workspace.createTicket();
    await workspace.createTicket({ customFields: { site: 'Bonn' } });
  });

  it('of an inactive option is rejected', async () => {
    const definition = await workspace.createField(site);
    const { id } = await workspace.createTicket({ customFields: { site: 'berlin' } });
    const changed = await updateCustomFieldDefinition(workspace.context, definition, { options: options.slice(1) });
    expect(changed.options).toEqual([
      { ...options[1], active: true },
      { ...options[0], active: false },
    ]);
    expect((await workspace.call('GET', `/tickets/${id}`)).body.data.customFields).toEqual({ site: 'berlin' });
    const answer = await workspace.call('POST', '/tickets', { ...ticket, customFields: { site: 'berlin' } });
    expect(detailsOf(answer)).toEqual([{ ...notSite, message: 'must be one of: home office' }]);
  });
});

describe('a required field', () => {
  it('is required in every request that creates a ticket', async () => {
    await workspace.createField({ ...site, required: true });
    for (const customFields of [undefined, {}, { floor: 2 }, { site: null }]) {
      expect(detailsOf(await workspace.call('POST', '/tickets', { ...ticket, customFields }))).toEqual([missing]);
    }
    expect((await workspace.call('GET', '/tickets')).body.meta.totalCount).toBe(0);
    const tickets = [ticket, { ...ticket, customFields: { site: 'berlin' } }];
    const { body } = await workspace.call('POST', '/tickets/bulk', { tickets });
    expect(body.data).toMatchObject([{ status: 400, error: { details: [missing] } }, { status: 201 }]);
  });

  it('is required in every request that creates an asset', async () => {
    await workspace.createField({ resource: 'ASSET' });
    const { assetTag } = await workspace.createAsset();
    await workspace.createField({ ...site, resource: 'ASSET', required: true });
    expect(detailsOf(await workspace.call('POST', '/assets', laptop()))).toEqual([missing]);
    expect(detailsOf(await workspace.call('POST', '/assets', { ...laptop(), customFields: {} }))).toEqual([missing]);
    const assets = [{ assetTag, name: 'Old' }, laptop(), { ...laptop(), customFields: { site: 'berlin' } }];
    const { body } = await workspace.call('POST', '/assets/upsert', { assets });
    expect(body.data).toMatchObject([{ status: 200 }, { status: 400, error: { details: [missing] } }, { status: 201 }]);
  });

  it('can have the name of a method of objects', async () => {
    await workspace.createField({ key: 'constructor', required: true });
    const missing = { path: 'customFields.constructor', message: 'is required' };
    expect(detailsOf(await workspace.call('POST', '/tickets', ticket))).toEqual([missing]);
    await workspace.createTicket({ customFields: { constructor: 'VPN' } });
  });

  it('is not required in updates and for import keys', async () => {
    const { id } = await workspace.createTicket();
    await workspace.createField({ ...site, required: true });
    await workspace.createField({ ...site, resource: 'ASSET', required: true });
    expect((await workspace.call('PATCH', `/tickets/${id}`, { title: 'Changed' })).status).toBe(200);
    const key = await workspace.createKey({ isImport: true });
    const imported = (path: string, body: unknown) => api.call({ method: 'POST', path: pathPrefix + path, key, body });
    expect((await imported('/tickets', ticket)).status).toBe(201);
    expect((await imported('/tickets/bulk', { tickets: [ticket] })).body.data).toMatchObject([{ status: 201 }]);
    expect((await imported('/assets', laptop())).status).toBe(201);
    expect((await imported('/assets/upsert', { assets: [laptop()] })).body.data).toMatchObject([{ status: 201 }]);
    expect(detailsOf(await imported('/tickets', { ...ticket, customFields: { site: 'Bonn' } }))).toEqual([notSite]);
  });
});

describe('the filter customFields', () => {
  const assetsOrTickets = ['TICKET', 'ASSET'] as const;
  const listOf = { TICKET: '/tickets', ASSET: '/assets' };
  const create = async (resource: 'TICKET' | 'ASSET', customFields: CustomFields): Promise<number> =>
    (await (resource === 'TICKET' ? workspace.createTicket({ customFields }) : workspace.createAsset({ customFields })))
      .id;
  const found = async (path: string) => {
    const { status, body, text } = await workspace.call('GET', path);
    expect(status, text).toBe(200);
    return body.data.map(({ id }: { id: number }) => id);
  };
  const fill = (size?: number) => backfillFilters(api.databases.system.prisma, size);
  const define = async (resource: 'TICKET' | 'ASSET') => {
    const field = (key: string, type: NewCustomFieldDefinition['type'], withOptions = false) =>
      workspace.createField({ resource, key, type, filterable: true, ...(withOptions && { options }) });
    await field('site', 'SELECT', true);
    await field('places', 'MULTI_SELECT', true);
    await field('managed', 'BOOLEAN');
    await field('owner', 'USER');
    await fill();
  };

  it.each(assetsOrTickets)('finds each %s by the values of its fields', async (resource) => {
    await define(resource);
    const path = listOf[resource];
    const one = await create(resource, { site: 'berlin', places: ['berlin', 'home office'], managed: true, owner: 7 });
    const two = await create(resource, { site: 'home office', places: ['berlin'], managed: false });
    await create(resource, {});
    expect(await found(`${path}?customFields[site]=berlin`)).toEqual([one]);
    expect(await found(`${path}?customFields[site]=berlin,home%20office`)).toEqual([two, one]);
    expect(await found(`${path}?customFields%5Bplaces%5D=berlin`)).toEqual([two, one]);
    expect(
      await found(`${path}?customFields[managed]=true&customFields[places]=berlin&customFields[site]=berlin`),
    ).toEqual([one]);
    expect(await found(`${path}?customFields[owner]=7&customFields[managed]=false`)).toEqual([]);
    expect(
      await found(`${path}?customFields[places]=berlin&customFields[places]=home%20office&perPage=1&page=2`),
    ).toEqual([one]);
    const word = resource === 'TICKET' ? ticket.title.split(' ')[0] : 'Laptop';
    expect(await found(`${path}?customFields[site]=berlin&q=${word}`)).toEqual([one]);
    const { meta } = (await workspace.call('GET', `${path}?customFields[managed]=true,false&perPage=1`)).body;
    expect(meta.totalCount).toBe(2);
    await workspace.call('PATCH', `${path}/${one}`, { customFields: { site: 'home office', places: null } });
    expect(await found(`${path}?customFields[site]=home%20office`)).toEqual([two, one]);
    expect(await found(`${path}?customFields[places]=berlin`)).toEqual([two]);
  });

  it('combines with the status of a ticket', async () => {
    await define('TICKET');
    const [open, other] = [await create('TICKET', { site: 'berlin' }), await create('TICKET', { site: 'berlin' })];
    await workspace.call('PATCH', `/tickets/${other}`, { status: 'IN_PROGRESS' });
    expect(await found('/tickets?customFields[site]=berlin&status=OPEN')).toEqual([open]);
    expect(await found('/tickets?customFields[site]=berlin&status=IN_PROGRESS,OPEN')).toEqual([other, open]);
  });

  it('is rejected for other fields, values and endpoints, with the name of the parameter', async () => {
    await define('TICKET');
    await workspace.createField({ key: 'note', type: 'TEXT' });
    const known = 'customFields[managed], customFields[owner], customFields[places], customFields[site]';
    const rejected = async (query: string, path = '/tickets') =>
      detailsOf(await workspace.call('GET', `${path}?${query}`));
    for (const key of ['note', 'other', 'constructor', 'Site', '']) {
      expect(await rejected(`customFields[${key}]=x`)).toEqual([
        { path: `customFields[${key}]`, message: `is not a filterable custom field. Use one of: ${known}.` },
      ]);
    }
    for (const parameter of ['customFields[site][]', 'customFields[site][0]']) {
      const hint = 'is not a filterable custom field. Did you mean `customFields[site]`?';
      expect(await rejected(`${parameter}=berlin`)).toEqual([{ path: parameter, message: hint }]);
    }
    for (const id of ['9007199254740992', '99999999999999999999', '0', '01', '+1'])
      expect(await rejected(`customFields[owner]=${encodeURIComponent(id)}`)).toEqual([
        { path: 'customFields[owner]', message: 'must be the id of a user' },
      ]);
    expect((await workspace.call('GET', '/tickets?customFields[owner]=9007199254740991')).status).toBe(200);
    const message = 'is not a filterable custom field. This workspace has none.';
    expect(await rejected('customFields[site]=berlin', '/assets')).toEqual([{ path: 'customFields[site]', message }]);
    expect(await rejected('customFields[site]=Berlin&customFields[managed]=yes&customFields[owner]=me')).toEqual([
      { path: 'customFields[site]', message: 'must be one of: berlin, home office' },
      { path: 'customFields[managed]', message: 'must be one of: true, false' },
      { path: 'customFields[owner]', message: 'must be the id of a user' },
    ]);
    const four = ['site', 'managed', 'owner', 'places'].map((key) => `customFields[${key}]=1`).join('&');
    expect(await rejected(four)).toEqual([{ path: 'customFields', message: 'must name at most 3 fields' }]);
    expect(await rejected('customFields[site]=')).toMatchObject([{ path: 'customFields[site]' }]);
    expect(await rejected('customFields=berlin')).toEqual([
      { path: 'customFields', message: 'must have the form customFields[key]=value' },
    ]);
    for (const [parameter, path] of [
      ['customFields[site]', '/users'],
      ['customFields[__proto__]', '/tickets'],
      ['customFields[site', '/tickets'],
    ] as const) {
      expect(await rejected(`${parameter}=x`, path)).toMatchObject([{ path: parameter }]);
    }
  });

  it('needs a field of certain types, and at most ten fields', async () => {
    const tooMany = { code: 'VALIDATION_ERROR', details: [{ path: 'filterable', message: expect.anything() }] };
    await expect(workspace.createField({ type: 'TEXT', filterable: true })).rejects.toMatchObject(tooMany);
    for (let count = 0; count < 10; count += 1) await workspace.createField({ type: 'USER', filterable: true });
    const other = await workspace.createField({ type: 'USER' });
    await expect(updateCustomFieldDefinition(workspace.context, other, { filterable: true })).rejects.toMatchObject(
      tooMany,
    );
    await workspace.createField({ resource: 'ASSET', type: 'USER', filterable: true });
  });

  it.each(assetsOrTickets)(
    'finds each %s that is older than the filter, once a job has read them',
    async (resource) => {
      const path = `${listOf[resource]}?customFields[site]=berlin`;
      const definition = await workspace.createField({ ...site, resource });
      const ids: number[] = [];
      for (let count = 0; count < 5; count += 1) ids.push(await create(resource, { site: 'berlin' }));
      await updateCustomFieldDefinition(workspace.context, definition, { filterable: true });
      const progress = { path: 'customFields[site]', message: expect.stringMatching(/^is not ready yet: .* 0 %/) };
      expect(detailsOf(await workspace.call('GET', path))).toEqual([progress]);
      await fill(2);
      expect((await found(path)).toSorted()).toEqual(ids);
      await updateCustomFieldDefinition(workspace.context, definition, { filterable: false });
      await expect(
        updateCustomFieldDefinition(workspace.context, definition, { filterable: true }),
      ).rejects.toMatchObject({
        details: [{ path: 'filterable', message: expect.stringMatching(/still deleting/) }],
      });
      await fill(2);
      const table = resource === 'TICKET' ? 'ticket_field_values' : 'asset_field_values';
      const left = `SELECT FROM ${table} WHERE tenant_id = $1`;
      expect(await query(api.databaseUrl, left, [workspace.tenantId])).toEqual([]);
      await updateCustomFieldDefinition(workspace.context, definition, { filterable: true });
    },
  );

  it('loses no value while a job reads the tickets and requests change them', async () => {
    const definition = await workspace.createField(site);
    const customFields = { site: 'berlin' };
    const ids = await Promise.all(Array.from({ length: 60 }, () => create('TICKET', customFields)));
    const patch = (id: number, value: string | null) =>
      workspace.call('PATCH', `/tickets/${id}`, { customFields: { site: value } });
    // This transaction doesn't see that the field becomes filterable.
    const late = new pg.Client({ connectionString: api.databaseUrl });
    await late.connect();
    await late.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await late.query("UPDATE tickets SET custom_fields = '{}' WHERE id = $1", [ids[0]]);
    await updateCustomFieldDefinition(workspace.context, definition, { filterable: true });
    const backfilled = fill(7);
    const changes = ids.slice(1, 40).map((id, index) => patch(id, index % 2 === 0 ? 'home office' : null));
    await late.query('UPDATE tickets SET custom_fields = $1 WHERE id = $2', [customFields, ids[0]]);
    await late.query('COMMIT');
    await late.end();
    await Promise.all(changes);
    await backfilled;
    const all: Ticket[] = (await workspace.call('GET', '/tickets?perPage=100')).body.data;
    for (const value of ['berlin', 'home office']) {
      const expected = all.filter((each) => each.customFields.site === value).map(({ id }) => id);
      expect(expected.length).toBeGreaterThan(15);
      expect(await found(`/tickets?perPage=100&customFields[site]=${value}`)).toEqual(expected);
    }
  });
});

describe('a strict workspace', () => {
  it('rejects fields without a definition, but lets a request remove them', async () => {
    await workspace.createField(site);
    const { id } = await workspace.createTicket({ customFields: { floor: 2 } });
    await setStrictMode(workspace.context, true);
    const customFields = { site: 'berlin', floor: 3 };
    const undefinedField = { path: 'customFields.floor', message: expect.stringMatching(/^is not defined/) };
    expect(detailsOf(await workspace.call('POST', '/tickets', { ...ticket, customFields }))).toEqual([undefinedField]);
    expect(detailsOf(await workspace.call('PATCH', `/tickets/${id}`, { customFields }))).toEqual([undefinedField]);
    expect(detailsOf(await workspace.call('POST', '/assets', { ...laptop(), customFields }))).toHaveLength(2);
    const removed = await workspace.call('PATCH', `/tickets/${id}`, { customFields: { ...customFields, floor: null } });
    expect(removed.body.data.customFields).toEqual({ site: 'berlin' });
    await setStrictMode(workspace.context, false);
    expect((await workspace.call('PATCH', `/tickets/${id}`, { customFields })).status).toBe(200);
  });
});

describe('nonconforming', () => {
  it('counts the stored values that a request could no longer set', async () => {
    for (const site of ['berlin', 'Bonn', 3, null]) await workspace.createTicket({ customFields: { site } });
    for (const floor of ['third', 3]) await workspace.createAsset({ customFields: { floor, site: 'Bonn' } });
    const before = await workspace.createField(site);
    await workspace.createField({ resource: 'ASSET', key: 'floor', type: 'NUMBER' });
    const counts = async () => {
      await countNonconforming(api.databases.system.prisma, 2);
      const { data } = (await workspace.call('GET', '/custom-fields')).body;
      return data.map(({ key, nonconforming }: CustomFieldDefinition) => [key, nonconforming]);
    };
    expect(await counts()).toEqual([
      ['floor', 1],
      ['site', 2],
    ]);
    const { etag } = (await workspace.call('GET', '/custom-fields?resource=TICKET')).body.data[0];
    expect(etag).toBe(before.etag);
    const tickets = (await workspace.call('GET', '/tickets')).body.data;
    expect(tickets.map(({ customFields }: Ticket) => customFields.site)).toEqual([null, 3, 'Bonn', 'berlin']);
    await updateCustomFieldDefinition(workspace.context, before, { active: false });
    expect(await counts()).toEqual([
      ['floor', 1],
      ['site', 0],
    ]);
  });
});

describe('a definition', () => {
  const rejected = (path: string, message: string) => ({ code: 'VALIDATION_ERROR', details: [{ path, message }] });

  it('can be defined only once for each resource, and independently in each workspace', async () => {
    await workspace.createField(site);
    await workspace.createField({ ...site, resource: 'ASSET' });
    await (await createWorkspace(api)).createField(site);
    await expect(workspace.createField(site)).rejects.toMatchObject(
      rejected('key', 'site is already used by another custom field. Choose a different value.'),
    );
  });

  it('is rejected if the resource has 50 definitions', async () => {
    for (let count = 0; count < 50; count += 1) await workspace.createField();
    await expect(workspace.createField()).rejects.toMatchObject(
      rejected('resource', "can't have more than 50 definitions, including inactive ones"),
    );
    await workspace.createField({ resource: 'ASSET' });
  });

  it.each<[string, Partial<NewCustomFieldDefinition>, string]>([
    ['options of a TEXT', { type: 'TEXT', options }, 'must be empty, unless the type is SELECT or MULTI_SELECT'],
    ['a SELECT without options', { type: 'SELECT' }, 'must contain at least one option'],
    ['options with the same value', { ...site, options: [...options, ...options] }, 'must have different values'],
  ])('rejects %s', async (_, input, message) => {
    await expect(workspace.createField(input)).rejects.toMatchObject(rejected('options', message));
  });

  it('keeps its options and its version if an update changes nothing', async () => {
    const before = await workspace.createField(site);
    const update = (patch: Parameters<typeof updateCustomFieldDefinition>[2]) =>
      updateCustomFieldDefinition(workspace.context, before, patch);
    expect(await update({ label: before.label, options })).toEqual(before);
    const after: CustomFieldDefinition = await update({ label: 'Place' });
    expect(after).toMatchObject({ label: 'Place', options: before.options });
    expect(after.etag).not.toBe(before.etag);
    await expect(
      updateCustomFieldDefinition({ ...workspace.context, ifMatch: [before.etag] }, before, { label: 'Site' }),
    ).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' });
    await expect(
      updateCustomFieldDefinition(workspace.context, { resource: 'ASSET', key: 'site' }, {}),
    ).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });

  it('is rejected if it adds options to a workspace that then has more than 2,000', async () => {
    const many = (count: number, from = 0) =>
      Array.from({ length: count }, (_, index) => ({ value: `option ${from + index}`, label: 'Option' }));
    const define = (count: number, resource: CustomFieldDefinition['resource'] = 'TICKET') =>
      workspace.createField({ resource, type: 'SELECT', options: many(count) });
    for (let count = 0; count < 9; count += 1) await define(200, count < 5 ? 'TICKET' : 'ASSET');
    const tooMany = rejected(
      'options',
      'exceed the limit: all custom fields of a workspace can have 2000 options in total, including inactive ones. ' +
        'Use fewer options, or a field of the type TEXT.',
    );
    // Concurrent requests also can't exceed the limit.
    const results = await Promise.allSettled([define(150), define(150), define(150)]);
    const errors = results.flatMap((result) => (result.status === 'rejected' ? result.reason : []));
    expect(errors).toMatchObject([tooMany, tooMany]);
    const last = await define(50);
    const update = (patch: Parameters<typeof updateCustomFieldDefinition>[2]) =>
      updateCustomFieldDefinition(workspace.context, last, patch);
    // The update deactivates 50 options and adds one.
    await expect(update({ options: many(1, 50) })).rejects.toMatchObject(tooMany);

    // An earlier release could store more options. They stay readable, and an administrator can change and deactivate them.
    const { tenantId } = workspace;
    const excess = many(100).map((option) => ({ ...option, active: true }));
    await api.prisma.customFieldDefinition.updateMany({
      where: { tenantId, key: last.key },
      data: { options: excess },
    });
    expect((await workspace.call('GET', '/custom-fields?perPage=100')).body.meta.totalCount).toBe(11);
    expect((await update({ label: 'Place', options: many(99) })).options).toHaveLength(100);
    await expect(update({ options: many(101) })).rejects.toMatchObject(tooMany);
    await workspace.createField({ type: 'TEXT' });
    await workspace.createTicket({ customFields: { [last.key]: 'option 98' } });
  });

  it('is read with its options only by requests that name it', async () => {
    const long = Array.from({ length: 200 }, (_, index) => ({
      value: `${index}`.padEnd(100, '.'),
      label: unique().repeat(8),
    }));
    for (let count = 0; count < 9; count += 1) {
      await workspace.createField({ key: `large${count}`, type: 'SELECT', options: long, filterable: true });
    }
    await workspace.createField({ ...site, key: 'a', filterable: true });
    await backfillFilters(api.databases.system.prisma);
    const customFields = { a: 'berlin' };
    const { id } = await workspace.createTicket({ customFields });
    /** The bytes that the server has received from PostgreSQL. */
    const received = () => {
      const { _clients } = api.databases.requests.pool as unknown as {
        _clients: { connection: { stream: { bytesRead: number } } }[];
      };
      return _clients.reduce((sum, { connection }) => sum + connection.stream.bytesRead, 0);
    };
    const requests: [method: string, path: string, body?: unknown][] = [
      ['POST', '/tickets', ticket],
      ['POST', '/tickets', { ...ticket, customFields }],
      ['POST', '/tickets', { ...ticket, customFields: { a: 'bonn' } }],
      ['POST', '/tickets/bulk', { tickets: [{ ...ticket, customFields }] }],
      ['PATCH', `/tickets/${id}`, { customFields: { a: 'home office' } }],
      ['PATCH', '/tickets/bulk', { tickets: [{ id, customFields }] }],
      ['GET', '/tickets?customFields[a]=berlin'],
      ['GET', '/tickets?customFields[b]=berlin'],
      ['GET', '/custom-fields?perPage=1'],
    ];
    for (const [method, path, body] of requests) {
      const before = received();
      expect((await workspace.call(method, path, body)).status, path).toBeLessThan(500);
      expect(received() - before, `${method} ${path}`).toBeLessThan(20_000);
    }
  });

  it('can be created by concurrent requests only up to the limit', async () => {
    for (let count = 0; count < 48; count += 1) await workspace.createField();
    const create = () =>
      createCustomFieldDefinition(workspace.context, {
        resource: 'TICKET',
        key: `k${unique()}`,
        type: 'TEXT',
        label: 'K',
      });
    const results = await Promise.allSettled([create(), create(), create(), create()]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected']);
  });
});
