import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ItsmClient } from '@itsm-api/client';
import { createInvitation } from '@itsm-api/server/auth/accounts/invitations.ts';
import { tenantClient } from '@itsm-api/server/database/client/tenant-client.ts';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeEach, describe, expect } from 'vitest';
import { addAuthenticator, launchBrowser } from '../support/browser.ts';
import { api, itInNewWorkspace as it, workspace as mine } from '../support/fixture.ts';

/* Tests the features that need a real browser: passkeys, scripts and the content security policy. */
let origin: string;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let pageErrors: string[];

it.beforeAll(async () => {
  const { port } = new URL(await api.app.listen({ host: '127.0.0.1', port: 0 }));
  origin = `http://localhost:${port}`;
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
});

beforeEach(async () => {
  context = await browser.newContext();
  page = await context.newPage();
  pageErrors = [];
  page.on('console', (message) => message.type() === 'error' && pageErrors.push(message.text()));
  page.on('pageerror', (error) => pageErrors.push(error.message));
});
afterEach(() => context.close());

async function linkFor(options?: { demo: boolean }): Promise<string> {
  const db = tenantClient(api.databases.system, mine.tenantId);
  return `${origin}/developer/join?token=${await createInvitation({ db }, mine.userId, options)}`;
}

const press = (name: string) => page.getByRole('button', { name, exact: true }).click();

describe('passkeys', () => {
  it('creates a passkey from an invitation link and signs in with the passkey', async () => {
    await addAuthenticator(page);
    await page.goto(await linkFor());
    await press('Create a passkey');
    await page.waitForURL(`${origin}/developer/overview`);
    await page.goto(`${origin}/developer/account`);
    await press('Sign out');
    await page.waitForURL(`${origin}/developer/sign-in`);
    await press('Sign in with a passkey');
    await page.waitForURL(`${origin}/developer/overview`);
    await page.goto(`${origin}/developer/account`);
    await page.getByRole('cell', { name: 'Created on Linux', exact: true }).waitFor();
    expect(pageErrors).toEqual([]);
  });

  it('rejects a new passkey if newer challenges have evicted its challenge', async () => {
    await addAuthenticator(page);
    await page.goto(await linkFor());
    // The browser keeps the last five challenges, so five more sign-in pages evict the first challenge.
    for (let i = 0; i < 5; i++) await context.request.get(`${origin}/developer/sign-in`);
    await press('Create a passkey');
    await page.getByRole('alert').filter({ hasText: 'The passkey is unknown' }).waitFor();
    // The rejected passkey doesn't use up the invitation link.
    await press('Create a passkey');
    await page.waitForURL(`${origin}/developer/overview`);
  });

  it('rejects a passkey that the server has deleted', async () => {
    await addAuthenticator(page);
    await page.goto(await linkFor());
    await press('Create a passkey');
    await page.waitForURL(`${origin}/developer/overview`);
    await api.prisma.passkey.deleteMany({ where: { tenantId: mine.tenantId } });
    await page.goto(`${origin}/developer/account`);
    await press('Sign out');
    await press('Sign in with a passkey');
    await page.getByRole('alert').filter({ hasText: 'The passkey is unknown' }).waitFor();
  });
});

/** Signs in with a first-start link. */
async function enter(): Promise<void> {
  await page.goto(await linkFor({ demo: true }));
  await press('Skip for now');
  await page.waitForURL(`${origin}/developer/overview`);
}

const endSessions = () =>
  api.prisma.session.updateMany({ where: { tenantId: mine.tenantId }, data: { endedAt: new Date() } });

describe('live search', () => {
  const search = () => page.getByRole('searchbox', { name: 'Search' });
  const found = () => page.locator('#found[aria-live=polite]');

  it('shows an error in the live search if the text is invalid or the session has ended', async () => {
    const { name } = await mine.createAsset({ name: 'Lamp' });
    await enter();
    await page.goto(`${origin}/developer/assets`);
    await found().getByText(name).waitFor();
    await search().fill('!!!');
    await found().getByText('Search: must contain a letter or a digit').waitFor();
    expect(await found().textContent()).not.toContain('match your search');
    await search().fill('x'.repeat(1001));
    await found().getByText('must have at most 1000 characters').waitFor();
    await search().fill('lamp');
    await found().getByText(name).waitFor();
    await endSessions();
    await search().fill('lam');
    await found().getByText('You are signed out').waitFor();
    expect(await found().getByText(name).count()).toBe(0);
  });
});

it('stops refreshing a page after the session ends', async () => {
  await enter();
  const { id } = await mine.createDelivery();
  await page.clock.install();
  await page.goto(`${origin}/developer/deliveries/${id}`);
  const requestedUrls: string[] = [];
  // Counts responses on the server, because Playwright also reports redirects that the page doesn't follow.
  const note = ({ url = '' }: IncomingMessage, response: ServerResponse) => {
    response.once('finish', () => requestedUrls.push(url));
  };
  api.app.server.on('request', note);
  await page.clock.fastForward('01:00');
  await expect.poll(() => requestedUrls.length).toBeGreaterThan(0);
  // The page learns from the next response that the session has ended. An earlier request can still be in progress.
  await sleep(1000);
  await endSessions();
  requestedUrls.length = 0;
  await page.clock.fastForward('01:00');
  await expect.poll(() => requestedUrls.length).toBeGreaterThan(0);
  await sleep(1000);
  requestedUrls.length = 0;
  for (let i = 0; i < 5; i++) {
    await page.clock.fastForward('01:00');
    await sleep(200);
  }
  api.app.server.off('request', note);
  expect(requestedUrls).toEqual([]);
});

describe('API keys', () => {
  it('creates, finds and revokes an API key in a browser', async () => {
    await page.goto(await linkFor({ demo: true }));
    await press('Skip for now');
    await page.getByRole('link', { name: 'API keys', exact: true }).click();
    await page.getByRole('link', { name: 'Create API key' }).click();
    const allowed = page.getByRole('status').filter({ hasText: 'With these scopes' });
    expect(await allowed.textContent()).toContain('only GET /me');
    await page.getByLabel('Name').fill('reports');
    await page.getByLabel('users:read').check();
    expect(await allowed.textContent()).toMatch(/[1-9] endpoints and GET \/me/);
    await page.getByText('GET /users/{id}', { exact: true }).waitFor();
    expect(await page.getByText('GET /assets/{id}', { exact: true }).isVisible()).toBe(false);
    await press('Create API key');
    const key = await page.getByLabel('API key', { exact: true }).textContent();
    const client = new ItsmClient({ baseUrl: origin, apiKey: `${key}`, maxRetries: 0 });
    expect((await client.users.list()).data).toHaveLength(1);

    await page.getByRole('link', { name: 'All API keys' }).click();
    await page.getByLabel('Name or last 4 characters').fill('REP');
    await page.waitForURL(`${origin}/developer/keys?q=REP`);
    await page.getByText('1 in total').waitFor();
    await page.getByRole('link', { name: 'reports' }).click();
    await page.getByRole('heading', { name: 'Revoke' }).click();
    await page.getByLabel('Name of the key').fill('reports');
    await press('Revoke');
    await page.getByText('revoked', { exact: true }).waitFor();
    await expect.poll(() => client.me.get().catch((error) => error.status)).toBe(401);
    expect(pageErrors).toEqual([]);
  });
});
