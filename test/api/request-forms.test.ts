import { maxRequestForms, NewRequestForm, type RequestFormPatch, type Ticket } from '@itsm-api/contract';
import { updateCustomFieldDefinition } from '@itsm-api/server/resources/custom-fields/queries.ts';
import { getAdministeredForm, updateForm } from '@itsm-api/server/resources/request-forms/queries.ts';
import { teams } from '@itsm-api/server/resources/teams/queries.ts';
import { updateTicketCategory } from '@itsm-api/server/resources/ticket-categories/queries.ts';
import { describe, expect } from 'vitest';
import { errorOf } from '../support/api.ts';
import { query } from '../support/database.ts';
import { api, itInNewWorkspace as it, workspace } from '../support/fixture.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const sites = ['berlin', 'bonn'].map((value) => ({ value, label: value === 'berlin' ? 'Berlin HQ' : 'Bonn' }));
const createSite = () => workspace.createField({ key: 'site', type: 'SELECT', label: 'Site', options: sites });
const update = (key: string, patch: RequestFormPatch) => updateForm(workspace.context, key, patch);
const submit = (key: string, answers: object = {}, others: object = {}) =>
  workspace.call('POST', `/request-forms/${key}/tickets`, { answers, ...others });
/** Submits a form, and returns the ticket. */
const ticketOf = async (...given: Parameters<typeof submit>): Promise<Ticket> => {
  const { status, body } = await submit(...given);
  expect(body).toMatchObject({ success: true });
  expect(status).toBe(201);
  return body.data;
};
const read = async (key: string) => (await workspace.call('GET', `/request-forms/${key}`)).body.data;
const problemsOf = async (key: string) => (await getAdministeredForm(workspace.context, key)).problems;

describe('a new form', () => {
  const valid = { key: 'laptop', name: 'Laptop', type: 'SERVICE_REQUEST', category: 'HARDWARE' } as const;

  it.each([
    ['a capital letter', { key: 'Laptop' }],
    ['two hyphens', { key: 'new--laptop' }],
    ['a hyphen at the end', { key: 'laptop-' }],
    ['a digit at the start', { key: '1-laptop' }],
    ['41 characters', { key: 'k'.repeat(41) }],
    ['a reserved key', { key: 'bulk' }],
    ['another reserved key', { key: 'changes' }],
    ['31 fields', { fields: Array.from({ length: 31 }, (_, index) => ({ key: `f${index}` })) }],
    ['a field twice', { fields: [{ key: 'site' }, { key: 'site' }] }],
    ['a default and a fixed value', { fields: [{ key: 'site', default: 'berlin', fixed: 'bonn' }] }],
  ])('rejects %s', (_, input) => {
    expect(NewRequestForm.safeParse({ ...valid, ...input }).success).toBe(false);
    expect(NewRequestForm.safeParse(valid).success).toBe(true);
  });

  it('rejects a key that differs only in hyphens from another key, also of an inactive form', async () => {
    await workspace.createForm({ key: 'new-laptop' });
    await update('new-laptop', { active: false });
    const rejection = { code: 'VALIDATION_ERROR', details: [{ path: 'key' }] };
    await expect(workspace.createForm({ key: 'newlaptop' })).rejects.toMatchObject(rejection);
    await expect((await createWorkspace(api)).createForm({ key: 'newlaptop' })).resolves.toBeDefined();
  });

  it('rejects a team, a category, fields and values that the workspace lacks', async () => {
    await createSite();
    await workspace.createField({ key: 'old' });
    await updateCustomFieldDefinition(workspace.context, { resource: 'TICKET', key: 'old' }, { active: false });
    await workspace.createTicketCategory({ id: 'vpn' });
    const { id } = await (await createWorkspace(api)).createTeam();
    const create = (input: Parameters<Workspace['createForm']>[0]) => workspace.createForm(input);
    const unknown = { code: 'INVALID_REFERENCE' };
    await expect(create({ teamId: id })).rejects.toMatchObject({ ...unknown, details: [{ path: 'teamId' }] });
    await expect(create({ categoryConfigId: 'x' })).rejects.toMatchObject(unknown);
    const invalid = (...paths: string[]) => ({ code: 'VALIDATION_ERROR', details: paths.map((path) => ({ path })) });
    await expect(
      create({ fields: [{ key: 'flor' }, { key: 'old' }, { key: 'site', default: 'x' }] }),
    ).rejects.toMatchObject(invalid('fields.flor', 'fields.old', 'fields.site.default'));
  });

  it('rejects a template that names something else than a question with a short answer', async () => {
    await createSite();
    await workspace.createField({ key: 'rooms', type: 'MULTI_SELECT', options: sites });
    await workspace.createField({ key: 'plan' });
    const fields = [{ key: 'site' }, { key: 'rooms' }, { key: 'plan', fixed: 'x' }];
    for (const titleTemplate of ['For {sit}', '{rooms}', '{plan}', 'For {site', 'For }', '{}', '{{site}}']) {
      const rejected = expect(workspace.createForm({ titleTemplate, fields }), titleTemplate).rejects;
      await rejected.toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'titleTemplate' }] });
    }
    await expect(workspace.createForm({ titleTemplate: '{sit}', fields })).rejects.toMatchObject({
      message: expect.stringContaining('Did you mean `{site}`?'),
    });
    const { key } = await workspace.createForm({ titleTemplate: 'For {site}', fields });
    const patched = expect(update(key, { fields: [] })).rejects;
    await patched.toMatchObject({ details: [{ path: 'titleTemplate' }] });
  });

  it('rejects more forms than a workspace can have', async () => {
    const copies = `INSERT INTO request_forms (tenant_id, key, plain_key, name, type, category, fields, updated_at)
      SELECT $1, 'k' || n, 'k' || n, 'x', 'CHANGE', 'OTHER', '[]', now() FROM generate_series(1, $2) AS n`;
    await query(api.databaseUrl, copies, [workspace.tenantId, maxRequestForms - 1]);
    await workspace.createForm();
    await expect(workspace.createForm()).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: 'key' }],
    });
  });
});

