import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { createKey } from '@itsm-api/server/auth/api-keys/api-keys.ts';
import { commands } from '@itsm-api/server/cli/command-table.ts';
import { pages } from '@itsm-api/server/developer/pages.ts';
import { getUser } from '@itsm-api/server/resources/users/queries.ts';
import { deactivateUser } from '@itsm-api/server/resources/users/user-management.ts';
import { deleteWebhook } from '@itsm-api/server/resources/webhooks/webhook-management.ts';
import { describe, expect } from 'vitest';
import { commandLine } from '../cli/itsm.ts';
import { sendAbout } from '../developer/importing.ts';
import { secretKey } from '../support/command-process.ts';
import { admin, api, itAsAdmin, workspace as mine } from '../support/fixture.ts';
import { createRow, typeRow, withForms } from '../support/nouns.ts';
import { callOf, endpoints } from '../support/samples.ts';
import { etagOf, type Fields, signIn, upload, type Visitor } from '../support/visitor.ts';
import { unique } from '../support/workspace.ts';

/*
 * Tests that every change to users, teams, ticket categories, fields, keys, webhooks and settings leaves exactly one
 * audit entry, whether it is made by API, in the developer area or on the command line.
 */

const it = itAsAdmin.extend('options', { scope: 'file' }, { ownDatabase: true, secretKeys: [secretKey] });

/** Returns the audit entries that `change` leaves. */
async function entriesOf(change: () => Promise<unknown>) {
  const last = await api.prisma.auditEntry.findFirst({ orderBy: { id: 'desc' } });
  await change();
  return api.prisma.auditEntry.findMany({ where: { id: { gt: last?.id ?? 0n } }, orderBy: { id: 'asc' } });
}

describe('endpoints', () => {
  const actions: Record<string, string> = {
    'POST /webhooks': 'webhook.created',
    'PATCH /webhooks/:id': 'webhook.changed',
    'DELETE /webhooks/:id': 'webhook.deleted',
    'PATCH /proposals/:id': 'proposal.decided',
  };

  it.each(endpoints)(
    '$title records one audit entry if it changes a user, team, ticket category, field, key, webhook or setting',
    async (endpoint) => {
      const { title, success, sample } = endpoint;
      const call = callOf(endpoint, await sample(mine));
      const entries = await entriesOf(async () => {
        const response = await api.call({ ...call, key: mine.key });
        expect(response.status, response.text).toBe(success);
      });
      expect(entries.map(({ action }) => action)).toEqual([actions[title] ?? []].flat());
      for (const entry of entries) {
        expect(entry).toMatchObject({ userId: BigInt(mine.userId), keyId: mine.context.keyId, address: '127.0.0.1' });
      }
    },
  );
});

const makeUser = async () => `/developer/users/${(await mine.createUser()).id}`;
const makeWebhook = async () => `/developer/webhooks/${(await mine.createWebhook()).id}`;
async function makeKey() {
  const { email } = await mine.createUser();
  const { id } = await createKey(mine.context, {
    user: email,
    name: 'exporter',
    scopes: ['tickets:read', 'users:read'],
  });
  return `/developer/keys/${id}`;
}
const idIn = (path: string) => Number(path.split('/').at(-1));
const account = async () => '/developer/account';
const newUser = { name: 'Grace Hopper', email: 'grace@example.com', role: 'AGENT' };
const asset = {
  ...{ name: 'Laptop', type: 'LAPTOP', status: '', assignedToId: '', serialNumber: '', manufacturer: '', model: '' },
  ...{ location: '', purchaseDate: '', purchaseCost: '', warrantyExpiresAt: '', notes: '', customFields: '' },
};
const article = { title: 'Use the scanner', category: '', body: 'Lift the lid.' };
const targetFields = (kind: string, HIGH: string) =>
  Object.fromEntries(
    Object.entries({ CRITICAL: '', HIGH, MEDIUM: '', LOW: '' }).map(([key, value]) => [
      `targets.${kind}.${key}`,
      value,
    ]),
  );

