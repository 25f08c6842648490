import { once } from 'node:events';
import { request } from 'node:http';
import { createInvitation } from '@itsm-api/server/auth/accounts/invitations.ts';
import { hashPassword } from '@itsm-api/server/auth/accounts/passwords.ts';
import { countAttempt } from '@itsm-api/server/auth/accounts/sign-in-throttle.ts';
import { tenantClient } from '@itsm-api/server/database/client/tenant-client.ts';
import { activateTenant, deactivateTenant } from '@itsm-api/server/resources/tenants/queries.ts';
import { updateUser } from '@itsm-api/server/resources/users/user-management.ts';
import pg from 'pg';
import { afterEach, describe, expect, vi } from 'vitest';
import { newAuthenticator } from '../support/authenticator.ts';
import { admin, api, itAsAdmin as it, workspace as mine } from '../support/fixture.ts';
import { areaOrigin, type Fields, openBrowser, signIn, type Visitor } from '../support/visitor.ts';
import { requestsWaiting } from '../support/waiting.ts';
import { createWorkspace, unique, type Workspace } from '../support/workspace.ts';
import { samples } from './samples.ts';

/*
 * Tests attacks on the developer area. rules.test.ts tests the rules for all pages and forms.
 */

const account = '/developer/account';
const signInPath = '/developer/sign-in';
const password = 'seven wandering walruses';
const formType = 'application/x-www-form-urlencoded';

async function join(workspace: Workspace, userId: number, chosen = password): Promise<Visitor> {
  const visitor = openBrowser(api);
  const token = await createInvitation({ db: tenantClient(api.databases.system, workspace.tenantId) }, userId);
  await visitor.submit(`/developer/join?token=${token}`, 'password', { password: chosen });
  return visitor;
}

/**
 * Sends concurrent sign-in attempts from the given IP addresses with the cookies of one browser. Returns the response
 * statuses.
 */
async function attempts(visitor: Visitor, all: [address: string, fields: Fields][]): Promise<number[]> {
  const _csrf = await visitor.tokenOf(signInPath);
  const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const send = async ([remoteAddress, fields]: [string, Fields]) => {
    const payload = new URLSearchParams({ _csrf, ...(fields as Record<string, string>) }).toString();
    const headers = { origin: areaOrigin, cookie, 'content-type': formType };
    const url = `${signInPath}?form=password`;
    return (await api.app.inject({ method: 'POST', url, remoteAddress, headers, payload })).statusCode;
  };
  return Promise.all(all.map(send));
}

/** Records a failed sign-in attempt in the same way as the server. */
const count = (email: string, address: string) => countAttempt(api.databases, { email, address });

