import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { maxFormFields, maxRequestForms, type NewCustomFieldDefinition, pathPrefix } from '@itsm-api/contract';
import { type OpenApi, openApiDocument, type Schema } from '@itsm-api/contract/openapi';
import { backfillFilters } from '@itsm-api/server/resources/custom-fields/filter-backfill.ts';
import { countNonconforming } from '@itsm-api/server/resources/custom-fields/nonconforming-check.ts';
import { updateCustomFieldDefinition } from '@itsm-api/server/resources/custom-fields/queries.ts';
import { setStrictMode } from '@itsm-api/server/resources/custom-fields/strict-mode.ts';
import { updateForm } from '@itsm-api/server/resources/request-forms/queries.ts';
import { importTicketCategories, updateTicketCategory } from '@itsm-api/server/resources/ticket-categories/queries.ts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { describe, expect } from 'vitest';
import { api, itInNewWorkspace as it, workspace } from '../support/fixture.ts';
import { createWorkspace, ticket, unique } from '../support/workspace.ts';

const options = [
  { value: 'berlin', label: 'Berlin' },
  { value: 'bonn', label: 'Bonn' },
];
const site = { key: 'site', type: 'SELECT', label: 'Site', options } satisfies Partial<NewCustomFieldDefinition>;
const asset = () => ({ name: 'Laptop', assetTag: unique(), type: 'LAPTOP' as const });
const anyValue = { $ref: '#/components/schemas/CustomFieldValue' };

const path = `${pathPrefix}/openapi.json`;
const read = async (key = workspace.key): Promise<OpenApi> => (await api.call({ method: 'GET', path, key })).body;

/** Returns the schemas of the custom fields of tickets: in new tickets, in updates, and in responses. */
async function readFields(key?: string) {
  const {
    NewTicketCustomFields: created,
    TicketCustomFieldsPatch: changed,
    TicketCustomFields: stored,
  } = (await read(key)).components.schemas as Record<string, { properties: Record<string, Schema> } & Schema>;
  return { created, changed, stored } as Record<'created' | 'changed' | 'stored', NonNullable<typeof created>>;
}

const count = () => countNonconforming(api.databases.system.prisma);

const update = (key: string, patch: Parameters<typeof updateCustomFieldDefinition>[2]) =>
  updateCustomFieldDefinition(workspace.context, { resource: 'TICKET', key }, patch);