interface FormSample {
  /** Creates the object that the form changes. Returns the path of the page. */
  make?(): Promise<string>;
  fields?: Fields | (() => Promise<Fields>);
  /** Whether the form needs the ETag of the object. */
  hasEtag?: boolean;
  /** The actions of the entries that the form leaves. By default, the action that the form declares. */
  leaves?: string[];
  /** Submits the form. By default, submits the fields. */
  send?(visitor: Visitor, path: string): Promise<unknown>;
}

function csvForms(resource: 'assets' | 'projects', file: () => string): Record<string, FormSample> {
  const path = `/developer/${resource}/import`;
  return {
    [`${path} upload`]: { send: (visitor) => upload(visitor, path, file()) },
    [`${path} import`]: { send: (visitor) => sendAbout(visitor, path, 'import') },
    [`${path} discard`]: {
      make: async () => {
        await upload(admin, path, file());
        return path;
      },
      send: (visitor) => sendAbout(visitor, path, 'discard'),
    },
  };
}

/** Samples for the forms of the nouns that administrators manage. */
const nounForms = Object.fromEntries(
  withForms.flatMap(({ noun, path }): [string, FormSample][] => [
    [`${path}/new create`, { fields: () => typeRow(noun, 'create', mine) }],
    [
      `${path}/one change`,
      {
        make: async () => `${path}/one${await createRow(noun, mine)}`,
        fields: () => typeRow(noun, 'update', mine),
        hasEtag: true,
      },
    ],
  ]),
);