describe('password guessing', () => {
  it('limits password guesses by an attacker who has another account with the same email address', async () => {
    const [victims, theirs] = [await createWorkspace(api), await createWorkspace(api)];
    const email = `${unique()}@example.com`;
    await join(victims, (await victims.createUser({ email, role: 'ADMIN' })).id);
    const own = 'nine patient lighthouses';
    const attacker = await join(theirs, (await theirs.createUser({ email, role: 'ADMIN' })).id, own);
    await attacker.submit(account, 'leave');
    await Promise.all(Array.from({ length: 100 }, (_, i) => count(email, `198.51.100.${i % 10}`)));
    // From a new IP address, the server rejects the victim's password but accepts the attacker's own password.
    expect(await attempts(attacker, [['198.51.100.200', { email, password }]])).toEqual([400]);
    expect(await attempts(attacker, [['198.51.100.201', { email, password: own }]])).toEqual([303]);
  });

  it('blocks sign-in attempts from an IP address over the limit without storing the blocked attempts', async () => {
    const email = `${unique()}@example.com`;
    await join(mine, (await mine.createUser({ email, role: 'ADMIN' })).id);
    const from = '203.0.113.1';
    await Promise.all(Array.from({ length: 50 }, (_, i) => count(`${i % 5}${email}`, from)));
    const before = await api.prisma.signInFailure.count();
    const more = Array.from({ length: 200 }, (_, i): [string, Fields] => {
      return [from, { email: i % 2 === 0 ? email : `${i}${email}`, password: 'guess' }];
    });
    expect(new Set(await attempts(openBrowser(api), more))).toEqual(new Set([429]));
    expect(await api.prisma.signInFailure.count()).toBe(before);
    expect(await attempts(openBrowser(api), [['203.0.113.2', { email, password }]])).toEqual([303]);
    // The server blocks sign-in attempts without waiting for database locks.
    await api.owner.prisma.$transaction(async (holding) => {
      await holding.$queryRaw`SELECT FROM sign_in_failures FOR UPDATE`;
      const flood = await attempts(openBrowser(api), Array(20).fill([from, { email, password: 'guess' }]));
      expect(new Set(flood)).toEqual(new Set([429]));
    });
  });

  it('counts no failed attempt for the IP address if the password matches one of several accounts', async () => {
    const email = `${unique()}@example.com`;
    await join(mine, (await mine.createUser({ email, role: 'ADMIN' })).id);
    const elsewhere = await createWorkspace(api);
    await join(elsewhere, (await elsewhere.createUser({ email, role: 'ADMIN' })).id, 'nine patient lighthouses');
    const office = '203.0.113.60';
    await Promise.all(Array.from({ length: 49 }, (_, i) => count(`${i}${email}`, office)));
    for (let i = 0; i < 3; i++)
      expect(await attempts(openBrowser(api), [[office, { email, password }]])).toEqual([303]);
  });

  it('does not count sign-in attempts that fail because the password queue is full', async () => {
    const email = `${unique()}@example.com`;
    await join(mine, (await mine.createUser({ email, role: 'ADMIN' })).id);
    const home = '203.0.113.61';
    for (let round = 0; round < 2; round++) {
      const rush = Array.from({ length: 101 }, () => hashPassword(password));
      const statuses = await attempts(openBrowser(api), Array(9).fill([home, { email, password }]));
      expect(statuses).toContain(429);
      await Promise.all(rush);
    }
    expect(await attempts(openBrowser(api), [[home, { email, password }]])).toEqual([303]);
  });

  it.each(['unknown', '203.0.113.7:49152', '[2001:db8::1]:443', 'fe80::1%eth0', '::ffff:203.0.113.8'])(
    'limits sign-in attempts from the IP address %s',
    async (address) => {
      const fields = { email: `${unique()}@example.com`, password: 'guess' };
      const statuses = await attempts(openBrowser(api), Array(11).fill([address, fields]));
      expect(statuses.sort()).toEqual([...Array(10).fill(400), 429]);
    },
  );
});