describe('the document of a workspace', () => {
  it('has all operations of the general document, and no fields, if the workspace defines none', async () => {
    const document = await read();
    const general = openApiDocument();
    expect(document.paths).toHaveProperty(['/openapi.json', 'get']);
    const paths = Object.keys(general.paths).filter((each) => each !== '/request-forms/{key}/tickets');
    expect(Object.keys(document.paths)).toEqual(paths);
    expect((await readFields()).created).toMatchObject({ properties: {}, additionalProperties: anyValue });
  });

  it.each<[NewCustomFieldDefinition['type'], Schema]>([
    ['TEXT', { type: ['string', 'null'], maxLength: 16_384 }],
    ['NUMBER', { type: ['number', 'null'] }],
    ['BOOLEAN', { type: ['boolean', 'null'] }],
    ['DATE', { type: ['string', 'null'], format: 'date' }],
    [
      'SELECT',
      {
        ...{ type: ['string', 'null'], enum: ['berlin', 'bonn', null] },
        'x-enumDescriptions': { berlin: 'Berlin', bonn: 'Bonn' },
      },
    ],
    [
      'MULTI_SELECT',
      {
        ...{ type: ['array', 'null'], uniqueItems: true },
        items: {
          type: 'string',
          enum: ['berlin', 'bonn'],
          'x-enumDescriptions': { berlin: 'Berlin', bonn: 'Bonn' },
        },
      },
    ],
    ['USER', { type: ['integer', 'null'], format: 'int64', minimum: 1 }],
  ])('describes a field of the type %s in requests', async (type, schema) => {
    await workspace.createField({
      ...{ ...site, type, description: 'Where?' },
      options: type.includes('SELECT') ? options : undefined,
    });
    const { created, changed } = await readFields();
    expect(created.properties.site).toEqual({ ...schema, description: 'Site: Where?' });
    expect(changed.properties).toEqual(created.properties);
  });

  it('requires a required field only in new resources, and not for an import key', async () => {
    await workspace.createField({ ...site, required: true });
    const { components } = await read();
    const { NewTicket, NewTicketItem, TicketPatch, NewAsset, NewTicketCustomFields, TicketCustomFieldsPatch } =
      components.schemas;
    for (const schema of [NewTicket, NewTicketItem]) expect(schema?.required).toContain('customFields');
    for (const schema of [TicketPatch, NewAsset]) expect(schema?.required ?? []).not.toContain('customFields');
    expect(NewTicketCustomFields).toMatchObject({
      ...{ type: 'object', required: ['site'] },
      properties: { site: { type: 'string', enum: ['berlin', 'bonn'] } },
    });
    expect(TicketCustomFieldsPatch).not.toHaveProperty('required');
    const imports = await readFields(await workspace.createKey({ isImport: true }));
    expect(imports.created).not.toHaveProperty('required');
  });

  it('lists inactive options only in responses, and accepts any value of an inactive field', async () => {
    await workspace.createField(site);
    await workspace.createField({ key: 'floor', type: 'NUMBER', label: 'Floor' });
    await update('site', { options: options.slice(1) });
    await update('floor', { active: false });
    const { created, stored } = await readFields();
    expect(created.properties.site?.enum).toEqual(['bonn', null]);
    expect(created.properties.floor).toEqual({ ...anyValue, description: 'Floor (inactive)' });
    expect(stored.properties.site?.['x-known-values']).toEqual(['bonn', 'berlin']);
  });

  it('describes the JSON type of a field in responses only if the check has found no other stored value', async () => {
    await workspace.createTicket({ customFields: { floor: 'third' } });
    await workspace.createField({ key: 'floor', type: 'NUMBER', label: 'Floor' });
    await workspace.createField(site);
    const open = { ...anyValue, description: 'Floor' };
    expect((await readFields()).stored.properties.floor).toEqual(open);
    await count();
    const { stored } = await readFields();
    expect(stored.properties.floor).toEqual(open);
    expect(stored.properties.site).toEqual({
      ...{ type: ['string', 'null'], 'x-known-values': ['berlin', 'bonn'], description: 'Site' },
    });
    expect(stored.additionalProperties).toEqual(anyValue);
  });

  it('shows texts of administrators unchanged if a program renders them as Markdown', async () => {
    await workspace.createField({
      key: 'site',
      type: 'SELECT',
      label: '1. \u202e<b>*/ @deprecated',
      description: 'a_b _c_\n[x](y) & &lt; https://a@b.example `d`\\',
      options: [{ value: 'berlin', label: '# @ts-ignore' }, ...options.slice(1)],
    });
    const { created } = await readFields();
    expect(created.properties.site).toMatchObject({
      description: '1\\. \\<b>\\*\\/ \\@deprecated: a_b \\_c\\_ [x\\](y) & \\&lt; https\\://a\\@b.example \\`d\\`\\\\',
      'x-enumDescriptions': { berlin: '\\# \\@ts-ignore', bonn: 'Bonn' },
    });
  });

  it.each(['$ref', '__proto__', 'constructor'])('names no option if one of them is %s', async (value) => {
    await workspace.createField({ ...site, options: [{ value, label: 'file:///etc/passwd' }, ...options] });
    const { created } = await readFields();
    expect(created.properties.site?.enum).toEqual([value, 'berlin', 'bonn', null]);
    expect(created.properties.site).not.toHaveProperty('x-enumDescriptions');
  });

  it('lists the active ticket categories in requests, if there are at most 100', async () => {
    const given = async () => (await read()).components.schemas.ActiveCategoryConfigId;
    expect(await given()).toMatchObject({ type: ['string', 'null'], maxLength: 255 });
    for (const id of ['vpn', 'wifi', 'old']) await workspace.createTicketCategory({ id, name: `The ${id}` });
    await updateTicketCategory(workspace.context, 'old', { active: false });
    expect(await given()).toMatchObject({
      enum: ['vpn', 'wifi', null],
      'x-enumDescriptions': { vpn: 'The vpn', wifi: 'The wifi' },
    });
    for (let index = 0; index < 99; index++) await workspace.createTicketCategory();
    expect(await given()).not.toHaveProperty('enum');
  });

  it('describes a filter for each filterable field, which accepts all of its options', async () => {
    const general = openApiDocument().paths['/tickets']?.get?.parameters ?? [];
    await workspace.createField({ ...site, filterable: true });
    await workspace.createField({ key: 'managed', type: 'BOOLEAN', label: 'Managed', filterable: true });
    await workspace.createField({ key: 'owner', type: 'USER', label: 'Owner' });
    await workspace.createField({ resource: 'ASSET', key: 'owner', type: 'USER', label: 'Owner', filterable: true });
    await update('site', { options: options.slice(1) });
    await backfillFilters(api.databases.system.prisma);
    const { paths, components } = await read();
    expect(components.parameters).not.toHaveProperty('TicketCustomFieldsFilter');
    const filtersOf = (path: string) => (paths[path]?.get?.parameters ?? []).filter((each) => 'name' in each);
    const list = { in: 'query', required: false, style: 'form', explode: true, description: expect.any(String) };
    const array = { type: 'array', minItems: 1, maxItems: 100 };
    expect(paths['/tickets']?.get?.parameters).toHaveLength(general.length - 1 + 2);
    expect(filtersOf('/tickets')).toEqual([
      { ...list, name: 'customFields[managed]', schema: { ...array, items: { type: 'boolean' } } },
      {
        ...{ ...list, name: 'customFields[site]' },
        schema: { ...array, items: expect.objectContaining({ type: 'string', enum: ['bonn', 'berlin'] }) },
      },
    ]);
    expect(filtersOf('/assets')).toMatchObject([{ name: 'customFields[owner]', schema: { items: { minimum: 1 } } }]);
    for (const query of ['customFields[site]=bonn,berlin&customFields[managed]=true', 'customFields[managed]=false']) {
      expect((await workspace.call('GET', `/tickets?${query}`)).status).toBe(200);
    }
    expect((await workspace.call('GET', '/assets?customFields[owner]=7')).status).toBe(200);
  });

  it('has a typed operation for each active form instead of the general one', async () => {
    await workspace.createField(site);
    await workspace.createField({ key: 'floor', type: 'NUMBER', label: 'Floor' });
    await workspace.createField({ key: 'plan', required: true, label: 'Plan' });
    await workspace.createForm({ key: 'old' });
    await updateForm(workspace.context, 'old', { active: false });
    const before = await read();
    const fields = [
      { key: 'site', required: true, help: '*Where?*' },
      { key: 'floor', default: 2 },
    ];
    await workspace.createForm({ key: 'new-laptop', name: 'New *laptop*', fields });
    const { paths, components } = await read();
    const added = (after: object, before: object) => Object.keys(after).filter((name) => !Object.hasOwn(before, name));
    expect(added(paths, before.paths)).toEqual(['/request-forms/new-laptop/tickets']);
    expect(added(components.responses, before.components.responses)).toEqual(['FormTicket', 'FormError']);
    const operation = paths['/request-forms/new-laptop/tickets']?.post;
    expect(operation).toMatchObject({ operationId: 'requestForms_submit_new_laptop', summary: 'New \\*laptop\\*' });
    expect(operation?.['x-codeSamples']?.map(({ label }) => label)).toEqual(['curl']);
    for (const response of Object.values(operation?.responses ?? {})) expect(Object.keys(response)).toEqual(['$ref']);
    const refer = (name: string) => ({ $ref: `#/components/schemas/${name}` });
    expect(components.schemas).toMatchObject({
      FormNewLaptopAnswers: {
        properties: {
          site: { ...refer('TicketField_site'), description: '\\*Where?\\*' },
          floor: { ...refer('TicketField_floor'), description: 'Default: 2' },
          plan: refer('TicketField_plan'),
        },
        required: ['site', 'plan'],
        additionalProperties: false,
      },
      TicketField_site: { type: 'string', enum: ['berlin', 'bonn'] },
    });
    const { ofRequest, ofResponse } = validatorOf(await read());
    const submit = async (body: object) => {
      const path = '/request-forms/new-laptop/tickets';
      const { status, body: sent } = await workspace.call('POST', path, body);
      expect(ofResponse('POST', path, status, sent), path).toBe('');
      return [status < 300, ofRequest('POST', path, body) === ''];
    };
    const valid = { answers: { site: 'bonn', plan: '' }, title: 'Mine' };
    expect(await submit(valid)).toEqual([true, true]);
    for (const body of [{ ...valid, titel: 'Mine' }, { title: 'Mine' }, { answers: { ...valid.answers, flor: 2 } }]) {
      expect(await submit(body)).toEqual([false, false]);
    }
  });

  it('has at most 1.5 kB for each form, in addition to its fields', async () => {
    const create = (text: string) => workspace.createForm({ key: text.repeat(40), name: text.repeat(100) });
    await create('a');
    const before = JSON.stringify(await read());
    await create('b');
    expect(JSON.stringify(await read()).length - before.length).toBeLessThan(1500);
  });

  it('describes no field and no form of another workspace', async () => {
    const other = await createWorkspace(api);
    await other.createField(site);
    await other.createForm();
    await setStrictMode(other.context, true);
    await other.createTicketCategory();
    const { key } = await createWorkspace(api);
    expect(await read()).toEqual(await read(key));
  });
});

