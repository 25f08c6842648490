import { ItsmClient } from '@itsm-api/client';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addAuthenticator, launchBrowser } from '../support/browser.ts';
import { type FirstStart, firstStart } from '../support/first-start.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { ticket } from '../support/workspace.ts';

/*
 * Tests a new user's first steps in a browser, starting with the first-start link. A worker sends the webhooks.
 */
let server: FirstStart;
let browser: Browser;
let receiver: Receiver;
/** True if the webhook receiver accepts deliveries. */
let isHealthy = false;

beforeAll(async () => {
  server = await firstStart();
  browser = await launchBrowser();
  receiver = await startReceiver((_, response) => {
    response.writeHead(isHealthy ? 204 : 500).end(isHealthy ? undefined : '<script>alert(1)</script> is not well');
  });
});
afterAll(async () => {
  await browser?.close();
  await receiver?.close();
  await server?.stop();
});

const polling = { interval: 300 };

const file = {
  name: 'new\r\nlaptops".csv',
  mimeType: 'text/csv',
  buffer: Buffer.from('name,assetTag,type\nNew laptop,LT-9001,LAPTOP\n<b>Old</b>,LT-9002,LAPTOP\n'),
};

describe.each([
  { title: 'with a script', javaScriptEnabled: true },
  { title: 'without a script', javaScriptEnabled: false },
])('$title', ({ javaScriptEnabled }) => {
  let context: BrowserContext;
  let page: Page;
  const pageErrors: string[] = [];
  const run = javaScriptEnabled ? 'script' : 'none';

  beforeAll(async () => {
    isHealthy = false;
    context = await browser.newContext({ javaScriptEnabled });
    page = await context.newPage();
    page.on('console', (message) => message.type() === 'error' && pageErrors.push(message.text()));
    page.on('pageerror', (error) => pageErrors.push(error.message));
  });
  afterAll(async () => {
    await context.close();
    expect(pageErrors).toEqual([]);
  });

  const press = (name: string | RegExp) => page.getByRole('button', { name }).first().click();
  const open = (path: string) => page.goto(server.origin + path);

  /** Returns true if the text of the page matches the pattern. Without scripts, reloads the page first. */
  const hasText = async (pattern: RegExp) => {
    if (!javaScriptEnabled) await page.reload();
    return pattern.test((await page.locator('main').textContent()) ?? '');
  };

  it('signs in with a first-start link or an invitation link', async () => {
    if (javaScriptEnabled) {
      await addAuthenticator(page);
      await page.goto(server.link);
      await press('Create a passkey');
    } else {
      // The first test run used up the first-start link, so the second run signs in with an invitation link.
      await page.goto(invitation);
      await page.getByLabel('Password').fill('seven wandering walruses');
      await press('Set password');
    }
    await page.waitForURL(`${server.origin}/developer/overview`);
  });

  it('creates an API key, calls the API with the client library, and revokes the key', async () => {
    await open('/developer/keys/new');
    await page.getByLabel('Name').fill(`made in a browser, ${run}`);
    await page.getByLabel('tickets:read').check();
    await press('Create API key');
    const shown = page.getByLabel('API key', { exact: true });
    const key = ((await shown.textContent()) ?? '').trim();
    const client = new ItsmClient({ baseUrl: server.origin, apiKey: key });
    expect((await client.tickets.list({ perPage: 1 })).data).toHaveLength(1);

    await page.reload();
    expect(await page.getByText(key).count()).toBe(0);
    await page.getByRole('heading', { name: 'Revoke' }).click();
    await page.getByLabel('Name of the key').fill(`made in a browser, ${run}`);
    await press('Revoke');
    await page.getByText('revoked').first().waitFor();
    await expect
      .poll(() =>
        client.tickets.list().then(
          () => 200,
          ({ status }) => status,
        ),
      )
      .toBe(401);
  });

  it('creates a webhook and replays a failed delivery', async () => {
    isHealthy = false;
    await open('/developer/webhooks/new');
    await page.getByLabel('URL').fill(`${receiver.url}/${run}`);
    await page.getByRole('checkbox', { name: /^ticket\.created/ }).check();
    await press('Create and send test event');
    const secret = ((await page.getByLabel('Signing secret', { exact: true }).first().textContent()) ?? '').trim();
    expect(secret).toMatch(/^whsec_/);
    // With scripts, the page refreshes itself. Without scripts, the test reloads the page, which then no longer shows
    // the secret.
    await expect.poll(() => hasText(/Test event:.*500/), polling).toBe(true);
    // The secret stays visible when the test result refreshes, but disappears when the page reloads.
    expect((await page.getByText(secret).count()) > 0).toBe(javaScriptEnabled);
    await page.getByRole('link', { name: 'View the test event' }).click();
    await page.locator('#outcome').getByText('500').first().waitFor();

    const client = new ItsmClient({ baseUrl: server.origin, apiKey: server.key });
    const { ticketNumber } = await client.tickets.create(ticket);
    await open('/developer/deliveries?event=ticket.created');
    await page.locator('td a[href^="/developer/deliveries/"]').first().click();
    await expect.poll(() => hasText(/Attempt 1/), polling).toBe(true);
    expect(await page.getByRole('link', { name: ticketNumber }).count()).toBe(1);
    isHealthy = true;
    await press('Replay delivery');
    await expect.poll(() => hasText(/delivered/), polling).toBe(true);
    expect(await page.locator('.attempts li').count()).toBeGreaterThan(1);

    await open('/developer/deliveries?event=ticket.created');
    await page.getByLabel('Status').selectOption('CANCELLED');
    if (!javaScriptEnabled) await press('Filter');
    await page.getByText('No deliveries match your filters.').waitFor();
    expect(new URL(page.url()).searchParams.get('state')).toBe('CANCELLED');
  });

  it('imports assets from a CSV file and lists the imported assets', async () => {
    await open('/developer/assets/import');
    const tags = file.buffer.toString().replaceAll('LT-', `${run}-`);
    await page.getByLabel('CSV file').setInputFiles({ ...file, buffer: Buffer.from(tags) });
    await press('Check the file');
    await page.getByText('2 assets can be imported').waitFor();
    await press('Import 2 assets');
    await page.waitForURL(`${server.origin}/developer/assets`);
    await page.getByText('<b>Old</b>').first().waitFor();
  });

  it('creates an invitation link for a second administrator', async () => {
    await open('/developer/users/new');
    await page.getByLabel('Name').fill(`Noor ${run}`);
    await page.getByLabel('Email').fill(`noor.${run}@acme.example`);
    await page.getByLabel('Role').selectOption('ADMIN');
    await press('Invite');
    invitation = ((await page.getByLabel('Invitation link').textContent()) ?? '').trim();
    expect(invitation).toContain(`${server.origin}/developer/join?token=`);
  });
});

/** The invitation link that the first test run creates. The second test run signs in with the link. */
let invitation = '';
