import type { UserRole } from '@itsm-api/contract';
import type { AnyPage } from '@itsm-api/server/developer/framework/page.ts';
import { pages } from '@itsm-api/server/developer/pages.ts';
import { describe, expect } from 'vitest';
import { startApi } from '../support/api.ts';
import { admin, api, itAsAdmin as it, workspace as mine } from '../support/fixture.ts';
import { areaOrigin, openBrowser, signIn, type Visitor } from '../support/visitor.ts';
import { createWorkspace } from '../support/workspace.ts';
import { addressOf as addressIn, samples } from './samples.ts';

/*
 * Tests the rules for all pages and forms of the developer area: session, role, CSRF token and tenant isolation.
 */
/** A visitor who is an administrator of another workspace. */
let stranger: Visitor;

it.beforeAll(async () => {
  stranger = await signIn(api, await createWorkspace(api));
});

const closed = pages.filter(({ roles }) => roles !== 'everyone');
/** The pages whose address identifies a row. */
const named = pages.filter(({ params }) => params !== undefined);
/** All forms in the developer area, each with the path of its page. */
const forms = pages.flatMap(({ path, roles, forms = {} }) =>
  Object.entries(forms).map(([name, form]) => ({ path, name, roles: form.roles ?? roles, audit: form.audit })),
);
const closedForms = forms.filter(({ roles }) => roles !== 'everyone');
const namedForms = forms.filter(({ path }) => named.some((page) => page.path === path));
const allRoles: readonly UserRole[] = ['ADMIN', 'AGENT'];

const addressOf = (path: string) => addressIn(path, mine);

function actionOf(address: string, form: string): string {
  return `${address}${address.includes('?') ? '&' : '?'}form=${form}`;
}

/** Returns the address of a missing row: other digits in the path, and other texts in the query. */
function toMissingPath(address: string): string {
  return address.replace(/(?<=TICKET\/|key=)\w+/, 'missing').replace(/(?<=\/|[?&]id=)[\w%-]*\d[\w%-]*/g, '999999999');
}

/** Returns a visitor who is allowed to open a page, and the visitor's CSRF token. */
async function visitorOf(roles: AnyPage['roles']): Promise<{ visitor: Visitor; token: string }> {
  const visitor = roles === 'everyone' ? openBrowser(api) : admin;
  return { visitor, token: await tokenOf(visitor) };
}

const tokenOf = (visitor: Visitor) =>
  visitor.tokenOf(visitor.cookies.size === 0 ? '/developer/sign-in' : '/developer/account');

async function userWith(role: UserRole): Promise<Visitor> {
  const { id } = await mine.createUser({ role });
  return signIn(api, { tenantId: mine.tenantId, userId: id });
}

const formHeaders = { 'content-type': 'application/x-www-form-urlencoded' };

it('has a sample request for every page of the developer area', () => {
  expect(Object.keys(samples).sort()).toEqual(pages.map(({ path }) => path).sort());
});

describe.each(pages)('$path', ({ path, roles }) => {
  it('serves developer area pages with no-store, a strict content security policy and unique ids', async () => {
    const response = await (roles === 'everyone' ? openBrowser(api) : admin).get(await addressOf(path));
    // The page for choosing a workspace redirects a visitor who has no accounts to choose from.
    expect(response.status, response.text).toBe(path === '/developer/workspaces' ? 303 : 200);
    expect(response.headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
    });
    const policy = response.headers['content-security-policy'];
    if (samples[path]?.kind === 'file') expect(policy).toBe('sandbox');
    else expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|data:|\*/);
    expect(response.text).not.toMatch(/<[^>]+ (style|on\w+)=|<script>|<style/);
    // Without a button, a browser without scripts can't submit a form.
    for (const [form] of response.text.matchAll(/<form .*?<\/form>/gs)) {
      expect(form).toMatch(/<button (?![^>]*type="button")/);
    }
    const ids = [...response.text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(ids).toEqual([...new Set(ids)]);
  });
});

describe.each(pages.filter(({ path }) => samples[path]?.kind !== 'file'))(
  '$path, which is not a file',
  ({ path, roles }) => {
    it('compresses a developer area page to less than 50 kB', async () => {
      const { visitor } = await visitorOf(roles);
      const { headers } = await visitor.get(await addressOf(path), { 'accept-encoding': 'gzip' });
      expect(Number(headers['content-length'])).toBeLessThan(50_000);
    });
  },
);

describe.each(closed)('$path without permission', ({ path, roles }) => {
  it('redirects a request for a page without a session to the sign-in page', async () => {
    const { status, headers, text } = await openBrowser(api).get(await addressOf(path));
    expect([status, headers.location?.split('?')[0], text]).toEqual([303, '/developer/sign-in', '']);
  });

  it('returns 403 to users whose role may not open the page', async () => {
    for (const role of allRoles.filter((role) => !roles.includes(role))) {
      expect((await (await userWith(role)).get(await addressOf(path))).status, role).toBe(403);
    }
  });
});

it.each(named)('returns the 404 page for $path of another workspace', async ({ path }) => {
  const [foreign, missing] = [
    await stranger.get(await addressOf(path)),
    await stranger.get(toMissingPath(await addressOf(path))),
  ];
  expect([foreign.status, foreign.text]).toEqual([404, missing.text]);
});