/** A sample for every form that changes data. */
const formSamples: Record<string, FormSample> = {
  '/developer/keys/new create': { fields: { name: 'nightly export', expiresInDays: '90', scopes: ['tickets:read'] } },
  '/developer/keys/:id rename': { make: makeKey, fields: { name: 'other' } },
  '/developer/keys/:id end': { make: makeKey, fields: { expiresInDays: '30' } },
  '/developer/keys/:id networks': { make: makeKey, fields: { allowedNetworks: '192.0.2.0/24' } },
  '/developer/keys/:id narrow': { make: makeKey, fields: { scopes: ['tickets:read'] } },
  '/developer/keys/:id rotate': { make: makeKey, fields: { overlapHours: 1 } },
  '/developer/keys/:id revoke': { make: makeKey, fields: { confirmation: 'exporter' } },
  '/developer/users/new create': { fields: newUser, leaves: ['user.created', 'user.invited'] },
  '/developer/users/new-service-account create': { fields: { name: 'Exporter', email: 'team@example.com' } },
  '/developer/users/:id change': {
    make: makeUser,
    fields: { name: 'Ada', role: 'ADMIN', jobTitle: '', department: '', phone: '', timeZone: '' },
    hasEtag: true,
  },
  '/developer/users/:id deactivate': { make: makeUser },
  '/developer/users/:id activate': {
    make: async () => {
      const path = await makeUser();
      await deactivateUser(mine.context, idIn(path));
      return path;
    },
  },
  '/developer/users/:id invite': { make: makeUser },
  '/developer/users/:id erase': {
    make: makeUser,
    async send(visitor, path) {
      const { email } = await getUser(mine.context, idIn(path));
      return visitor.submit(path, 'erase', { confirmation: email });
    },
  },
  '/developer/approvals/:id decide': {
    make: async () => `/developer/approvals/${(await mine.createApproval(mine.userId)).id}`,
    fields: { decision: 'APPROVED', comment: '' },
    hasEtag: true,
  },
  '/developer/approvals/:id withdraw': {
    make: async () => `/developer/approvals/${(await mine.createApproval(mine.userId)).id}`,
    fields: {},
    hasEtag: true,
  },
  '/developer/proposals decide': {
    make: async () => '/developer/proposals',
    fields: async () => ({ ids: String((await mine.createProposal()).id), decision: 'REJECTED', note: '' }),
  },
  '/developer/proposals/:id decide': {
    make: async () => `/developer/proposals/${(await mine.createProposal()).id}`,
    fields: { decision: 'ACCEPTED', note: '' },
    hasEtag: true,
  },
  ...nounForms,
  '/developer/webhooks/new create': {
    fields: { url: 'https://hooks.example.com/path?token=hidden', events: ['ticket.created'], filter: '', secret: '' },
  },
  '/developer/webhooks/:id test': { make: makeWebhook },
  '/developer/webhooks/:id pause': { make: makeWebhook },
  '/developer/webhooks/:id resume': {
    make: async () => `/developer/webhooks/${(await mine.createWebhook({ paused: true })).id}`,
  },
  '/developer/webhooks/:id change': {
    make: makeWebhook,
    fields: { url: 'https://other.example.com/', events: ['ticket.created'], filter: '' },
    hasEtag: true,
  },
  '/developer/webhooks/:id secret': { make: makeWebhook, fields: { secret: '' } },
  '/developer/webhooks/:id replay': { make: makeWebhook, fields: { since: '2026-11-20T10:00' } },
  '/developer/webhooks/:id delete': { make: makeWebhook, fields: { sure: 'yes' } },
  '/developer/webhooks/:id activate': {
    make: async () => {
      const path = await makeWebhook();
      await deleteWebhook(mine.context, idIn(path));
      return path;
    },
  },
  '/developer/settings changes': { fields: { isOn: 'yes' } },
  '/developer/settings fields': { fields: { isStrict: 'yes' } },
  '/developer/settings keys': { fields: { maxLifetimeDays: '365' } },
  '/developer/business-hours calendar': {
    fields: { timeZone: 'UTC', intervals: 'mon-sun 00:00-24:00', holidays: '' },
  },
  '/developer/business-hours clear': { fields: {} },
  '/developer/business-hours firstResponse': { fields: targetFields('firstResponse', '60') },
  '/developer/business-hours resolution': { fields: targetFields('resolution', '240') },
  '/developer/assets/new create': { fields: { ...asset, assetTag: 'LT-1' } },
  '/developer/assets/one change': {
    make: async () => `/developer/assets/one?id=${(await mine.createAsset()).id}`,
    fields: { ...asset, name: 'Other', status: 'IN_STOCK' },
    hasEtag: true,
  },
  ...csvForms('assets', () => `assetTag,name,type\nLT-${unique()},Laptop,LAPTOP\n`),
  ...csvForms('projects', () => `key,name\nP${unique().toUpperCase()},Move\n`),
  '/developer/articles/new create': { fields: article },
  ...Object.fromEntries(
    ['change', 'publish', 'draft', 'archive'].map((name) => [
      `/developer/articles/:id ${name}`,
      {
        make: async () => `/developer/articles/${(await mine.createArticle()).id}`,
        fields: name === 'change' ? article : {},
        hasEtag: true,
      },
    ]),
  ),
  '/developer/tickets/:id attach': {
    make: async () => `/developer/tickets/${(await mine.createTicket()).id}`,
    send: (visitor, path) => upload(visitor, path, 'The log.', { name: 'a.txt', form: 'attach' }),
  },
  '/developer/tickets/:id override': {
    make: async () => `/developer/tickets/${(await mine.createTicket({ type: 'CHANGE' })).id}`,
    fields: { status: 'IN_PROGRESS' },
  },
  '/developer/tickets/:id redact': {
    make: async () => `/developer/tickets/${(await mine.createTicket()).ticketNumber}`,
    send: (visitor, path) =>
      visitor.submit(path, 'redact', { texts: 'ticket', confirmation: path.split('/').at(-1) ?? '' }),
  },
  '/developer/deliveries/:id replay': {
    make: async () => {
      const { id } = await mine.createDelivery();
      await api.prisma.delivery.updateMany({ where: { id }, data: { state: 'EXHAUSTED', settledAt: new Date() } });
      return `/developer/deliveries/${id}`;
    },
  },
  '/developer/account zone': { make: account, fields: { timeZone: 'Europe/Rome' } },
  '/developer/account password': { make: account, fields: { password: 'nine patient lighthouses', others: 'end' } },
  '/developer/account end': {
    make: account,
    async send(visitor, path) {
      await signIn(api, mine);
      const { id } = await api.prisma.session.findFirstOrThrow({ orderBy: { id: 'desc' } });
      return visitor.submit(path, 'end', { id: Number(id) });
    },
    leaves: ['user.invited', 'session.began', 'session.ended'],
  },
  '/developer/account leave': {
    make: account,
    send: async (_visitor, path) => (await signIn(api, mine)).submit(path, 'leave'),
    leaves: ['user.invited', 'session.began', 'session.ended'],
  },
};