describe('passkeys', () => {
  const key = newAuthenticator();
  let owner: number;

  it.beforeAll(async () => {
    owner = (await mine.createUser({ role: 'ADMIN' })).id;
    const token = await createInvitation({ db: tenantClient(api.databases.system, mine.tenantId) }, owner);
    const [visitor, link] = [openBrowser(api), `/developer/join?token=${token}`];
    const response = key.create((await visitor.get(link)).text);
    expect((await visitor.submit(link, 'passkey', { response })).status).toBe(303);
  });
  afterEach(() => vi.useRealTimers());

  const send = async (visitor: Visitor, response: string) =>
    (await visitor.submit(signInPath, 'passkey', { response })).status;

  it('accepts a passkey challenge once, within 5 minutes, from the browser that requested it', async () => {
    const visitor = openBrowser(api);
    const response = key.get((await visitor.get(signInPath)).text);
    expect(await send(openBrowser(api), response)).toBe(400);
    expect(await send(visitor, response)).toBe(303);
    await visitor.submit(account, 'leave');
    expect(await send(visitor, response)).toBe(400);

    const late = key.get((await visitor.get(signInPath)).text);
    const token = await visitor.tokenOf(signInPath);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 6 * 60_000 });
    const { status, text } = await visitor.submit(signInPath, 'passkey', { response: late }, token);
    expect([status, text.includes('the page was open for too long')]).toEqual([400, true]);
  });

  it('accepts a passkey challenge only once, even if an attacker copies the challenge cookie', async () => {
    const visitor = openBrowser(api);
    const response = key.get((await visitor.get(signInPath)).text);
    const token = await visitor.tokenOf(signInPath);
    const browsers = [visitor, openBrowser(api), openBrowser(api)];
    for (const browser of browsers) for (const [name, value] of visitor.cookies) browser.cookies.set(name, value);
    const sent = browsers.map((browser) => browser.submit(signInPath, 'passkey', { response }, token));
    expect((await Promise.all(sent)).map(({ status }) => status).sort()).toEqual([303, 400, 400]);
  });

  it('requires user verification for a passkey at registration and at sign-in', async () => {
    const { id } = await mine.createUser({ role: 'ADMIN' });
    const token = await createInvitation({ db: tenantClient(api.databases.system, mine.tenantId) }, id);
    const [visitor, link] = [openBrowser(api), `/developer/join?token=${token}`];
    const other = newAuthenticator();
    const made = async (verifies: boolean) => other.create((await visitor.get(link)).text, { verifies });
    expect((await visitor.submit(link, 'passkey', { response: await made(false) })).status).toBe(400);
    expect((await visitor.submit(link, 'passkey', { response: await made(true) })).status).toBe(303);

    const signs = async (verifies: boolean) => other.get((await visitor.get(signInPath)).text, { verifies });
    await visitor.submit(account, 'leave');
    expect(await send(visitor, await signs(false))).toBe(400);
    expect(await send(visitor, await signs(true))).toBe(303);
  });

  it('rejects the registration of a passkey that is already registered', async () => {
    const { id } = await mine.createUser({ role: 'ADMIN' });
    const other = newAuthenticator();
    const add = async (visitor: Visitor) =>
      visitor.submit(account, 'passkey', { response: other.create((await visitor.get(account)).text) });
    expect((await add(admin)).status).toBe(303);
    for (const visitor of [admin, await join(mine, id)]) {
      const { status, text } = await add(visitor);
      expect([status, text.includes('This passkey is already registered. Create a different one.')]).toEqual([
        400,
        true,
      ]);
    }
  });

  it.each<[string, (page: string) => string]>([
    ['is signed for another site', (page) => key.get(page, { origin: 'https://evil.example' })],
    ['is not registered', (page) => withHandle(newAuthenticator().get(page), `${mine.tenantId}.${owner}`)],
    ['claims another workspace', (page) => withHandle(key.get(page), '999999999.1')],
    ['claims another user', (page) => withHandle(key.get(page), `${mine.tenantId}.${mine.userId}`)],
    ['has an invalid user handle', (page) => withHandle(key.get(page), 'x')],
    ['is not an object', () => 'null'],
    ['is empty', () => '{"id":"a","response":{"userHandle":""}}'],
  ])('rejects a passkey response that %s', async (_what, made) => {
    const visitor = openBrowser(api);
    expect(await send(visitor, made((await visitor.get(signInPath)).text))).toBe(400);
    expect((await visitor.get(account)).status).toBe(303);
  });

  it('rejects the passkey of a deactivated user', async () => {
    await admin.submit(`/developer/users/${owner}`, 'deactivate');
    const visitor = openBrowser(api);
    expect(await send(visitor, key.get((await visitor.get(signInPath)).text))).toBe(400);
  });
});

/** Replaces the user handle in an authenticator's passkey response. */
function withHandle(response: string, user: string): string {
  const given = JSON.parse(response);
  given.response.userHandle = Buffer.from(user).toString('base64url');
  return JSON.stringify(given);
}

