import { Readable } from 'node:stream';
import { type Endpoint, pathPrefix, Scope } from '@itsm-api/contract';
import { contract } from '@itsm-api/contract/ts-rest';
import { updateUser } from '@itsm-api/server/resources/users/user-management.ts';
import { describe, expect } from 'vitest';
import { api, itWithApi as it } from '../support/fixture.ts';
import { areaOrigin, type Fields, signIn, type Visitor } from '../support/visitor.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

let mine: Workspace;
let theirs: Workspace;
let admin: Visitor;
let agent: Visitor;
let agentsKey: bigint | undefined;
const list = '/developer/keys';
const fresh = `${list}/new`;
const newKey = { name: 'nightly export', scopes: ['tickets:read', 'users:read'], expiresInDays: '60' };

it.beforeAll(async () => {
  [mine, theirs] = [await createWorkspace(api), await createWorkspace(api)];
  admin = await signIn(api, mine);
  const { id } = await mine.createUser({ role: 'AGENT' });
  agent = await signIn(api, { tenantId: mine.tenantId, userId: id });
  [agentsKey] = await addKeys(id);
});

/** Inserts API keys for a user in the workspace `mine`. Returns the IDs of the keys. */
async function addKeys(userId: number, ...names: string[]): Promise<bigint[]> {
  const rows = await api.prisma.apiKey.createManyAndReturn({
    data: (names.length > 0 ? names : ['theirs']).map((name) => ({
      ...{ tenantId: mine.tenantId, userId: BigInt(userId), name, scopes: ['tickets:read'] },
      ...{ hash: Buffer.from(crypto.randomUUID()), lastFour: 'aB3d' },
    })),
  });
  return rows.map(({ id }) => id);
}

/** Creates an API key in the developer area. Returns the key and the path of its page. */
async function make(name: string): Promise<{ page: string; key: string }> {
  const sent = await admin.submit(fresh, 'create', { ...newKey, name });
  expect(sent.status, sent.text).toBe(303);
  const page = sent.headers.location as string;
  return { page, key: keyIn((await admin.get(page)).text) as string };
}
const keyIn = (html: string) => /itsm_\w{38}/.exec(html)?.[0];
const statusWith = async (key: string, path = '/users') =>
  (await api.call({ method: 'GET', path: pathPrefix + path, key })).status;
const stateOn = (html: string) => /class="badge \w+">(\w+)</.exec(html)?.[1];
const auditOf = (action: string) =>
  api.prisma.auditEntry.findMany({ where: { tenantId: mine.tenantId, action }, orderBy: { id: 'desc' } });