/** The forms that need an authenticator. test/developer/audit.test.ts tests their entries. */
const passkeyForms = ['/developer/account passkey', '/developer/account removePasskey'];

describe('forms', () => {
  const forms = pages.flatMap(({ path, forms = {} }) =>
    Object.entries(forms).map(([name, { audit }]) => ({ title: `${path} ${name}`, path, name, audit })),
  );
  const audited = forms.filter(({ audit, title }) => audit !== null && !passkeyForms.includes(title));

  it('has a sample for every form that changes data', () => {
    expect(Object.keys(formSamples).sort()).toEqual(audited.map(({ title }) => title).sort());
  });

  it.each(audited)('$title records one audit entry', async ({ title, path, name, audit }) => {
    const { make, fields = {}, hasEtag = false, leaves = [audit], send } = formSamples[title] as FormSample;
    const address = (await make?.()) ?? path;
    const etag: Fields = hasEtag ? { etag: await etagOf(admin, address) } : {};
    const entries = await entriesOf(async () => {
      if (send !== undefined) return send(admin, address);
      const typed = typeof fields === 'function' ? await fields() : fields;
      const { status, text } = await admin.submit(address, name, { ...typed, ...etag });
      expect(status, text).toBe(303);
    });
    expect(entries.map(({ action }) => action)).toEqual(leaves);
    const own = entries.filter(({ action }) => action !== 'user.invited' || leaves[0] !== 'user.invited');
    for (const entry of own) expect(entry).toMatchObject({ userId: BigInt(mine.userId), address: '127.0.0.1' });
    expect(entries.filter(({ targetType }) => targetType === null)).toEqual([]);
  });
});