it('escapes stored text on every page of the developer area', async () => {
  const script = '<script>alert(1)</script>';
  const workspace = await createWorkspace(api);
  const { tenantId } = workspace;
  await api.prisma.tenant.update({ where: { id: tenantId }, data: { name: `${script}${tenantId}` } });
  await api.prisma.user.updateMany({ where: { tenantId }, data: { name: script, jobTitle: `"'${script}` } });
  await api.prisma.apiKey.updateMany({ where: { tenantId }, data: { name: script } });
  const visitor = await signIn(api, workspace);
  await visitor.submit('/developer/keys/new', 'create', { name: script, expiresInDays: 30, scopes: 'tickets:read' });
  await api.prisma.session.updateMany({ where: { tenantId }, data: { userAgent: script, address: script } });
  await api.prisma.auditEntry.updateMany({
    where: { tenantId },
    data: {
      userAgent: script,
      subject: script,
      targetType: null,
      targetId: null,
      osUser: script,
      userId: null,
      changes: { [script]: { from: script, to: [script] } },
    },
  });
  for (const [path, { params, query }] of Object.entries(samples)) {
    const named: Record<string, unknown> = (await params?.(workspace)) ?? {};
    const { text } = await visitor.get(
      path.replace(/:(\w+)/g, (_, name) => String(named[name])) + ((await query?.(workspace)) ?? ''),
    );
    expect(text, path).not.toContain('<script>alert');
  }
});