describe('GET /request-forms', () => {
  it('returns all forms in the order of their keys, without their fields, team and category', async () => {
    await workspace.createForm({ key: 'b', teamId: (await workspace.createTeam()).id, tags: ['x'] });
    await workspace.createForm({ key: 'a-1', name: 'A', description: 'For A' });
    await update('b', { active: false });
    const { body } = await workspace.call('GET', '/request-forms');
    expect(body.meta).toEqual({ page: 1, perPage: 20, totalCount: 2 });
    const timestamp = expect.stringMatching(/Z$/);
    const common = {
      ...{ id: expect.any(Number), type: 'SERVICE_REQUEST', priority: 'MEDIUM', titleTemplate: null },
      ...{ createdAt: timestamp, updatedAt: timestamp, etag: expect.any(String) },
    };
    expect(body.data).toEqual([
      { key: 'a-1', name: 'A', description: 'For A', active: true, tags: [], ...common },
      { key: 'b', name: 'New laptop', description: null, active: false, tags: ['x'], ...common },
    ]);
  });
});

describe('GET /request-forms/{key}', () => {
  it('returns the schema of the answers, also of an inactive form', async () => {
    await createSite();
    await workspace.createField({ key: 'floor', type: 'NUMBER', label: 'Floor', description: 'From 0' });
    await workspace.createField({ key: 'plan', required: true });
    await workspace.createField({ key: 'owner', type: 'USER', label: 'Owner', required: true });
    const fields = [
      { key: 'site', required: true, help: 'Where?' },
      { key: 'floor', default: 2 },
      { key: 'plan', fixed: 'x' },
    ];
    await workspace.createForm({ key: 'laptop', fields });
    await update('laptop', { active: false });
    const form = await read('laptop');
    expect(form).toMatchObject({ key: 'laptop', active: false, fields });
    expect(form).not.toHaveProperty('teamId');
    expect(form).not.toHaveProperty('category');
    expect(form.schema).toEqual({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      title: 'New laptop',
      type: 'object',
      properties: {
        site: {
          ...{ title: 'Site', description: 'Where?', type: 'string' },
          oneOf: [
            { const: 'berlin', title: 'Berlin HQ' },
            { const: 'bonn', title: 'Bonn' },
          ],
        },
        floor: expect.objectContaining({ title: 'Floor', description: 'From 0', type: 'number', default: 2 }),
        owner: expect.objectContaining({ type: 'integer' }),
      },
      required: ['site', 'owner'],
      additionalProperties: false,
    });
    expect(Object.keys(form.schema.properties)).toEqual(['site', 'floor', 'owner']);
  });

  it('changes the ETag when a definition changes the schema', async () => {
    await createSite();
    const { key } = await workspace.createForm({ fields: [{ key: 'site' }] });
    const path = `/request-forms/${key}`;
    const { headers } = await workspace.call('GET', path);
    const repeat = () => workspace.call('GET', path, undefined, { 'if-none-match': String(headers.etag) });
    expect((await repeat()).status).toBe(304);
    await updateCustomFieldDefinition(workspace.context, { resource: 'TICKET', key: 'site' }, { label: 'Office' });
    expect((await repeat()).status).toBe(200);
  });

  it('returns 404 for an unknown key and a key of another workspace', async () => {
    const { key } = await (await createWorkspace(api)).createForm();
    for (const each of [key, 'unknown'])
      expect((await workspace.call('GET', `/request-forms/${each}`)).status).toBe(404);
  });
});