describe('/developer/keys/new', () => {
  it('lists the endpoints of each scope in the API key form and preselects no scope', async () => {
    const { text } = await admin.get(fresh);
    expect(text).not.toMatch(/type="checkbox"[^>]*checked/);
    const groups = Object.fromEntries(
      [...text.matchAll(/data-scope="(\S+)">(.*?)<\/div>/gs)].map(([, scope, html]) => [scope, html]),
    );
    expect(Object.keys(groups)).toEqual(Scope.options);
    for (const routes of Object.values(contract)) {
      for (const { metadata, method, path } of Object.values(routes as Record<string, Endpoint>)) {
        const shown = `${method} ${path.slice(pathPrefix.length).replace(/:(\w+)/g, '{$1}')}</code>`;
        const scopes = Object.keys(groups).filter((scope) => groups[scope]?.includes(shown));
        const { scope } = metadata;
        expect(scopes, shown).toEqual(scope === 'any' || scope === null ? [] : [scope]);
      }
    }
  });

  it('shows a new API key once, with samples for curl, the client library and AI agents', async () => {
    const sent = await admin.submit(fresh, 'create', newKey);
    expect(sent.status).toBe(303);
    const page = sent.headers.location as string;
    const shown = await admin.get(page);
    const key = keyIn(shown.text) as string;
    expect(shown.headers['cache-control']).toContain('no-store');
    expect(shown.text).toContain(`/api/public/v1/me`);
    expect(shown.text).toContain('new ItsmClient(');
    expect(shown.text).toMatch(/claude mcp add --transport http itsm http\S+\/mcp /);
    for (const program of ['.vscode/mcp.json', '.cursor/mcp.json']) expect(shown.text).toContain(program);
    // Four samples on the page contain the key, but the samples of settings files don't.
    expect(shown.text.split(key)).toHaveLength(5);
    expect(await Promise.all([statusWith(key), statusWith(key, '/assets')])).toEqual([200, 403]);

    expect(keyIn((await admin.get(page)).text)).toBeUndefined();
    const { text } = await admin.get(list);
    expect(text.split('nightly export')).toHaveLength(2);
    const entries = await auditOf('key.created');
    expect(entries).toMatchObject([{ targetType: 'key', changes: { scopes: { to: newKey.scopes } } }]);
    expect(JSON.stringify(entries, (_, value) => String(value))).not.toContain(key);
  });

  it('creates an import key, which expires within 30 days, and marks it in the audit log', async () => {
    const long = await admin.submit(fresh, 'create', { ...newKey, name: 'move', expiresInDays: '90', isImport: 'yes' });
    expect(long.status).toBe(400);
    expect(long.text).toContain('must be at most 30 days after the creation of an import key');
    const sent = await admin.submit(fresh, 'create', { ...newKey, name: 'move', expiresInDays: '30', isImport: 'yes' });
    const page = sent.headers.location as string;
    const { text } = await admin.get(page);
    expect(text).toContain('Can set original times and authors');
    expect((await auditOf('key.created'))[0]?.changes).toMatchObject({ isImport: { from: null, to: true } });
    const { isImport } = await api.prisma.apiKey.findFirstOrThrow({
      where: { id: BigInt(page.split('/').at(-1) ?? '') },
    });
    expect(isImport).toBe(true);
    expect((await admin.submit(page, 'rotate', { overlapHours: 0 })).status).toBe(303);
    expect((await auditOf('key.rotated'))[0]?.changes).toMatchObject({ isImport: { from: null, to: true } });
  });

  it('shows errors in the API key form next to the fields and keeps the entered values', async () => {
    const sent = await admin.submit(fresh, 'create', {
      name: '<script>alert(1)</script>',
      expiresInDays: '1e3',
      scopes: ['tickets:reed'],
    });
    expect(sent.status).toBe(400);
    expect(sent.text).toContain('must be a whole number of days from 1 to 3650');
    expect(sent.text).toContain('must not contain tickets:reed');
    expect(sent.text).not.toContain('<script>alert');
    expect(sent.text).toContain('&lt;script&gt;alert(1)');
    const none = await admin.submit(fresh, 'create', { name: ' ', expiresInDays: '30' });
    expect(none.text).toContain('must contain at least one scope');
    expect(none.text).toContain('must have at least 1 character');
  });
});

