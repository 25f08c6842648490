import { getAsset } from '@itsm-api/server/resources/assets/queries.ts';
import { getCustomFieldDefinition } from '@itsm-api/server/resources/custom-fields/queries.ts';
import { beforeEach, describe, expect } from 'vitest';
import { api, itInNewWorkspace as it, workspace } from '../support/fixture.ts';
import { etagOf, type Fields, signIn, type Visitor } from '../support/visitor.ts';
import { unique } from '../support/workspace.ts';

let admin: Visitor;

beforeEach(async () => {
  admin = await signIn(api, workspace);
});

const path = '/developer/custom-fields';

describe('/developer/custom-fields', () => {
  const given = { resource: 'TICKET', key: 'site', type: 'SELECT', label: 'Site', description: '', required: 'yes' };

  it('defines, lists and changes a custom field in the developer area', async () => {
    const sent = { ...given, options: 'berlin = Berlin\r\n\r\nbonn\r\n' };
    const here = (await admin.submit(`${path}/new`, 'create', sent)).headers.location ?? '';
    expect(here).toBe(`${path}/one?resource=TICKET&key=site`);
    const [berlin, bonn] = [
      { value: 'berlin', label: 'Berlin', active: true },
      { value: 'bonn', label: 'bonn', active: true },
    ];
    const site = { resource: 'TICKET', key: 'site' } as const;
    const made = { description: null, required: true, options: [berlin, bonn] };
    expect(await getCustomFieldDefinition(workspace.context, site)).toMatchObject(made);
    expect((await admin.get(path)).text).toContain(`href="${here.replace('&', '&amp;')}"`);

    const { text } = await admin.get(here);
    expect(/<textarea name="options"[^>]*>\n([^<]*)</.exec(text)?.[1]).toBe('berlin = Berlin\nbonn = bonn');
    const etag = await etagOf(admin, here);
    const change = { label: 'Place', description: 'Where?', options: 'bonn = Bonn', filterable: 'yes', etag };
    expect((await admin.submit(here, 'change', change)).status).toBe(303);
    expect(await getCustomFieldDefinition(workspace.context, site)).toMatchObject({
      ...{ label: 'Place', description: 'Where?', required: false, filterable: true, active: false },
      options: [
        { ...bonn, label: 'Bonn' },
        { ...berlin, active: false },
      ],
    });
  });

  it('returns 404 for a field without a definition and for an invalid key', async () => {
    for (const key of ['other', 'Site', '%00']) {
      expect((await admin.get(`${path}/one?resource=TICKET&key=${key}`)).status).toBe(404);
    }
  });

  it('shows errors next to the fields', async () => {
    const create = async (fields: Fields) => {
      const { status, text } = await admin.submit(`${path}/new`, 'create', { ...given, options: 'b', ...fields });
      expect(status).toBe(400);
      return text;
    };
    expect(await create({ key: 'Site' })).toContain('id="error-key">must start with a lower-case letter');
    expect(await create({ options: '' })).toContain('id="error-options">must contain at least one option');
    const both = await create({ key: 'Site', options: 'a,b' });
    expect(both).toMatch(/<a href="#field-key">Key<\/a>.*<a href="#field-options">Options<\/a>/s);
    expect(await create({ options: 'a,b = B' })).toContain('id="error-options">value must not contain a comma');
    expect(await create({ type: 'TEXT' })).toContain('id="error-options">must be empty, unless the type is SELECT');
  });
});

