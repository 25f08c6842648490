import { randomBytes } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Account } from '@itsm-api/server/auth/accounts/account.ts';
import { createInvitation } from '@itsm-api/server/auth/accounts/invitations.ts';
import { checkStrength } from '@itsm-api/server/auth/accounts/password-strength.ts';
import { pruneSessions } from '@itsm-api/server/auth/accounts/session-retention.ts';
import { tenantClient } from '@itsm-api/server/database/client/tenant-client.ts';
import { deactivateUser } from '@itsm-api/server/resources/users/user-management.ts';
import { type TenantId, toTenantId } from '@itsm-api/server/shared/tenant-id.ts';
import { describe, expect } from 'vitest';
import { startApi } from '../support/api.ts';
import { newAuthenticator } from '../support/authenticator.ts';
import { api, it, workspace as mine } from '../support/fixture.ts';
import { areaOrigin, openBrowser, signIn, type Visitor } from '../support/visitor.ts';
import { createWorkspace, unique, type Workspace } from '../support/workspace.ts';

const password = 'seven wandering walruses';
const account = '/developer/account';

async function invite(workspace: Workspace, userId = workspace.userId): Promise<string> {
  return createInvitation({ db: tenantClient(api.databases.system, workspace.tenantId) }, userId);
}

/** Opens a new invitation link, sets a password, and returns the signed-in visitor. */
async function joined(workspace: Workspace, userId = workspace.userId, chosen = password): Promise<Visitor> {
  const visitor = openBrowser(api);
  const response = await visitor.submit(`/developer/join?token=${await invite(workspace, userId)}`, 'password', {
    password: chosen,
  });
  expect(response).toMatchObject({ status: 303, headers: { location: '/developer/overview' } });
  return visitor;
}

async function emailOf(workspace: Workspace, userId = workspace.userId): Promise<string> {
  return (await api.prisma.user.findFirstOrThrow({ where: { tenantId: workspace.tenantId, id: userId } })).email;
}