describe('commands', () => {
  /** The nouns whose verbs change users, teams, ticket categories, fields, keys, webhooks or settings. */
  const audited = ['tenants', 'business-hours', 'users', 'teams', 'categories', 'fields', 'forms', 'keys', 'webhooks'];
  const others = [
    ...['projects', 'assets', 'articles', 'deliveries', 'tickets', 'comments', 'tasks', 'audit', 'requests'],
    ...['cells', 'secrets', 'listen', 'seed', 'doctor', 'migrate', 'completion'],
  ];
  const reading = ['list', 'show', 'export', 'test', 'template'];

  /** The commands with the actions that they leave. Each command uses the objects of the commands before it. */
  const steps: [command: string, actions: string[]][] = [
    ['tenants create --name Acme --admin-email ada@acme.example', ['workspace.created', 'user.created']],
    ['tenants update Acme --name Apex --target-high 240', ['settings.updated']],
    ['tenants update Apex --target-high 240', []],
    ['tenants update Apex --max-key-days 365', ['settings.updated']],
    ['tenants update Apex --strict-fields true', ['settings.updated']],
    ['tenants update Apex --strict-fields true', []],
    [
      'business-hours set --tenant Apex --time-zone Europe/Berlin --intervals mon-fri,09:00-17:30',
      ['settings.updated'],
    ],
    ['business-hours set --tenant Apex --time-zone Europe/Berlin', []],
    ['business-hours clear --tenant Apex', ['settings.updated']],
    ['business-hours clear --tenant Apex', []],
    ['tenants deactivate Apex', ['workspace.deactivated']],
    ['tenants deactivate Apex', []],
    ['tenants activate Apex', ['workspace.activated']],
    ['tenants maintenance Apex on', ['maintenance.began']],
    ['tenants maintenance Apex off', ['maintenance.ended']],
    ['users create --tenant Apex --name Grace --email grace@acme.example --role AGENT', ['user.created']],
    ['users update grace@acme.example --tenant Apex --role ADMIN --phone 1234567', ['user.updated']],
    ['users invite grace@acme.example --tenant Apex', ['user.invited']],
    ['teams create --tenant Apex --name Network --members grace@acme.example', ['team.created']],
    ['teams update TEAM --tenant Apex --description Routers', ['team.updated']],
    ['teams update TEAM --tenant Apex --members grace@acme.example', []],
    ['teams deactivate TEAM --tenant Apex', ['team.updated']],
    ['teams activate TEAM --tenant Apex', ['team.updated']],
    ['fields create TICKET site --tenant Apex --type SELECT --label Racks --options b=Cellar', ['field.created']],
    ['fields update TICKET site --tenant Apex --label Rooms', ['field.updated']],
    ['fields update TICKET site --tenant Apex --label Rooms', []],
    ['fields deactivate TICKET site --tenant Apex', ['field.updated']],
    ['fields activate TICKET site --tenant Apex', ['field.updated']],
    ['categories create network --tenant Apex --name Network --category NETWORK', ['category.created']],
    ['categories update network --tenant Apex --name Cables', ['category.updated']],
    ['categories update network --tenant Apex --name Cables', []],
    ['categories deactivate network --tenant Apex', ['category.updated']],
    ['categories activate network --tenant Apex', ['category.updated']],
    ['categories import CSV --tenant Apex', ['category.created', 'category.created']],
    ['forms create laptop --tenant Apex --name Laptops --type CHANGE --category HARDWARE', ['form.created']],
    ['forms update laptop --tenant Apex --name Notebooks', ['form.updated']],
    ['forms update laptop --tenant Apex --name Notebooks', []],
    ['forms deactivate laptop --tenant Apex', ['form.updated']],
    ['forms activate laptop --tenant Apex', ['form.updated']],
    [
      'keys create --tenant Apex --user grace@acme.example --name move --scopes all --expires-in-days 7 --import',
      ['key.created'],
    ],
    ['keys update KEY --scopes tickets:read', ['key.changed']],
    ['keys rotate KEY --overlap-hours 1', ['key.rotated']],
    ['keys revoke KEY', ['key.revoked']],
    ['keys deactivate KEY', []],
    ['users deactivate grace@acme.example --tenant Apex', ['user.deactivated', 'key.revoked']],
    ['users activate grace@acme.example --tenant Apex', ['user.activated']],
    [
      'webhooks create --tenant Apex --url https://hooks.example.com/t0ken --events ticket.created',
      ['webhook.created'],
    ],
    ['webhooks update WEBHOOK --tenant Apex --paused true', ['webhook.changed']],
    ['webhooks deactivate WEBHOOK --tenant Apex', ['webhook.deleted']],
    ['webhooks activate WEBHOOK --tenant Apex', ['webhook.activated']],
    ['users erase grace@acme.example --tenant Apex --yes', ['user.erased']],
  ];

  it('has a step for every command that changes users, teams, categories, fields, keys, webhooks or settings', async () => {
    expect([...audited, ...others].sort()).toEqual(Object.keys(commands).sort());
    const verbs = await Promise.all(
      audited.map(async (noun) => {
        const loaded = await commands[noun]?.load();
        const names = loaded !== undefined && 'verbs' in loaded ? Object.keys(loaded.verbs) : [];
        return names.map((verb) => `${noun} ${verb}`);
      }),
    );
    const changing = verbs
      .flat()
      // test/cli/tenant-transfer.test.ts tests the commands that create or delete a whole audit log.
      .filter((name) => !reading.includes(name.split(' ')[1] ?? '') && !/^tenants (import|delete)$/.test(name));
    expect([...new Set(steps.map(([command]) => command.split(' ').slice(0, 2).join(' ')))].sort()).toEqual(
      changing.sort(),
    );
  });

  it('records one audit entry with the operating-system user for each command', async () => {
    const itsm = commandLine(api.databaseUrl);
    const folder = await mkdtemp(join(tmpdir(), 'itsm-audit-'));
    const named: Record<string, string> = { CSV: join(folder, 'categories.csv') };
    await writeFile(named.CSV as string, 'id,name,parentId\nvpn,VPN,access\naccess,Access,\n');
    for (const [command, actions] of steps) {
      const entries = await entriesOf(async () => {
        const { code, stderr } = await itsm(
          command.replace(/\b(KEY|WEBHOOK|TEAM|CSV)\b/, (name) => named[name] ?? name),
        );
        expect(code, stderr).toBe(0);
      });
      expect(
        entries.map(({ action }) => action),
        command,
      ).toEqual(actions);
      for (const entry of entries) {
        expect(entry, command).toMatchObject({ userId: null, keyId: null, osUser: userInfo().username });
        named[(entry.targetType ?? '').toUpperCase()] ??= String(entry.targetId);
      }
    }
  });
});