describe('the document of a workspace with many options', () => {
  /** The longest text in JSON: 100 characters of 3 bytes in UTF-8. */
  const long = (text: string) => text.padEnd(100, '€');
  const define = async (count: number) => {
    for (const resource of ['TICKET', 'ASSET'] as const) {
      const data = Array.from({ length: 50 }, (_, field) => ({
        ...{ tenantId: workspace.tenantId, resource, key: `field_${field}`.padEnd(63, '_') },
        ...{ label: long(`Field ${field}`), description: '€'.repeat(1000) },
        // All options can be options of filterable fields.
        ...(field < 10
          ? { type: 'MULTI_SELECT' as const, filterable: true, options: manyOptions(count, field) }
          : { type: 'TEXT' as const }),
      }));
      await api.prisma.customFieldDefinition.createMany({ data });
    }
  };
  const manyOptions = (count: number, field: number) =>
    Array.from({ length: count }, (_, index) => ({
      ...{ value: long(`${field}-${index}`), label: long(`Option ${index}`), active: true },
    }));

  it('has at most 3 MB and costs little CPU time', async () => {
    const ids = Array.from({ length: 100 }, (_, index) => `${index}`.padEnd(255, '€'));
    const data = Array.from({ length: maxRequestForms }, (_, index) => ({
      ...{ key: `form-${index}-${'k'.repeat(30)}`, plainKey: `${index}`, name: long(`Form ${index}`) },
      ...{ tenantId: workspace.tenantId, type: 'CHANGE' as const, description: '€'.repeat(1000) },
      fields: Array.from({ length: maxFormFields }, (_, field) => ({
        ...{ key: `field_${field}`.padEnd(63, '_'), required: true, default: null, fixed: null, help: '€'.repeat(300) },
      })),
    }));
    await api.prisma.requestForm.createMany({ data });
    await importTicketCategories(
      workspace.context,
      ids.map((id) => ({ id, name: id.slice(0, 100) })),
    );
    await define(100);
    const sizes: number[] = [];
    /** Returns the CPU time in milliseconds of the thread that responds, without the parsing of the test. */
    const measure = async (encoding: string) => {
      const before = process.threadCpuUsage();
      const headers = { authorization: `Bearer ${workspace.key}`, 'accept-encoding': encoding };
      const { rawPayload } = await api.app.inject({ method: 'GET', url: path, headers });
      const { user, system } = process.threadCpuUsage(before);
      sizes.push(rawPayload.length);
      return (user + system) / 1000;
    };
    for (const encoding of ['identity', 'br']) {
      const afterChange: number[] = [];
      const repeated: number[] = [];
      for (let round = 0; round < 5; round++) {
        await update(`field_0${'_'.repeat(56)}`, { label: unique() });
        afterChange.push(await measure(encoding));
        repeated.push(await measure(encoding));
      }
      expect(Math.min(...afterChange)).toBeLessThan(150);
      expect(Math.min(...repeated)).toBeLessThan(20);
    }
    expect(Math.max(...sizes)).toBeLessThan(3_000_000);
    const { paths, components } = await read();
    const submits = Object.keys(paths).filter((path) => path.startsWith('/request-forms/form-'));
    expect(submits).toHaveLength(maxRequestForms);
    const { created, stored } = await readFields();
    // The schemas of a field share the list of its options.
    const [listed] = Object.values(created.properties) as { items: { $ref: string } }[];
    const options = components.schemas[listed?.items.$ref.split('/').at(-1) ?? ''];
    expect(options).toEqual({ type: 'string', enum: manyOptions(100, 0).map(({ value }) => value) });
    expect(JSON.stringify([created, stored])).not.toContain('Option 1');
  });

  it('lists no options if there are more than 2,000, which an earlier release allowed', async () => {
    await define(101);
    const { created, stored } = await readFields();
    const items = { type: 'string' };
    expect(Object.values(created.properties)[0]).toMatchObject({ type: ['array', 'null'], items });
    expect(JSON.stringify([created, stored])).not.toContain(long('0-1'));
    const [filter] = (await read()).paths['/tickets']?.get?.parameters?.slice(-1) ?? [];
    expect(filter).toMatchObject({ schema: { type: 'array', items } });
  });
});