describe('POST /request-forms/{key}/tickets', () => {
  it('creates a ticket with the answers, the defaults, the fixed values and the fields of the form', async () => {
    await createSite();
    await workspace.createField({ key: 'floor', type: 'NUMBER', label: 'Floor' });
    await workspace.createField({ key: 'plan', label: 'Plan' });
    await workspace.createField({ key: 'note', label: 'Note' });
    await workspace.createTicketCategory({ id: 'pc', category: 'HARDWARE' });
    const team = await workspace.createTeam();
    const watcher = await workspace.createUser();
    const asset = await workspace.createAsset();
    await workspace.createForm({
      ...{ key: 'laptop', type: 'CHANGE', category: null, categoryConfigId: 'pc', priority: 'HIGH', teamId: team.id },
      ...{ tags: ['b', 'a'], titleTemplate: 'For {site}, floor {floor}' },
      fields: [
        { key: 'site', required: true },
        { key: 'floor', default: 2 },
        { key: 'plan', fixed: 'x' },
        { key: 'note' },
      ],
    });
    const others = {
      requesterId: watcher.email,
      externalId: 'x:1',
      watcherUserIds: [watcher.id],
      assetIds: [asset.id],
    };
    const created = await ticketOf('laptop', { site: 'berlin' }, others);
    expect(created).toMatchObject({
      ...{ formKey: 'laptop', type: 'CHANGE', status: 'OPEN', priority: 'HIGH', category: 'HARDWARE' },
      ...{ categoryConfigId: 'pc', teamId: team.id, tags: ['a', 'b'], ticketNumber: 'CHG-1', externalId: 'x:1' },
      ...{ requesterId: watcher.id, watcherUserIds: [watcher.id], assetIds: [asset.id] },
      customFields: { site: 'berlin', floor: 2, plan: 'x' },
      title: 'For Berlin HQ, floor 2',
      description: 'Site: Berlin HQ\nFloor: 2',
    });
    const given = await ticketOf('laptop', { site: 'bonn', floor: 3 }, { title: ' Mine ', description: 'Please.' });
    expect(given).toMatchObject({ title: 'Mine', description: 'Please.', customFields: { site: 'bonn', floor: 3 } });
    const { body } = await workspace.call('GET', '/tickets?formKey=laptop,other');
    expect(body.data.map(({ id }: Ticket) => id)).toEqual([given.id, created.id]);
    expect((await workspace.call('GET', `/tickets/${created.id}/activity`)).body.data).toHaveLength(1);
  });

  it('rejects unknown, missing and invalid answers with a detail for each of them', async () => {
    await createSite();
    await workspace.createField({ key: 'floor', type: 'NUMBER' });
    await workspace.createField({ key: 'plan' });
    const fields = [
      { key: 'site', required: true },
      { key: 'floor', required: true },
      { key: 'plan', fixed: 'x' },
    ];
    const { key } = await workspace.createForm({ fields });
    const details = async (answers: object) => errorOf(await submit(key, answers)).details;
    expect(await details({ sit: 'berlin', plan: 'x', __x: 1 })).toEqual([
      { path: 'answers.sit', message: 'is not a question of this form. Did you mean `site`?' },
      { path: 'answers.plan', message: 'is not a question of this form. Remove it.' },
      { path: 'answers.__x', message: 'is not a question of this form. Remove it.' },
      { path: 'answers.site', message: 'is required' },
      { path: 'answers.floor', message: 'is required' },
    ]);
    expect(await details({ site: 'Berlin', floor: null })).toEqual([
      { path: 'answers.site', message: 'must be one of: berlin, bonn' },
      { path: 'answers.floor', message: 'must not be null. Remove it if there is no answer.' },
    ]);
    expect(errorOf(await submit(key, { site: 'Berlin' }))).toMatchObject({ code: 'VALIDATION_ERROR' });
    expect(await details({ site: 'berlin', floor: '2' })).toEqual([
      { path: 'answers.floor', message: 'must be a number' },
    ]);
  });

  it('returns 404 for an inactive or unknown form, and 400 for unknown references', async () => {
    const { key } = await workspace.createForm();
    expect((await submit('unknown')).status).toBe(404);
    expect(errorOf(await submit(key, {}, { watcherUserIds: [999_999] })).code).toBe('INVALID_REFERENCE');
    expect((await submit(key, {}, { type: 'INCIDENT' })).status).toBe(400);
    await update(key, { active: false });
    expect((await submit(key)).status).toBe(404);
  });

  it('rejects a repeated external id, and replays a repeated idempotency key', async () => {
    const { key } = await workspace.createForm();
    await ticketOf(key, {}, { externalId: 'x:1' });
    expect(errorOf(await submit(key, {}, { externalId: 'x:1' })).code).toBe('EXTERNAL_ID_EXISTS');
    const send = () =>
      workspace.call('POST', `/request-forms/${key}/tickets`, { answers: {} }, { 'idempotency-key': 'once' });
    expect((await send()).body.data.id).toBe((await send()).body.data.id);
  });

  it('delivers an event with the form to a webhook with a filter by it', async () => {
    const { key } = await workspace.createForm();
    const { id } = await workspace.createWebhook({ events: ['ticket.created'], filter: { formKey: [key] } });
    await workspace.createTicket();
    await ticketOf(key);
    const { data } = (await workspace.call('GET', `/webhooks/${id}/deliveries`)).body;
    expect(data).toHaveLength(1);
    const delivery = (await workspace.call('GET', `/deliveries/${data[0].id}`)).body.data;
    expect(JSON.parse(delivery.body).ticket.formKey).toBe(key);
  });

  it('keeps the request of POST /tickets as it is', async () => {
    const answer = await workspace.call('POST', '/tickets', { title: 'x', formKey: 'laptop' });
    expect(errorOf(answer).details).toContainEqual(expect.objectContaining({ path: 'formKey' }));
    expect((await workspace.createTicket()).formKey).toBeNull();
  });
});