describe('invitations', () => {
  it('accepts an invitation link once, and then the password that the user set', async () => {
    const link = `/developer/join?token=${await invite(mine)}`;
    // Mail scanners open links, so a GET request must not use up the invitation link.
    await openBrowser(api).get(link);
    const visitor = openBrowser(api);
    expect((await visitor.submit(link, 'password', { password })).status).toBe(303);
    expect((await visitor.get(account)).status).toBe(200);
    const late = await openBrowser(api).get(link);
    expect(late.text).toContain('This link is no longer valid');

    const again = openBrowser(api);
    const sent = await again.submit('/developer/sign-in', 'password', { email: await emailOf(mine), password });
    expect(sent).toMatchObject({ status: 303, headers: { location: '/developer/overview' } });
    expect((await again.get(account)).status).toBe(200);
  });

  it('accepts only one of three concurrent uses of an invitation link', async () => {
    const link = `/developer/join?token=${await invite(mine)}`;
    const visitors = [1, 2, 3].map(() => openBrowser(api));
    const tokens = await Promise.all(visitors.map((visitor) => visitor.tokenOf(link)));
    const responses = await Promise.all(
      visitors.map((visitor, i) => visitor.submit(link, 'password', { password }, tokens[i])),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([303, 400, 400]);
  });

  it('rejects an invitation link if a newer link exists', async () => {
    const [first] = [await invite(mine), await invite(mine)];
    expect((await openBrowser(api).get(`/developer/join?token=${first}`)).text).toContain(
      'This link is no longer valid',
    );
  });

  it('keeps an invitation link valid if the chosen password is too weak', async () => {
    const link = `/developer/join?token=${await invite(mine)}`;
    const visitor = openBrowser(api);
    for (const weak of ['short', 'passwordpassword', 'Sam Field 2026']) {
      const { status, text } = await visitor.submit(link, 'password', { password: weak });
      expect([status, text.includes('aria-invalid="true"'), text.includes(weak)]).toEqual([400, true, false]);
    }
    expect((await visitor.submit(link, 'password', { password })).status).toBe(303);
  });

  it('checks a complex password without blocking the event loop', async () => {
    const link = `/developer/join?token=${await invite(mine)}`;
    const visitor = openBrowser(api);
    const token = await visitor.tokenOf(link);
    const loop = monitorEventLoopDelay();
    loop.enable();
    const start = performance.now();
    const { status } = await visitor.submit(link, 'password', { password: 'p4$$w0rd1!|7'.repeat(16) }, token);
    loop.disable();
    expect(status).toBe(303);
    // On a busy machine, both the check and the delays take longer.
    const duration = performance.now() - start;
    expect(loop.max / 1e6, `maximum event loop delay in ${duration} milliseconds`).toBeLessThan(duration / 2);
  });

  it('rejects a password check if the workspace has too many queued checks', async () => {
    const check = (tenantId: TenantId) =>
      checkStrength(password, {
        tenantId,
        ...{ name: 'Sam', email: 'sam@example.com', workspace: 'Field' },
      } as Account);
    const ofOne = Promise.allSettled(Array.from({ length: 8 }, () => check(toTenantId(1))));
    await check(toTenantId(2));
    const errors = (await ofOne).flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    expect(errors.map(({ code }) => code)).toEqual(Array(3).fill('RATE_LIMIT_EXCEEDED'));
  });

  it.each(['Forwarded', 'X-Forwarded-For', 'X-Real-IP', 'Via'])(
    'rejects a first-start link in a request with the header %s',
    async (header) => {
      const db = tenantClient(api.databases.system, mine.tenantId);
      const link = `/developer/join?token=${await createInvitation({ db }, mine.userId, { demo: true })}`;
      const page = await openBrowser(api).get(link, { [header.toLowerCase()]: '203.0.113.7' });
      expect(page.text).toContain('This link is no longer valid');
      expect((await openBrowser(api).get(link)).text).toContain('Skip for now');
    },
  );

  it('rejects a first-start link if PUBLIC_URL is a public address', async () => {
    const db = tenantClient(api.databases.system, mine.tenantId);
    const link = `/developer/join?token=${await createInvitation({ db }, mine.userId, { demo: true })}`;
    const other = await startApi({ env: { PUBLIC_URL: 'https://itsm.example.com' } });
    const page = await openBrowser(other).get(link, { host: 'itsm.example.com' });
    await other.close();
    expect(page.text).toContain('This link is no longer valid');
  });

  it('accepts a first-start link only from the machine that runs the server', async () => {
    const db = tenantClient(api.databases.system, mine.tenantId);
    const token = await createInvitation({ db }, mine.userId, { demo: true });
    const far = await api.app.inject({ url: `/developer/join?token=${token}`, remoteAddress: '203.0.113.9' });
    expect(far.body).toContain('This link is no longer valid');
    expect((await openBrowser(api).get(`/developer/join?token=${token}`)).text).toContain('Skip for now');
  });

  it('rejects an attempt to create an invitation link for a user with the role REQUESTER', async () => {
    const { id } = await mine.createUser({ role: 'REQUESTER' });
    await expect(invite(mine, id)).rejects.toThrow(
      "which can't use the developer area. Change the role to AGENT or ADMIN first.",
    );
  });
});

it('limits the request rate of each session separately', async () => {
  const other = await startApi({ env: { RATE_LIMIT_PAGES: '3' } });
  const theirs = await createWorkspace(other);
  const [visitor, colleague] = [await signIn(other, theirs), await signIn(other, theirs)];
  const statuses: number[] = [];
  for (let i = 0; i < 4; i++) statuses.push((await visitor.get(account)).status);
  expect(statuses).toEqual([200, 200, 200, 429]);
  const late = await visitor.get('/developer/keys');
  expect(late.text).toMatch(/Try again in \d+ seconds?\./);
  expect(Number(late.headers['retry-after'])).toBeGreaterThan(0);
  expect((await colleague.get(account)).status).toBe(200);
  expect((await openBrowser(other).get('/developer/sign-in')).status).toBe(200);
  await other.close();
});

it('keeps users signed in while the encryption key rotates', async () => {
  const [older, newer] = [randomBytes(32), randomBytes(32)].map((key) => key.toString('base64')) as [string, string];
  const first = await startApi({ secretKeys: [older] });
  const { cookies } = await signIn(first, await createWorkspace(first));
  await first.close();
  for (const secretKeys of [[newer, older], [newer]]) {
    const next = await startApi({ secretKeys });
    const visitor = openBrowser(next);
    for (const [name, value] of cookies) visitor.cookies.set(name, value);
    expect((await visitor.get(account)).status).toBe(200);
    for (const [name, value] of visitor.cookies) cookies.set(name, value);
    await next.close();
  }
});

describe('sign-in', () => {
  it('returns the same sign-in error for known and unknown email addresses', async () => {
    await joined(mine);
    const of = async (email: string) =>
      (await openBrowser(api).submit('/developer/sign-in', 'password', { email, password: 'not the one at all' })).text
        .replaceAll(email, '')
        .replace(/(_csrf" value|challenge.{10})[^ ]+/g, '');
    expect(await of(await emailOf(mine))).toBe(await of(`${unique()}@example.com`));
  });

  it('redirects to the requested page after sign-in, but never to a page outside the developer area', async () => {
    await joined(mine);
    const visitor = openBrowser(api);
    const redirected = await visitor.get('/developer/audit?page=2');
    expect(redirected.headers.location).toBe('/developer/sign-in?next=%2Fdeveloper%2Faudit%3Fpage%3D2');
    const fields = { email: await emailOf(mine), password };
    const signedIn = await visitor.submit(redirected.headers.location as string, 'password', fields);
    expect(signedIn.headers.location).toBe('/developer/audit?page=2');
    const others = ['https://evil.example/developer/keys', '//evil.example/developer/', '/\\evil.example', 'x'];
    const doubled = ['//area/developer/audit', '/developer//evil.example', '/developer/\\evil.example'];
    for (const next of [...others, ...doubled]) {
      const path = `/developer/sign-in?next=${encodeURIComponent(next)}`;
      const response = await openBrowser(api).submit(path, 'password', fields);
      expect(response.headers.location).toBe('/developer/overview');
    }
  });

  it('shows a choice of workspaces at sign-in if the password matches several accounts', async () => {
    const other = await createWorkspace(api);
    const email = `${unique()}@example.com`;
    const [one, two] = [await mine.createUser({ email }), await other.createUser({ email })];
    await joined(mine, one.id);
    await joined(other, two.id);
    const visitor = openBrowser(api);
    const chooser = await visitor.submitAndFollow('/developer/sign-in', 'password', { email, password });
    expect(chooser.text.match(/name="tenant"/g)).toHaveLength(2);
    await visitor.submit('/developer/workspaces', 'choose', { tenant: String(other.tenantId) });
    const { name } = await api.prisma.tenant.findUniqueOrThrow({ where: { id: other.tenantId } });
    expect((await visitor.get(account)).text).toContain(name);
  });

  it('denies an account access to another workspace that has a user with the same email address', async () => {
    await joined(mine);
    const theirs = await createWorkspace(api);
    const twin = await theirs.createUser({ email: await emailOf(mine), role: 'ADMIN' });
    const other = 'eleven quiet submarines';
    const intruder = await joined(theirs, twin.id, other);
    const { name } = await api.prisma.tenant.findUniqueOrThrow({ where: { id: mine.tenantId } });
    expect((await intruder.get(account)).text).not.toContain(name);
    const again = openBrowser(api);
    const fields = { email: await emailOf(mine), password: other };
    expect((await again.submit('/developer/sign-in', 'password', fields)).headers.location).toBe('/developer/overview');
    expect((await again.get(account)).text).not.toContain(name);
  });

  it("limits an attacker's sign-in attempts, but not the account owner's attempts in a known browser", async () => {
    const victim = await createWorkspace(api);
    const owner = await joined(victim);
    const email = await emailOf(victim);
    const attacker = openBrowser(api);
    const body = new URLSearchParams({ _csrf: await attacker.tokenOf('/developer/sign-in'), email, password: 'guess' });
    const cookie = [...attacker.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const guess = async (remoteAddress: string) => {
      const headers = { origin: areaOrigin, cookie, 'content-type': 'application/x-www-form-urlencoded' };
      const url = '/developer/sign-in?form=password';
      return (await api.app.inject({ method: 'POST', url, remoteAddress, headers, payload: body.toString() }))
        .statusCode;
    };
    const statuses = await Promise.all(Array.from({ length: 150 }, (_, i) => guess(`198.51.100.${i % 12}`)));
    // The server allows 10 failed sign-in attempts per IP address and 100 per account.
    expect(statuses.filter((status) => status === 400)).toHaveLength(100);
    expect(statuses.filter((status) => status === 429)).toHaveLength(50);
    // Unknown browsers must now wait, but the owner of the account can sign in from a known browser.
    const fields = { email, password };
    const rejected = await openBrowser(api).submit('/developer/sign-in', 'password', fields);
    expect([rejected.status, Number(rejected.headers['retry-after']) > 0]).toEqual([429, true]);
    const device = owner.cookies.get('itsm_device');
    await owner.submit(account, 'leave');
    expect([...owner.cookies.keys()]).toEqual(['itsm_device']);
    expect((await owner.submit('/developer/sign-in', 'password', fields)).status).toBe(303);
    // Each sign-in renews the cookie of the browser for a year.
    expect(owner.cookies.get('itsm_device')).not.toBe(device);
  });
});

describe('accounts with the same email address', () => {
  it('counts a sign-in toward the email address limit if only one of several accounts matches', async () => {
    const [victim, other] = [await createWorkspace(api), await createWorkspace(api)];
    await joined(victim);
    const email = await emailOf(victim);
    const { id } = await other.createUser({ role: 'ADMIN', email });
    const own = 'eight patient pelicans';
    await joined(other, id, own);
    const statuses: number[] = [];
    for (let i = 0; i < 12; i++) {
      const fields = { email, password: own };
      statuses.push((await openBrowser(api).submit('/developer/sign-in', 'password', fields)).status);
    }
    expect(statuses).toEqual([...Array(10).fill(303), 429, 429]);
  });
});

describe('sessions', () => {
  it('ends a session if the user signs out, ends the session remotely, or is deactivated', async () => {
    const { id } = await mine.createUser({ role: 'ADMIN' });
    const first = await signIn(api, { tenantId: mine.tenantId, userId: id });
    const stolen = openBrowser(api);
    for (const [name, value] of first.cookies) stolen.cookies.set(name, value);
    expect((await stolen.get(account)).status).toBe(200);
    await first.submit(account, 'leave');
    expect((await stolen.get(account)).status).toBe(303);

    const [second, third] = [await joined(mine, id), await signIn(api, { tenantId: mine.tenantId, userId: id })];
    const page = (await third.get(account)).text;
    const ids = [...page.matchAll(/name="id" value="(\d+)"/g)].map(([, each]) => Number(each));
    await third.submit(account, 'end', { id: ids[0] ?? 0 });
    expect([(await second.get(account)).status, (await third.get(account)).status]).toEqual([303, 200]);

    await deactivateUser(mine.context, id);
    expect((await third.get(account)).status).toBe(303);
  });

  it('registers a passkey even if its transports are invalid', async () => {
    const { id } = await mine.createUser({ role: 'ADMIN' });
    for (const transports of [[1, null], 'usb', Array(1000).fill('usb'), ['usb', 'nfc']]) {
      const link = `/developer/join?token=${await invite(mine, id)}`;
      const browser = openBrowser(api);
      const made = JSON.parse(newAuthenticator().create((await browser.get(link)).text));
      const response = JSON.stringify({ ...made, response: { ...made.response, transports } });
      expect((await browser.submit(link, 'passkey', { response })).status).toBe(303);
      expect((await browser.get(account)).status).toBe(200);
    }
    expect(await api.prisma.passkey.findMany({ where: { tenantId: mine.tenantId, userId: id } })).toMatchObject([
      { transports: ['usb', 'nfc'] },
    ]);
  });

  it('ends all sessions and deletes all credentials of a user who uses an invitation link', async () => {
    const { id } = await mine.createUser({ role: 'ADMIN' });
    const stolen = await joined(mine, id);
    const owner = await joined(mine, id, 'nine patient lighthouses');
    expect([(await stolen.get(account)).status, (await owner.get(account)).status]).toEqual([303, 200]);
    // If a user adds a passkey with a new invitation link, the previous password stops working.
    const link = `/developer/join?token=${await invite(mine, id)}`;
    const browser = openBrowser(api);
    const page = (await browser.get(link)).text;
    expect(page).toContain('current passkeys and password stop working');
    const response = newAuthenticator().create(page);
    expect((await browser.submit(link, 'passkey', { response })).status).toBe(303);
    const fields = { email: await emailOf(mine, id), password: 'nine patient lighthouses' };
    expect((await openBrowser(api).submit('/developer/sign-in', 'password', fields)).status).toBe(400);
  });

  it('ends a session after 12 hours without requests', async () => {
    const visitor = await signIn(api, mine);
    expect((await visitor.get(account)).status).toBe(200);
    await api.prisma.session.updateMany({
      where: { tenantId: mine.tenantId },
      data: { lastSeenAt: new Date(Date.now() - 12 * 3_600_000 - 1000) },
    });
    expect((await visitor.get(account)).status).toBe(303);
  });

  it('deletes sessions 30 days after their last request, except the last session of a user', async () => {
    const { id } = await mine.createUser({ role: 'AGENT' });
    const old = new Date(Date.now() - 31 * 86_400_000);
    const recent = new Date(Date.now() - 29 * 86_400_000);
    const sessions = [old, old, recent, old].map((lastSeenAt, index) => ({
      ...{ tenantId: mine.tenantId, userId: BigInt(id), hash: Buffer.from([index]), lastSeenAt },
      ...{ address: '192.0.2.1', userAgent: `browser ${index}` },
    }));
    await api.prisma.session.createMany({ data: sessions });
    await pruneSessions(api.databases.system.prisma, 1);
    const kept = await api.prisma.session.findMany({ where: { userId: id }, orderBy: { id: 'asc' } });
    expect(kept.map(({ userAgent }) => userAgent)).toEqual(['browser 2', 'browser 3']);
  });

  it('replaces the session cookie and the CSRF token at sign-in to prevent session fixation', async () => {
    const visitor = openBrowser(api);
    const before = await visitor.tokenOf('/developer/sign-in');
    const link = `/developer/join?token=${await invite(mine)}`;
    const planted = new Map(visitor.cookies);
    await visitor.submit(link, 'password', { password });
    expect(visitor.cookies.get('itsm_session')).not.toBe(planted.get('itsm_session'));
    // The server rejects the previous session cookie and CSRF token.
    const attacker = openBrowser(api);
    for (const [name, value] of planted) attacker.cookies.set(name, value);
    expect((await attacker.get(account)).status).toBe(303);
    const body = new URLSearchParams({ _csrf: before }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await visitor.post(`${account}?form=leave`, body, headers)).status).toBe(403);
  });

  it('changes a password only if the current password is correct, and ends other sessions', async () => {
    const { id } = await mine.createUser({ role: 'AGENT' });
    const one = await joined(mine, id);
    const two = await signIn(api, { tenantId: mine.tenantId, userId: id });
    const next = 'nine patient lighthouses';
    const wrong = await one.submit(account, 'password', { current: 'what was it', password: next, others: 'end' });
    expect([wrong.status, wrong.text.includes('Current password</a> is incorrect')]).toEqual([400, true]);
    // After an error, the form keeps the state of the checkbox.
    const box = (text: string) => /<input type="checkbox" name="others"[^>]*>/.exec(text)?.[0] ?? '';
    expect(box(wrong.text)).toContain('checked');
    const unticked = await one.submit(account, 'password', { current: 'what was it', password: next });
    expect([unticked.status, box(unticked.text).includes('checked')]).toEqual([400, false]);
    const right = await one.submit(account, 'password', { current: password, password: next, others: 'end' });
    expect(right.status).toBe(303);
    expect([(await one.get(account)).status, (await two.get(account)).status]).toEqual([200, 303]);
    const fields = { email: await emailOf(mine, id), password: next };
    expect((await openBrowser(api).submit('/developer/sign-in', 'password', fields)).status).toBe(303);
  });
});