it('shows a new API key only once, even if an attacker copies the cookie', async () => {
  const fields = { name: 'once', expiresInDays: 30, scopes: 'tickets:read' };
  const { headers } = await admin.submit('/developer/keys/new', 'create', fields);
  const page = headers.location as string;
  const thief = openBrowser(api);
  for (const [name, value] of admin.cookies) thief.cookies.set(name, value);
  const cookie = [...admin.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  expect((await api.call({ method: 'HEAD', path: page, headers: { cookie } })).status).toBe(200);
  const shown = /Bearer itsm_\w+/;
  expect((await admin.get(page)).text).toMatch(shown);
  const again = await thief.get(page);
  expect([again.status, shown.test(again.text)]).toEqual([200, false]);
});

describe('forms', () => {
  const boundary = { 'content-type': 'multipart/form-data; boundary=x' };
  const part = (name: string, value: string, file = '') =>
    `--x\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${value}\r\n`;

  it.each<[string, (token: string) => [body: string, headers?: Record<string, string>], string]>([
    ['is truncated', (token) => [`${part('_csrf', token)}--x\r\nContent-Dis`], 'incomplete or malformed'],
    ['has no boundary', () => ['x', { 'content-type': 'multipart/form-data' }], 'incomplete or malformed'],
    [
      'has a field __proto__',
      (token) => [`${part('_csrf', token)}${part('__proto__', '1')}--x--\r\n`],
      'incomplete or malformed',
    ],
    ['has too many parts', (token) => [`${part('_csrf', token)}${part('a', '1').repeat(60)}--x--\r\n`], '5 fields'],
    ['has two files', () => [`${part('file', 'a', '; filename="a"').repeat(2)}--x--\r\n`], 'one file'],
    [
      'is too large',
      () => [`${part('file', 'a'.repeat(11 * 2 ** 20), '; filename="a"')}--x--\r\n`],
      `${10 * 2 ** 20} bytes`,
    ],
    ['is JSON', (token) => [JSON.stringify({ _csrf: token }), { 'content-type': 'application/json' }], formType],
  ])('shows the error of a form that %s', async (_what, send, message) => {
    const [body, headers = boundary] = send(await admin.tokenOf('/developer/assets/import'));
    const { status, text } = await admin.post('/developer/assets/import?form=upload', body, headers);
    expect([status, text.includes(message)], text).toEqual([400, true]);
  });

  it('limits the body size of forms that do not require a session', async () => {
    const visitor = openBrowser(api);
    const fields = { email: `${'a'.repeat(20_000)}@example.com`, password: 'x' };
    const { status, text } = await visitor.submit(signInPath, 'password', fields);
    expect([status, text.includes('larger than')], text).toEqual([400, true]);
  });

  it('rejects an upload without a session before the server reads the file', async () => {
    const visitor = openBrowser(api);
    const body = part('file', 'a'.repeat(2 ** 20), '; filename="a"');
    for (const path of [`${signInPath}?form=password`, '/developer/join?form=password']) {
      expect((await visitor.post(path, body, boundary)).status).toBe(400);
    }
    const { status, headers } = await visitor.post('/developer/assets/import?form=upload', body, boundary);
    expect([status, headers.location]).toEqual([303, '/developer/sign-in?next=%2Fdeveloper%2Fassets%2Fimport']);
    const ofOne = await visitor.post('/developer/users/7?form=change', body, boundary);
    expect(ofOne.headers.location).toBe('/developer/sign-in?next=%2Fdeveloper%2Fusers%2F7');
  });

  it('reads an uploaded file only if the form accepts files and the user may submit it', async () => {
    const token = await admin.tokenOf(account);
    const body = `${part('_csrf', token)}${part('name', 'a'.repeat(2 ** 20)).repeat(8)}--x--\r\n`;
    for (const type of ['multipart/form-data; boundary=x', 'Multipart/Form-Data; boundary=x']) {
      const elsewhere = await admin.post('/developer/keys/new?form=create', body, { 'content-type': type });
      expect([elsewhere.status, elsewhere.text.includes(formType)], type).toEqual([400, true]);
    }
    const { id } = await mine.createUser({ role: 'AGENT' });
    const agent = await signIn(api, { tenantId: mine.tenantId, userId: id });
    // The request body is truncated. If the server read the body, the status would be 400 instead of 403.
    const { status } = await agent.post('/developer/assets/import?form=upload', part('file', 'a'), boundary);
    expect(status).toBe(403);
  });

  it('rejects an upload form with too many fields in addition to the file', async () => {
    const token = await admin.tokenOf('/developer/assets/import');
    const body = `${part('_csrf', token)}${part('more', 'a'.repeat(2 ** 20)).repeat(20)}--x--\r\n`;
    const { status, text } = await admin.post('/developer/assets/import?form=upload', body, boundary);
    expect([status, text.includes('5 fields')], text).toEqual([400, true]);
  });

  it('rejects unknown, repeated and invalid fields of a developer area form', async () => {
    const token = encodeURIComponent(await admin.tokenOf(account));
    const post = (fields: string) =>
      admin.post('/developer/keys/new?form=create', `_csrf=${token}&${fields}`, { 'content-type': formType });
    for (const [fields, message] of [
      ['name=a&__proto__=1&constructor=2', '__proto__</a> is not a field'],
      ['name=a&name=b', 'Name</a> must be a string'],
      ['name=%00', 'must not contain control characters'],
      [Array.from({ length: 20_000 }, (_, i) => `f${i}=x`).join('&'), 'is not a field'],
    ] as const) {
      const { status, text } = await post(fields);
      expect([status, text.includes(message)], text).toEqual([400, true]);
    }
    // The server parses only the first 1000 fields, so it ignores a CSRF token at the end of a longer form.
    const late = `${'a=1&'.repeat(1500)}_csrf=${token}`;
    expect((await admin.post('/developer/keys/new?form=create', late, { 'content-type': formType })).status).toBe(403);
    expect(
      (await admin.post('/developer/keys/new?form=__proto__', `_csrf=${token}`, { 'content-type': formType })).status,
    ).toBe(404);
  });
});

describe('addresses', () => {
  it.each([
    ['audit?action=%00', 400],
    ['audit?targetId=99999999999999999999', 400],
    ['audit?page=0', 400],
    ['audit?page=1e9', 400],
    ['audit?page=1&page=2', 400],
    ['audit?__proto__=1', 400],
    ['keys?__proto__[a]=1', 400],
    ['keys?q=%00', 400],
    ['users?q=%00', 200],
    ['users?q=%E0%A4%A', 400],
    ['users?q=%ff', 400],
    ['users/%ff', 400],
    ['deliveries?since=275761-01-01T00:00', 400],
    ['tickets/99999999999999999999', 404],
    ['tickets/%00', 404],
    ['tickets?teamId=0x10', 400],
    ['tickets?teamId=1.5', 400],
    ['usage?key=9007199254740991', 404],
  ])('responds to /developer/%s with %i', async (path, expected) => {
    const { status, text } = await admin.get(`/developer/${path}`);
    expect(status, text).toBe(expected);
  });

  it('links to the last page of a list if the page number is too high', async () => {
    const { text } = await admin.get('/developer/users?page=1000000');
    expect(text).toContain('<a href="/developer/users?page=1" rel="prev">Newer</a>');
  });
});

it.each([
  ['unknown', () => 'garbage'],
  ['invalid UTF-8', () => '%ff%00'],
  ['truncated', (good: string) => good.slice(0, 50)],
  ['modified at its end', (good: string) => `${good.slice(0, -6)}AAAAAA`],
  ['8 kB long', () => 'a'.repeat(8000)],
  ['from another cookie', () => admin.cookies.get('itsm_device') ?? ''],
])('redirects to the sign-in page if the session cookie is %s', async (_what, made) => {
  const visitor = openBrowser(api);
  visitor.cookies.set('itsm_session', made(admin.cookies.get('itsm_session') ?? ''));
  const { status, headers } = await visitor.get(account);
  expect([status, headers.location]).toEqual([303, '/developer/sign-in?next=%2Fdeveloper%2Faccount']);
});

describe('ended sessions', () => {
  it('keeps sessions and invitation links of a deactivated user invalid after reactivation', async () => {
    const { id } = await mine.createUser({ role: 'ADMIN' });
    const visitor = await signIn(api, { tenantId: mine.tenantId, userId: id });
    const token = await createInvitation({ db: tenantClient(api.databases.system, mine.tenantId) }, id);
    const path = `/developer/users/${id}`;
    await admin.submit(path, 'deactivate');
    expect((await visitor.get(account)).status).toBe(303);
    await admin.submit(path, 'activate');
    expect((await visitor.get(account)).status).toBe(303);
    expect((await openBrowser(api).get(`/developer/join?token=${token}`)).text).toContain('no longer valid');
  });

  it('invalidates the sessions and invitation links of a user who becomes a REQUESTER, even temporarily', async () => {
    const { id } = await mine.createUser({ role: 'ADMIN' });
    const visitor = await signIn(api, { tenantId: mine.tenantId, userId: id });
    const token = await createInvitation({ db: tenantClient(api.databases.system, mine.tenantId) }, id);
    await updateUser(mine.context, id, { role: 'REQUESTER' });
    await updateUser(mine.context, id, { role: 'ADMIN' });
    expect((await visitor.get(account)).status).toBe(303);
    expect((await openBrowser(api).get(`/developer/join?token=${token}`)).text).toContain('no longer valid');
  });

  it('starts no session if the user is deactivated during sign-in', async () => {
    const { id, email } = await mine.createUser({ role: 'ADMIN' });
    const visitor = await join(mine, id);
    await visitor.submit(account, 'leave');
    const client = new pg.Client({ connectionString: api.databaseUrl });
    await client.connect();
    await client.query('BEGIN');
    await client.query('UPDATE users SET active = false WHERE tenant_id = $1 AND id = $2', [mine.tenantId, id]);
    const signingIn = visitor.submit(signInPath, 'password', { email, password });
    await expect.poll(() => requestsWaiting(api, 'system')).toBe(1);
    await client.query('COMMIT');
    await client.end();
    expect((await signingIn).status).toBe(400);
    expect(await api.prisma.session.count({ where: { tenantId: mine.tenantId, userId: id, endedAt: null } })).toBe(0);
  });

  it('ends the sessions of a deactivated workspace, even after reactivation', async () => {
    const other = await createWorkspace(api);
    const visitor = await signIn(api, other);
    const { name } = await api.prisma.tenant.findUniqueOrThrow({ where: { id: other.tenantId } });
    await deactivateTenant(api, name);
    expect((await visitor.get(account)).status).toBe(303);
    await activateTenant(api, name);
    expect((await visitor.get(account)).status).toBe(303);
  });

  it('keeps the last administrator signed in after a rejected deactivation', async () => {
    const other = await createWorkspace(api);
    const visitor = await signIn(api, other);
    expect((await visitor.submit(`/developer/users/${other.userId}`, 'deactivate')).status).toBe(400);
    expect((await visitor.get(account)).status).toBe(200);
  });

  it("applies a role change to the user's existing sessions", async () => {
    const { id } = await mine.createUser({ role: 'ADMIN' });
    const visitor = await signIn(api, { tenantId: mine.tenantId, userId: id });
    const token = await visitor.tokenOf('/developer/users/new');
    const become = (role: 'AGENT' | 'REQUESTER') =>
      api.prisma.user.update({ where: { tenantId_id: { tenantId: mine.tenantId, id } }, data: { role } });
    const make = () =>
      visitor.submit(
        '/developer/users/new',
        'create',
        { name: 'Late', email: 'late@example.com', role: 'ADMIN' },
        token,
      );
    await become('AGENT');
    expect((await make()).status).toBe(403);
    await become('REQUESTER');
    expect((await make()).headers.location).toContain('/developer/sign-in');
  });

  it('checks the role of the user again after the whole form has arrived', async () => {
    const { id } = await mine.createUser({ role: 'ADMIN' });
    const visitor = await signIn(api, { tenantId: mine.tenantId, userId: id });
    const fields = { name: 'Late', email: `${unique()}@example.com`, role: 'ADMIN' };
    const body = new URLSearchParams({ _csrf: await visitor.tokenOf('/developer/users/new'), ...fields }).toString();
    const lookUps = vi.spyOn(api.databases.accounts.pool, 'runPipeline');
    const sending = request(`${await api.app.listen({ port: 0, host: '127.0.0.1' })}/developer/users/new?form=create`, {
      method: 'POST',
      headers: {
        ...{ host: 'localhost', origin: areaOrigin, 'content-type': formType, 'content-length': body.length },
        cookie: [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      },
    });
    const received = once(sending, 'response');
    sending.write(body.slice(0, 10));
    await expect.poll(() => lookUps.mock.settledResults[0]?.type).toBe('fulfilled');
    lookUps.mockRestore();
    await updateUser(mine.context, id, { role: 'AGENT' });
    sending.end(body.slice(10));
    const [response] = await received;
    response.resume();
    expect(response.statusCode).toBe(403);
    expect(await api.prisma.user.count({ where: { email: fields.email } })).toBe(0);
  });
});

it('returns a page with Retry-After and no error details while PostgreSQL is unavailable', async () => {
  const away = Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:5432'), { code: 'ECONNREFUSED' });
  const query = vi.spyOn(api.databases.accounts.pool, 'runPipeline').mockRejectedValue(away as never);
  try {
    const { status, text, headers } = await admin.get(account);
    expect([status, Number(headers['retry-after']) > 0, text.includes('The database is unavailable')]).toEqual([
      500,
      true,
      true,
    ]);
    expect(text).not.toContain('10.0.0.7');
    expect((await openBrowser(api).get(signInPath)).status).toBe(200);
  } finally {
    query.mockRestore();
  }
});