describe('the form of an asset', () => {
  const typed = {
    ...{ name: 'Laptop', type: 'LAPTOP', status: '', assignedToId: '', serialNumber: '', manufacturer: '', model: '' },
    ...{ location: '', purchaseDate: '', purchaseCost: '', warrantyExpiresAt: '', notes: '', tags: '' },
  };

  it('has an input for each defined custom field, by its type', async () => {
    for (const [key, type] of [
      ['floor', 'NUMBER'],
      ['managed', 'BOOLEAN'],
      ['bought', 'DATE'],
      ['owner', 'USER'],
      ['note', 'TEXT'],
    ] as const)
      await workspace.createField({ resource: 'ASSET', key, type, label: `The ${key}` });
    const options = ['a', 'b'].map((value) => ({ value, label: value.toUpperCase() }));
    await workspace.createField({ resource: 'ASSET', key: 'tags', type: 'MULTI_SELECT', options, required: true });
    await workspace.createField({ resource: 'ASSET', key: 'site', type: 'SELECT', options });
    const create = (fields: Fields) =>
      admin.submit('/developer/assets/new', 'create', { ...typed, assetTag: unique(), customFields: '', ...fields });
    const { text: empty } = await admin.get('/developer/assets/new');
    expect(empty).toMatch(
      /<label for="field-customFields.managed">The managed<\/label>\s*<select name="customFields.managed"/,
    );
    expect(empty).toContain('<input type="date" name="customFields.bought"');
    expect(empty.match(/<input type="checkbox" name="customFields.tags"/g)).toHaveLength(2);
    expect((await create({ 'customFields.tags': '' })).text).toContain('id="error-customFields.tags">is required');
    const wrong = await create({ 'customFields.floor': 'third', 'customFields.tags': ['', 'a'] });
    expect(wrong.text).toContain('id="error-customFields.floor">must be a number');
    const given = {
      ...{ 'customFields.floor': '3', 'customFields.managed': 'true', 'customFields.bought': '2026-11-20' },
      ...{
        'customFields.owner': '1',
        'customFields.note': '',
        'customFields.tags': ['', 'b', 'a'],
        'customFields.site': 'a',
      },
    };
    const here = (await create({ ...given, customFields: 'other = 4' })).headers.location ?? '';
    const id = Number(here.split('=').at(-1));
    const read = async () => (await getAsset(workspace.context, id)).customFields;
    const stored = { floor: 3, managed: true, bought: '2026-11-20', owner: 1, tags: ['b', 'a'], site: 'a', other: '4' };
    expect(await read()).toEqual(stored);

    const { text } = await admin.get(here);
    expect(/<textarea name="customFields"[^>]*>\n([^<]*)</.exec(text)?.[1]).toBe('other = 4');
    expect(text).toContain('name="customFields.floor" value="3"');
    const change = {
      ...typed,
      ...given,
      status: 'IN_STOCK',
      customFields: 'other = 4',
      etag: await etagOf(admin, here),
    };
    const changed = { ...change, 'customFields.floor': '4', 'customFields.managed': '' };
    expect((await admin.submit(here, 'change', changed)).status).toBe(303);
    const { managed: _, ...others } = stored;
    expect(await read()).toEqual({ ...others, floor: 4 });
  });

  it('keeps values that an input cannot show, and shows a value that is no option', async () => {
    const options = [{ value: 'a', label: 'A' }];
    const customFields = { site: 'bonn', note: 7, address: 'One\ntwo', empty: '', tags: [] };
    const { id } = await workspace.createAsset({ customFields });
    await workspace.createField({ resource: 'ASSET', key: 'site', type: 'SELECT', options });
    for (const key of ['note', 'address', 'empty'])
      await workspace.createField({ resource: 'ASSET', key, type: 'TEXT' });
    await workspace.createField({ resource: 'ASSET', key: 'tags', type: 'MULTI_SELECT', options });
    const here = `/developer/assets/one?id=${id}`;
    const { text } = await admin.get(here);
    expect(text).toContain('<option value="bonn" selected>bonn (not an option)</option>');
    const others = /Only the API can change these fields: ([^.]+)\./.exec(text)?.[1]?.split(', ') ?? [];
    expect(others.toSorted()).toEqual(['address', 'note', 'tags']);
    const lines = /<textarea name="customFields"[^>]*>\n([^<]*)</.exec(text)?.[1] ?? '';
    const change = { ...typed, status: 'IN_STOCK', customFields: lines, 'customFields.site': 'bonn' };
    expect((await admin.submit(here, 'change', { ...change, etag: await etagOf(admin, here) })).status).toBe(303);
    expect((await getAsset(workspace.context, id)).customFields).toEqual(customFields);
  });
});