it('stores what changed, but no names, email addresses or secrets', async () => {
  const entries = await api.prisma.auditEntry.findMany({ orderBy: { id: 'asc' } });
  const changesOf = (action: string) =>
    entries.filter((entry) => entry.action === action).map(({ changes }) => changes);
  expect(changesOf('key.changed')).toContainEqual({
    scopes: { from: ['tickets:read', 'users:read'], to: ['tickets:read'] },
  });
  expect(changesOf('key.changed')).toContainEqual({ name: null });
  expect(changesOf('key.rotated')).toContainEqual(
    expect.objectContaining({ successor: { from: null, to: expect.any(Number) } }),
  );
  expect(changesOf('key.created')).toContainEqual(expect.objectContaining({ isImport: { from: null, to: true } }));
  expect(changesOf('user.updated')).toContainEqual({ role: { from: 'AGENT', to: 'ADMIN' }, name: null });
  expect(changesOf('team.created')).toContainEqual({
    active: { from: null, to: true },
    memberIds: { from: null, to: [expect.any(Number)] },
  });
  expect(changesOf('team.updated')).toEqual(
    expect.arrayContaining([{ description: null }, { active: { from: true, to: false } }]),
  );
  const options = [{ value: 'b', active: true }];
  const rules = { type: 'SELECT', required: false, filterable: false, active: true, options };
  expect(changesOf('field.created')).toContainEqual({ 'TICKET.site': { from: null, to: rules } });
  expect(changesOf('field.updated')).toEqual(
    expect.arrayContaining([
      { 'TICKET.site': null },
      { 'TICKET.site': { from: rules, to: { ...rules, active: false } } },
    ]),
  );
  expect(entries.find(({ targetKey }) => targetKey === 'network')).toMatchObject({
    ...{ action: 'category.created', targetType: 'category', targetId: null },
    changes: { category: { from: null, to: 'NETWORK' }, active: { from: null, to: true } },
  });
  expect(changesOf('category.updated')).toContainEqual({ name: null });
  expect(changesOf('webhook.changed')).toContainEqual({ paused: { from: false, to: true } });
  expect(changesOf('webhook.changed')).toContainEqual({ secret: null });
  expect(changesOf('settings.updated')).toContainEqual(
    expect.objectContaining({
      resolutionTargets: { from: expect.anything(), to: expect.objectContaining({ HIGH: 240 }) },
    }),
  );
  const text = JSON.stringify(entries, (_, value) => (typeof value === 'bigint' ? Number(value) : value));
  expect(text).not.toMatch(
    /@|Grace|Ada|Sam|exporter|Acme|Apex|t0ken|hidden|whsec_|1234567|scanner|Routers|Cables|Racks|Rooms|Cellar/,
  );
});