describe('/developer/keys/:id', () => {
  it('changes, rotates and revokes an API key in the developer area', async () => {
    const { page, key } = await make('importer');
    const send = (form: string, fields: Fields) => admin.submitAndFollow(page, form, fields);
    expect((await send('rename', { name: 'exporter' })).text).toContain('<h1>exporter</h1>');
    expect(stateOn((await admin.get(page)).text)).toBe('active');

    await send('narrow', { scopes: ['users:read'] });
    await expect.poll(() => statusWith(key, '/tickets')).toBe(403);
    const wider = await admin.submit(page, 'narrow', { scopes: ['users:read', 'tickets:read'] });
    expect([wider.status, wider.text.includes('this key lacks tickets:read. Create a new key')]).toEqual([400, true]);

    const endless = await send('end', { expiresInDays: 'never' });
    expect(endless.text).toContain('<dd>No expiry</dd>');

    const rotated = await send('rotate', { overlapHours: 12 });
    const next = keyIn(rotated.text) as string;
    expect(next).not.toBe(key);
    expect(rotated.text).toContain(`href="${page}"`);
    expect(await Promise.all([statusWith(key), statusWith(next)])).toEqual([200, 200]);
    const replaced = (await admin.get(page)).text;
    expect(stateOn(replaced)).toBe('expiring');
    expect(replaced).toMatch(/<dt>Replaced by<\/dt><dd><a href="\/developer\/keys\/\d+">key \d+<\/a>/);

    const mistyped = await admin.submit(page, 'revoke', { confirmation: 'importer' });
    expect([mistyped.status, mistyped.text.includes('must be the name of the key: exporter')]).toEqual([400, true]);
    expect(await statusWith(key)).toBe(200);
    const revoked = await send('revoke', { confirmation: ' exporter ' });
    expect([stateOn(revoked.text), revoked.text.includes('<form method="post"')]).toEqual(['revoked', false]);
    await expect.poll(() => statusWith(key)).toBe(401);
    expect(await statusWith(next)).toBe(200);
  });

  it('returns the same 404 page for API keys of another workspace and unknown keys', async () => {
    const { page } = await make('not theirs');
    const stranger = await signIn(api, theirs);
    const token = await stranger.tokenOf(fresh);
    const missing = `${list}/999999999`;
    const forms = {
      rename: { name: 'x' },
      end: { expiresInDays: '30' },
      networks: { allowedNetworks: '' },
      narrow: { scopes: ['users:read'] },
    };
    const others = { rotate: { overlapHours: 0 }, revoke: { confirmation: 'not theirs' } };
    for (const [form, fields] of Object.entries({ ...forms, ...others })) {
      const [foreign, absent] = [page, missing].map((path) => stranger.submit(path, form, fields, token));
      expect(await foreign).toMatchObject({ status: 404, text: (await absent)?.text });
    }
    const seen = await Promise.all([page, missing].map((path) => stranger.get(path)));
    expect(seen.map(({ status, text }) => [status, text])).toEqual([404, 404].map((code) => [code, seen[1]?.text]));
    expect((await stranger.get(list)).text).not.toContain('not theirs');
    expect(stateOn((await admin.get(page)).text)).toBe('active');
  });

  it('lets users with the role AGENT view only their own API keys, and not change them', async () => {
    const { page } = await make('of an administrator');
    const { text } = await agent.get(list);
    expect([...text.matchAll(/keys\/(\d+)"/g)].map(([, id]) => id)).toEqual([String(agentsKey)]);
    expect((await agent.get(`${list}?user=${mine.userId}`)).text).not.toContain('of an administrator');
    const own = await agent.get(`${list}/${agentsKey}`);
    expect([own.status, own.text.match(/id="form-\w+"/g)]).toEqual([200, ['id="form-rotate"', 'id="form-revoke"']]);
    expect((await agent.get(page)).status).toBe(404);
    const token = await agent.tokenOf('/developer/account');
    const tries = [
      agent.submit(`${list}/${agentsKey}`, 'networks', { allowedNetworks: '' }, token),
      agent.submit(page, 'rename', { name: 'mine now' }, token),
      agent.submit(page, 'rotate', { overlapHours: 0 }, token),
      agent.submit(page, 'revoke', { confirmation: 'of an administrator' }, token),
    ];
    expect((await Promise.all(tries)).map(({ status }) => status)).toEqual([403, 403, 404, 404]);
  });

  it('applies the role that a user has after the form has arrived', async () => {
    const { id } = await mine.createUser({ role: 'ADMIN' });
    const former = await signIn(api, { tenantId: mine.tenantId, userId: id });
    const fields = { _csrf: await former.tokenOf(fresh), ...newKey, name: 'late', scopes: 'webhooks:manage' };
    async function* demoteBefore(body: string) {
      await updateUser(mine.context, id, { role: 'AGENT' });
      yield body;
    }
    const { statusCode, body } = await api.app.inject({
      ...{ method: 'POST', url: `${fresh}?form=create` },
      headers: {
        ...{ origin: areaOrigin, 'content-type': 'application/x-www-form-urlencoded' },
        'transfer-encoding': 'chunked',
        cookie: [...former.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      },
      payload: Readable.from(demoteBefore(new URLSearchParams(fields).toString()), { objectMode: false }),
    });
    expect(statusCode, body).toBe(400);
    expect(await api.prisma.apiKey.count({ where: { tenantId: mine.tenantId, name: 'late' } })).toBe(0);
  });

  it('lets users with the role AGENT create, rotate and revoke their own API keys without webhooks:manage', async () => {
    const form = (await agent.get(fresh)).text;
    expect([form.includes('value="webhooks:manage"'), form.includes('name="user"')]).toEqual([false, false]);
    const reject = async (fields: Fields, message: string) => {
      const { status, text } = await agent.submit(fresh, 'create', { ...newKey, ...fields });
      expect([status, text.includes(message)], text).toEqual([400, true]);
    };
    await reject({ user: (await mine.createUser()).email }, 'must be your own email address');
    await reject({ scopes: ['tickets:read', 'webhooks:manage'] }, 'must not contain webhooks:manage.');
    await reject({ isImport: 'yes' }, 'must be an administrator');

    const made = await agent.submitAndFollow(fresh, 'create', { ...newKey, name: 'my script' });
    expect(await statusWith(keyIn(made.text) as string)).toBe(200);
    const { id } = await api.prisma.apiKey.findFirstOrThrow({ where: { tenantId: mine.tenantId, name: 'my script' } });
    const rotated = await agent.submitAndFollow(`${list}/${id}`, 'rotate', { overlapHours: 0 });
    const next = keyIn(rotated.text) as string;
    expect(await statusWith(next)).toBe(200);
    const [successor] = await api.prisma.apiKey.findMany({ where: { tenantId: mine.tenantId, rotatedFrom: id } });
    await agent.submit(`${list}/${successor?.id}`, 'revoke', { confirmation: 'my script' });
    await expect.poll(() => statusWith(next)).toBe(401);

    // An administrator gave this key a scope that the agent can't grant.
    const [wide] = await addKeys(Number((await api.prisma.apiKey.findFirstOrThrow({ where: { id } })).userId), 'wide');
    await api.prisma.apiKey.updateMany({ where: { id: wide as bigint }, data: { scopes: ['webhooks:manage'] } });
    const page = `${list}/${wide}`;
    expect((await agent.get(page)).text).not.toContain('form-rotate');
    expect((await agent.submit(page, 'rotate', { overlapHours: 0 })).status).toBe(400);
    expect(await api.prisma.apiKey.count({ where: { rotatedFrom: wide as bigint } })).toBe(0);
  });

  it('creates an API key for a service account with allowed networks, and changes the networks', async () => {
    const { email } = await mine.createUser({ name: 'Export', kind: 'SERVICE' });
    expect((await admin.get(`${fresh}?user=${encodeURIComponent(email)}`)).text).toContain(`value="${email}"`);
    const fields = { ...newKey, name: 'of a program', user: email };
    const wrong = await admin.submit(fresh, 'create', { ...fields, allowedNetworks: '10.0.0.0/33' });
    expect([wrong.status, wrong.text.includes('but contains 10.0.0.0/33')]).toEqual([400, true]);
    const { text } = await admin.submitAndFollow(fresh, 'create', {
      ...{ ...fields, allowedNetworks: '127.0.0.0/8\r\n2001:DB8::1/32\r\n' },
    });
    const key = keyIn(text) as string;
    expect(text).toContain(`<dt>User</dt><dd>${email}</dd>`);
    expect(text).toContain('<code>127.0.0.0/8</code> <code>2001:db8::/32</code>');
    expect(await statusWith(key)).toBe(200);
    const { id } = await api.prisma.apiKey.findFirstOrThrow({ where: { tenantId: mine.tenantId, name: fields.name } });
    await admin.submit(`${list}/${id}`, 'networks', { allowedNetworks: '192.0.2.7' });
    await expect.poll(() => statusWith(key)).toBe(403);
    expect((await admin.submitAndFollow(`${list}/${id}`, 'networks', { allowedNetworks: '' })).text).toContain(
      '<dt>Allowed networks</dt><dd>All</dd>',
    );
    await expect.poll(() => statusWith(key)).toBe(200);
  });
});

describe('/developer/keys', () => {
  it('filters, sorts and paginates the list of API keys', async () => {
    const { id } = await mine.createUser({ role: 'ADMIN', email: `list-${mine.tenantId}@example.com` });
    const [first] = await addKeys(id, 'b one', 'a two', 'c three', '<i>');
    await api.prisma.usageHour.createMany({
      data: [0, 5].map((hoursAgo) => ({
        ...{ tenantId: mine.tenantId, keyId: first as bigint, endpoint: 'tickets_list', outcome: 'SUCCESSFUL' },
        ...{ at: new Date(Math.floor(Date.now() / 3_600_000 - hoursAgo) * 3_600_000), requests: 3 + hoursAgo },
        ...{ latencies: [], globalPeak: 1, groupPeak: 1 },
      })),
    });
    const names = async (query: string) => {
      const { status, text } = await admin.get(`${list}?user=${id}&${query}`);
      expect(status).toBe(200);
      return [...text.matchAll(/keys\/\d+">(.*?)<\/a>/g)].map(([, name]) => name);
    };
    expect(await names('sort=name')).toEqual(['&lt;i&gt;', 'a two', 'b one', 'c three']);
    expect(await names('sort=-name&q=&state=active&scope=tickets:read')).toHaveLength(4);
    expect(await names('q=THREE')).toEqual(['c three']);
    expect(await names('sort=name&perPage=3&page=2')).toEqual(['c three']);
    expect((await admin.get(`${list}?state=revoked&user=${id}`)).text).toContain('Show all API keys');
    expect((await admin.get(`${list}?q=b+one`)).text).toContain('aria-label="11 requests, at most 8 per hour"');
    expect((await admin.get(`${list}?state=dead`)).status).toBe(400);
    expect((await admin.get(list)).text.includes('sort=expires">1 key expires')).toBe(true);
    const keyless = await createWorkspace(api);
    await api.prisma.apiKey.deleteMany({ where: { tenantId: keyless.tenantId } });
    const empty = await (await signIn(api, keyless)).get(list);
    expect(empty.text).toContain('No API keys yet');
  });
});