describe('the ETag of the document', () => {
  const tagOf = async (headers = {}, key = workspace.key) => {
    const { status, headers: sent, text } = await api.call({ method: 'GET', path, key, headers });
    return { status, etag: sent.etag ?? '', text };
  };

  it('differs for each encoding, and returns 304 for each', async () => {
    await workspace.createField(site);
    const etags = new Set<string>();
    const decoders = { identity: (bytes: Buffer) => bytes, gzip: gunzipSync, br: brotliDecompressSync };
    const expected = await read();
    for (const [encoding, decode] of Object.entries(decoders)) {
      const headers = { authorization: `Bearer ${workspace.key}`, 'accept-encoding': encoding };
      const answer = await api.app.inject({ method: 'GET', url: path, headers });
      expect(JSON.parse(decode(answer.rawPayload).toString())).toEqual(expected);
      expect(answer.headers).toMatchObject({
        vary: expect.stringContaining('Accept-Encoding'),
        'cache-control': 'private, no-cache',
      });
      expect(answer.headers['content-encoding']).toBe(encoding === 'identity' ? undefined : encoding);
      etags.add(String(answer.headers.etag));
      const unchanged = await tagOf({ 'accept-encoding': encoding, 'if-none-match': [...etags].join() });
      expect(unchanged).toEqual({ status: 304, etag: answer.headers.etag, text: '' });
      const { headers: head } = await api.call({ method: 'HEAD', path, key: workspace.key, headers });
      expect(head).toMatchObject({ etag: answer.headers.etag, 'content-length': `${answer.rawPayload.length}` });
    }
    expect(etags.size).toBe(3);
    const [identity = ''] = etags;
    expect((await tagOf({ 'accept-encoding': 'br', 'if-none-match': identity })).status).toBe(200);
  });

  it('differs between keys that get different documents', async () => {
    await workspace.createField({ ...site, required: true });
    await workspace.createTicketCategory({ id: 'vpn', name: 'VPN of the board' });
    const keys = {
      own: workspace.key,
      import: await workspace.createKey({ isImport: true }),
      writes: await workspace.createKey({ scopes: ['tickets:write'] }),
      reads: await workspace.createKey({ scopes: ['tickets:read'] }),
    };
    const tags = async () => ({
      own: (await tagOf({}, keys.own)).etag,
      import: (await tagOf({}, keys.import)).etag,
      writes: (await tagOf({}, keys.writes)).etag,
      reads: (await tagOf({}, keys.reads)).etag,
    });
    const before = await tags();
    expect(before.reads).toBe(before.own);
    expect(new Set(Object.values(before)).size).toBe(3);
    for (const key of [keys.reads, keys.own]) expect(JSON.stringify(await read(key))).toContain('VPN of the board');
    // A key without tickets:read can't list the categories, so it also gets neither their names nor their number.
    const { ActiveCategoryConfigId } = (await read(keys.writes)).components.schemas;
    expect(ActiveCategoryConfigId).toEqual(
      (await read((await createWorkspace(api)).key)).components.schemas.ActiveCategoryConfigId,
    );
    await workspace.createTicketCategory({ id: 'wifi' });
    const after = await tags();
    expect(after.writes).toBe(before.writes);
    expect(after.own).not.toBe(before.own);
  });

  it('returns 304 until the fields, their stored values, the forms, the categories or the strict mode change', async () => {
    const changes: (() => Promise<unknown>)[] = [
      () => workspace.createField(site),
      () => update('site', { label: 'Place' }),
      count,
      async () => {
        await update('site', { active: false });
        await workspace.createTicket({ customFields: { site: 3 } });
        await update('site', { active: true });
      },
      () => workspace.createForm({ key: 'laptop' }),
      () => updateForm(workspace.context, 'laptop', { active: false }),
      () => workspace.createTicketCategory({ id: 'vpn' }),
      () => updateTicketCategory(workspace.context, 'vpn', { active: false }),
      () => setStrictMode(workspace.context, true),
    ];
    let { etag } = await tagOf();
    for (const change of changes) {
      expect(await tagOf({ 'if-none-match': etag })).toEqual({ status: 304, etag, text: '' });
      await change();
      const { status, etag: changed } = await tagOf({ 'if-none-match': etag });
      expect([status, changed]).not.toEqual([304, etag]);
      etag = changed;
    }
  });
});