describe('the texts of a submitted ticket', () => {
  it('have the labels of options, one space for white space and control characters, and whole characters', async () => {
    await createSite();
    await workspace.createField({ key: 'why', label: 'Why\tso' });
    await workspace.createField({ key: 'ok', type: 'BOOLEAN', label: 'OK' });
    await workspace.createField({ key: 'rooms', type: 'MULTI_SELECT', label: 'Rooms', options: sites });
    const fields = [{ key: 'site' }, { key: 'why' }, { key: 'ok' }, { key: 'rooms' }];
    const { key } = await workspace.createForm({ titleTemplate: '{why} {site} {ok}', fields });
    const answers = { site: 'bonn', why: ' a\r\n\tb ', ok: false, rooms: ['bonn', 'berlin'] };
    expect(await ticketOf(key, answers)).toMatchObject({
      title: 'a b Bonn false',
      description: 'Site: Bonn\nWhy so: a b\nOK: false\nRooms: Bonn, Berlin HQ',
    });
    const family = '👨‍👩‍👧';
    const { title } = await ticketOf(key, { why: `${'x'.repeat(251)}${family}y` });
    expect(title).toBe('x'.repeat(251));
    expect((await ticketOf(key, { why: '😀'.repeat(300) })).title).toBe('😀'.repeat(255));
  });

  it('are the name of the form if the template or the answers are empty', async () => {
    await workspace.createField({ key: 'why' });
    const { key } = await workspace.createForm({ titleTemplate: '{why}', fields: [{ key: 'why' }] });
    expect(await ticketOf(key)).toMatchObject({ title: 'New laptop', description: 'New laptop' });
    expect((await ticketOf(key, { why: '\n' })).title).toBe('New laptop');
    const { key: plain } = await workspace.createForm();
    expect(await ticketOf(plain)).toMatchObject({ title: 'New laptop', description: 'New laptop' });
  });

  it('have at most 65,535 bytes in the description', async () => {
    const options = Array.from({ length: 200 }, (_, index) => ({ value: `${index}`, label: '€'.repeat(100) + index }));
    const fields = ['a', 'b'].map((key) => ({ key }));
    for (const { key } of fields) {
      await workspace.createField({
        key,
        type: 'MULTI_SELECT',
        options: options.map(({ value, label }) => ({ value, label: label.slice(-100) })),
      });
    }
    const { key } = await workspace.createForm({ fields });
    const all = options.map(({ value }) => value);
    const { description } = await ticketOf(key, { a: all, b: all });
    const bytes = Buffer.byteLength(description);
    expect(bytes).toBeGreaterThan(65_530);
    expect(bytes).toBeLessThanOrEqual(65_535);
  });
});