describe.each(forms)('the form $name of $path', ({ path, name, roles, audit }) => {
  it('defines either a valid audit action or null for each form', () => {
    expect(audit === null || /^[a-z]+(\.[a-z]+)+$/.test(audit)).toBe(true);
  });

  it('returns 403 for a form without a valid CSRF token', async () => {
    const { visitor } = await visitorOf(roles);
    const action = actionOf(await addressOf(path), name);
    for (const body of ['', '_csrf=', `_csrf=${'x'.repeat(40)}`]) {
      expect((await visitor.post(action, body, formHeaders)).status).toBe(403);
    }
  });

  it('returns 403 for a form that another site sends', async () => {
    const { visitor, token } = await visitorOf(roles);
    const action = actionOf(await addressOf(path), name);
    for (const origin of ['https://evil.example', 'null', `${areaOrigin}.evil.example`]) {
      const body = new URLSearchParams({ _csrf: token }).toString();
      expect((await visitor.post(action, body, { ...formHeaders, origin })).status).toBe(403);
    }
  });
});

describe.each(closedForms)('the form $name of $path without permission', ({ path, name, roles }) => {
  const send = async (visitor: Visitor) => visitor.submit(await addressOf(path), name, {}, await tokenOf(visitor));

  it('redirects a form submission without a session to the sign-in page', async () => {
    const response = await send(openBrowser(api));
    expect([response.status, response.headers.location?.split('?')[0]]).toEqual([303, '/developer/sign-in']);
  });

  it('returns 403 to users whose role may not submit the form', async () => {
    for (const role of allRoles.filter((role) => !roles.includes(role))) {
      expect((await send(await userWith(role))).status, role).toBe(403);
    }
  });
});

it.each(namedForms)('returns the 404 page for the form $name on $path of another workspace', async ({ path, name }) => {
  const token = await tokenOf(stranger);
  const to = (address: string) => stranger.submit(address, name, {}, token);
  const [foreign, missing] = [await to(await addressOf(path)), await to(toMissingPath(await addressOf(path)))];
  expect([foreign.status, foreign.text]).toEqual([missing.status, missing.text]);
  expect(foreign.status).toBe(404);
});

it('shows the confirmation message for a saved form only once', async () => {
  const path = await addressOf('/developer/keys/:id');
  const { text } = await admin.submitAndFollow(path, 'rename', { name: 'nightly export' });
  expect(text).toMatch(/<div class="notice good" role="status"[^>]*>Key changed: nightly export<\/div>/);
  expect((await admin.get(path)).text).not.toContain('Key changed');
});

describe('times', () => {
  const zoned = (label: string, zone: string) => `${label} <span class="zone">(${zone})</span>`;

  it('shows times in UTC if the account has no time zone', async () => {
    const visitor = await userWith('AGENT');
    expect((await visitor.get('/developer/account')).text).toContain(zoned('Signed in', 'UTC'));
    expect((await visitor.get('/developer/deliveries')).text).toContain('Since (UTC)');
  });

  it("shows times in tables and filters in the account's time zone", async () => {
    const visitor = await userWith('AGENT');
    const zone = 'America/New_York';
    const { text } = await visitor.submitAndFollow('/developer/account', 'zone', { timeZone: zone });
    expect(text).toContain(zoned('Signed in', zone));
    expect(text).toMatch(/<time [^>]*>[^<]+<span class="zone"> (GMT-[45]|E[SD]T)</);
    expect((await visitor.get('/developer/deliveries')).text).toContain(`Since (${zone})`);
  });

  it('rejects an account setting with an unknown time zone', async () => {
    const sent = await admin.submit('/developer/account', 'zone', { timeZone: 'Mars/Phobos' });
    expect([sent.status, sent.text.includes('must be the IANA name of a time zone')]).toEqual([400, true]);
  });
});

describe('unknown addresses', () => {
  it('returns the same 404 page to visitors with and without a session', async () => {
    const [one, two] = [await admin.get('/developer/nothing'), await openBrowser(api).get('/developer/nothing')];
    expect([one.status, one.text]).toEqual([404, two.text]);
    expect(one.text).toContain('Page not found');
  });

  it('redirects 127.0.0.1 to localhost, because browsers reject passkeys on IP addresses', async () => {
    const response = await admin.get('/developer/audit?page=2', { host: '127.0.0.1:3000' });
    expect([response.status, response.headers.location]).toEqual([303, 'http://localhost:3000/developer/audit?page=2']);
  });

  it('returns 404 for an unknown host if PUBLIC_URL is not set', async () => {
    const response = await openBrowser(api).get('/developer/sign-in', { host: 'itsm.example.com' });
    expect([response.status, response.text.includes('set PUBLIC_URL')]).toEqual([404, true]);
  });
});

it('sends HSTS and __Host- cookies if PUBLIC_URL is an https URL', async () => {
  const other = await startApi({ env: { PUBLIC_URL: 'https://itsm.example.com' } });
  try {
    const redirected = await other.call({
      method: 'GET',
      path: '/developer/sign-in',
      headers: { host: 'localhost:3000' },
    });
    expect([redirected.status, redirected.headers.location]).toEqual([
      303,
      'https://itsm.example.com/developer/sign-in',
    ]);
    const { headers } = await other.call({
      method: 'GET',
      path: '/developer/sign-in',
      headers: { host: 'itsm.example.com' },
    });
    const [cookie] = [headers['set-cookie'] ?? []].flat() as string[];
    expect(cookie).toMatch(/^__Host-itsm_session=.*; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    const ping = await other.call({ method: 'GET', path: '/api/public/v1/ping' });
    for (const each of [headers, redirected.headers, ping.headers]) {
      expect(each['strict-transport-security']).toBe('max-age=31536000');
    }
    const overHttp = (await openBrowser(api).get('/developer/sign-in')).headers;
    expect(overHttp).not.toHaveProperty('strict-transport-security');
    expect(overHttp['set-cookie']).toMatch(/^itsm_session=.*; Path=\/developer; HttpOnly; SameSite=Lax$/);
  } finally {
    await other.close();
  }
});