/** A validator for the requests and the responses that a document describes. */
function validatorOf({ components, paths }: OpenApi) {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema({ $id: 'openapi.json', components });
  const find = (described: unknown, value: unknown): string => {
    const { $ref = '' } = described as { $ref?: string };
    const content = components.responses[$ref.replace('#/components/responses/', '')] ?? described;
    const { schema } = (content as { content: { 'application/json': { schema: { $ref: string } } } }).content[
      'application/json'
    ];
    const local = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi.json#/'));
    return ajv.validate(local, value) ? '' : ajv.errorsText();
  };
  return {
    ofRequest: (method: string, path: string, body: unknown) =>
      find(paths[path]?.[method.toLowerCase()]?.requestBody, body),
    ofResponse: (method: string, path: string, status: number, body: unknown) =>
      find(paths[path]?.[method.toLowerCase()]?.responses[status], body),
  };
}

describe('the requests and responses of a workspace', () => {
  const values = [
    ...['', 'berlin', 'old', 0, 1.5, 7, true, null, '2026-11-20', '2026-02-30'],
    ...[[], ['berlin'], ['berlin', 'berlin'], ['old'], [null]],
  ];
  const fields: Partial<NewCustomFieldDefinition>[] = [
    ...(['TEXT', 'NUMBER', 'BOOLEAN', 'DATE', 'USER'] as const).map((type) => ({ key: type.toLowerCase(), type })),
    { key: 'select', type: 'SELECT' },
    { key: 'many', type: 'MULTI_SELECT' },
    { key: 'inactive', type: 'NUMBER' },
    // Code generators can't handle these keys as plain properties.
    { key: 'valueOf', type: 'NUMBER' },
    { key: 'selectItem', type: 'SELECT' },
    { key: 'unknown' },
  ];
  const withOld = [...options, { value: 'old', label: 'Old' }];
  const resources = ['TICKET', 'ASSET'] as const;

  /** Defines all fields except `unknown`, and deactivates the option `old` and the field `inactive`. */
  async function define(required?: string): Promise<void> {
    for (const resource of resources) {
      for (const { key = '', type = 'TEXT' } of fields.slice(0, -1)) {
        const isSelect = type === 'SELECT' || type === 'MULTI_SELECT';
        await workspace.createField({
          ...{ resource, key, type, label: key, required: key === required },
          ...(isSelect && { options: withOld }),
        });
        const patch = key === 'inactive' ? { active: false } : isSelect ? { options } : undefined;
        if (patch) await updateCustomFieldDefinition(workspace.context, { resource, key }, patch);
      }
    }
  }

  it('match the document if tickets and assets are older than the definitions', async () => {
    const ids: Record<string, number[]> = { tickets: [], assets: [] };
    for (const value of values) {
      const customFields = Object.fromEntries(fields.map(({ key = '' }) => [key, value]));
      ids.tickets?.push((await workspace.createTicket({ customFields })).id);
      ids.assets?.push((await workspace.createAsset({ customFields })).id);
    }
    await define();
    for (const prepare of [async () => undefined, count]) {
      await prepare();
      const { ofResponse } = validatorOf(await read());
      for (const resource of ['tickets', 'assets']) {
        const [id] = ids[resource] ?? [];
        const changed = { customFields: { text: unique() } };
        const answers: [method: string, template: string, body?: unknown][] = [
          ['GET', `/${resource}`],
          ['GET', `/${resource}/changes`],
          ['GET', `/${resource}/{id}`],
          ['PATCH', `/${resource}/{id}`, changed],
          ['GET', `/${resource}/{id}/activity`],
        ];
        if (resource === 'tickets') {
          answers.push(['PATCH', '/tickets/bulk', { tickets: ids.tickets?.map((id) => ({ id, ...changed })) }]);
          answers.push(['POST', '/tickets/bulk', { tickets: [{ ...ticket, ...changed }] }]);
        } else {
          const { assetTag } = (await workspace.call('GET', `/assets/${id}`)).body.data;
          const given = [
            { assetTag, ...changed },
            { assetTag: unique(), name: 'Laptop', type: 'LAPTOP', ...changed },
          ];
          answers.push(['POST', '/assets/upsert', { assets: given }]);
        }
        for (const [method, template, body] of answers) {
          const answer = await workspace.call(method, template.replace('{id}', String(id)), body);
          expect([answer.status, ofResponse(method, template, 200, answer.body)], template).toEqual([200, '']);
        }
      }
    }
  });

  it.each([
    ['without rules for other fields', false, undefined],
    ['in the strict mode', true, undefined],
    ['with a required field', false, 'select'],
  ])('match the document exactly if the server accepts them, %s', async (_, isStrict, required) => {
    await define(required);
    await setStrictMode(workspace.context, isStrict);
    const { ofRequest } = validatorOf(await read());
    const filled = required ? { customFields: { [required]: 'bonn' } } : {};
    // The rules of the other fields are the same as in the first run.
    const sent = fields.filter(({ key }) => (!isStrict && !required) || key === 'select' || key === 'unknown');
    const bodies: object[] = sent.flatMap(({ key = '' }) =>
      values.map((value) => ({ customFields: { [key]: value } })),
    );
    bodies.push({ customFields: null }, { customFields: {} }, {});
    const tickets = await Promise.all(bodies.slice(0, 100).map(() => workspace.createTicket(filled)));
    const assets = await Promise.all(tickets.map(() => workspace.createAsset(filled)));

    type Kind = [method: string, path: string, items: 'tickets' | 'assets' | undefined, own: (index: number) => object];
    const kinds: Kind[] = [
      ['POST', '/tickets', undefined, () => ticket],
      ['POST', '/tickets/bulk', 'tickets', () => ticket],
      ['PATCH', `/tickets/${tickets[0]?.id}`, undefined, () => ({ title: unique() })],
      ['PATCH', '/tickets/bulk', 'tickets', (index) => ({ id: tickets[index % 100]?.id, title: unique() })],
      ['POST', '/assets', undefined, asset],
      ['PATCH', `/assets/${assets[0]?.id}`, undefined, () => ({ name: unique() })],
      // An upsert that creates an asset also needs the required fields, which the document can't describe.
      ['POST', '/assets/upsert', 'assets', (index) => ({ assetTag: assets[index % 100]?.assetTag, name: unique() })],
    ];
    for (const [method, path, items, own] of kinds) {
      const requests = bodies.map((body, index) => ({ ...own(index), ...body }));
      const accepted: boolean[] = [];
      for (let from = 0; from < requests.length; from += items ? 100 : 1) {
        const some = requests.slice(from, from + 100);
        const { status, body } = await workspace.call(method, path, items ? { [items]: some } : some[0]);
        accepted.push(...(items ? body.data.map((each: { status: number }) => each.status < 300) : [status < 300]));
      }
      const template = path.replace(/\d+$/, '{id}');
      const faults = requests.map((sent) => ofRequest(method, template, items ? { [items]: [sent] } : sent));
      const differences = requests.filter((_, index) => accepted[index] !== (faults[index] === ''));
      expect(differences, `${method} ${path}`).toEqual([]);
      expect(new Set(accepted).size).toBe(2);
    }
  });
});