describe('a submit after the workspace has changed', () => {
  it('asks for the fields that the workspace requires, also of an import key', async () => {
    const { key } = await workspace.createForm();
    await workspace.createField({ key: 'plan', required: true });
    expect((await read(key)).schema).toMatchObject({ required: ['plan'] });
    const send = async (key: string, apiKey: string) =>
      workspace.call('POST', `/request-forms/${key}/tickets`, { answers: {} }, { authorization: `Bearer ${apiKey}` });
    for (const apiKey of [workspace.key, await workspace.createKey({ isImport: true })]) {
      expect(errorOf(await send(key, apiKey)).details).toEqual([{ path: 'answers.plan', message: 'is required' }]);
    }
    expect((await ticketOf(key, { plan: 'x' })).customFields).toEqual({ plan: 'x' });
  });

  it('leaves out a team and a category that are inactive', async () => {
    const team = await workspace.createTeam();
    await workspace.createTicketCategory({ id: 'pc' });
    const routing = { teamId: team.id, categoryConfigId: 'pc' };
    const own = await workspace.createForm({ ...routing, category: null });
    const both = await workspace.createForm({ ...routing, category: 'NETWORK' });
    await teams.update(workspace.context, team.id, { active: false });
    await updateTicketCategory(workspace.context, 'pc', { active: false });
    const left = { teamId: null, categoryConfigId: null };
    expect(await ticketOf(own.key)).toMatchObject({ ...left, category: 'OTHER' });
    expect(await ticketOf(both.key)).toMatchObject({ ...left, category: 'NETWORK' });
    expect(await problemsOf(own.key)).toEqual(['The team is inactive.', 'The ticket category is inactive.']);
    await expect(update(own.key, { name: 'Still changes' })).resolves.toMatchObject({ name: 'Still changes' });
  });

  it('leaves out inactive fields, options, defaults and fixed values, and asks for required fields again', async () => {
    await createSite();
    for (const key of ['place', 'room'])
      await workspace.createField({ key, type: 'SELECT', label: key, options: sites });
    await workspace.createField({ key: 'old', label: 'Old' });
    const { key } = await workspace.createForm({
      fields: [
        ...[
          { key: 'site', required: true, default: 'bonn' },
          { key: 'place', required: true, fixed: 'bonn' },
        ],
        ...[
          { key: 'room', fixed: 'bonn' },
          { key: 'old', required: true },
        ],
      ],
    });
    expect((await ticketOf(key, { old: 'x' })).customFields).toEqual({
      site: 'bonn',
      place: 'bonn',
      room: 'bonn',
      old: 'x',
    });
    const change = (field: string, patch: object) =>
      updateCustomFieldDefinition(workspace.context, { resource: 'TICKET', key: field }, patch);
    for (const field of ['site', 'place', 'room']) await change(field, { options: sites.slice(0, 1) });
    await change('old', { active: false });
    expect((await read(key)).schema).toMatchObject({
      properties: { site: { oneOf: [{ const: 'berlin' }] }, place: { oneOf: [{ const: 'berlin' }] } },
      required: ['site', 'place'],
    });
    expect(errorOf(await submit(key)).details).toHaveLength(2);
    expect((await ticketOf(key, { site: 'berlin', place: 'berlin' })).customFields).toEqual({
      site: 'berlin',
      place: 'berlin',
    });
    expect(await problemsOf(key)).toEqual([
      'The default of site is an inactive option.',
      'The fixed value of place is an inactive option.',
      'The fixed value of room is an inactive option.',
      'The custom field old is inactive.',
    ]);
  });

  it('stores only what one version of the form allows while the form changes', async () => {
    await createSite();
    await workspace.createField({ key: 'floor', type: 'NUMBER' });
    const versions = [
      { priority: 'LOW', fields: [{ key: 'site', required: false, default: 'berlin', fixed: null, help: null }] },
      { priority: 'HIGH', fields: [{ key: 'floor', required: false, default: 1, fixed: null, help: null }] },
    ] as const;
    const { key } = await workspace.createForm({ ...versions[0], fields: [...versions[0].fields] });
    const changes = (async () => {
      for (let round = 0; round < 20; round += 1) {
        const { priority, fields } = versions[(round + 1) % 2] as (typeof versions)[0];
        await update(key, { priority, fields: [...fields] });
      }
    })();
    const tickets = await Promise.all(Array.from({ length: 20 }, () => ticketOf(key)));
    await changes;
    for (const { priority, customFields } of tickets) {
      expect([
        { site: 'berlin', priority: 'LOW' },
        { floor: 1, priority: 'HIGH' },
      ]).toContainEqual({ ...customFields, priority });
    }
  });
});
