import { ItsmClient } from '@itsm-api/client';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addAuthenticator, launchBrowser } from '../support/browser.ts';
import { type FirstStart, firstStart } from '../support/first-start.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { ticket } from '../support/workspace.ts';

/*
 * What somebody does who has just started the server: from the link that it prints, in a browser, with the worker delivering.
 */
let server: FirstStart;
let browser: Browser;
let receiver: Receiver;
/** Whether the receiver takes what it is sent. */
let isWell = false;

beforeAll(async () => {
  server = await firstStart();
  browser = await launchBrowser();
  receiver = await startReceiver((_, response) => {
    response.writeHead(isWell ? 204 : 500).end(isWell ? undefined : '<script>alert(1)</script> is not well');
  });
}, 90_000);
afterAll(async () => {
  await browser?.close();
  await receiver?.close();
  await server?.stop();
}, 60_000);

const patience = { timeout: 15_000, interval: 300 };

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
  const troubles: string[] = [];
  const run = javaScriptEnabled ? 'script' : 'none';

  beforeAll(async () => {
    isWell = false;
    context = await browser.newContext({ javaScriptEnabled });
    page = await context.newPage();
    page.on('console', (message) => message.type() === 'error' && troubles.push(message.text()));
    page.on('pageerror', (error) => troubles.push(error.message));
  });
  afterAll(async () => {
    await context.close();
    expect(troubles).toEqual([]);
  });

  const press = (name: string | RegExp) => page.getByRole('button', { name }).first().click();
  const open = (path: string) => page.goto(server.origin + path);

  /** Whether the page says something, by now. */
  const look = async (said: RegExp) => {
    if (!javaScriptEnabled) await page.reload();
    return said.test((await page.locator('main').textContent()) ?? '');
  };

  it('gets in', async () => {
    if (javaScriptEnabled) {
      await addAuthenticator(page);
      await page.goto(server.link);
      await press('Create a passkey');
    } else {
      // The link is used up: somebody who is in invites them.
      await page.goto(invitation);
      await page.getByLabel('Password').fill('seven wandering walruses');
      await press('Set password');
    }
    await page.waitForURL(`${server.origin}/developer/keys`);
  });

  it('makes a key, uses it with the client, revokes it, and it works no more', async () => {
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
      .poll(
        () =>
          client.tickets.list().then(
            () => 200,
            ({ status }) => status,
          ),
        { timeout: 15_000 },
      )
      .toBe(401);
  });

  it('makes a webhook, sees it fail, and sends again what failed', async () => {
    isWell = false;
    await open('/developer/webhooks/new');
    await page.getByLabel('URL').fill(`${receiver.url}/${run}`);
    await page.getByRole('checkbox', { name: /^ticket\.created/ }).check();
    await press('Create and send test event');
    const secret = ((await page.getByLabel('Signing secret', { exact: true }).first().textContent()) ?? '').trim();
    expect(secret).toMatch(/^whsec_/);
    // With a script the page looks again by itself; without, it would take the secret away.
    await expect.poll(() => look(/Test event:.*500/), patience).toBe(true);
    if (!javaScriptEnabled) expect(await page.getByText(secret).count()).toBe(0);

    const client = new ItsmClient({ baseUrl: server.origin, apiKey: server.key });
    const { ticketNumber } = await client.tickets.create(ticket);
    await open('/developer/deliveries?event=ticket.created');
    await page.locator('td a[href^="/developer/deliveries/"]').first().click();
    await expect.poll(() => look(/Attempt 1/), patience).toBe(true);
    expect(await page.getByRole('link', { name: ticketNumber }).count()).toBe(1);
    isWell = true;
    await press('Replay delivery');
    await expect.poll(() => look(/delivered/), patience).toBe(true);
  });

  it('imports assets from a file, and sees them', async () => {
    await open('/developer/assets/import');
    const tags = file.buffer.toString().replaceAll('LT-', `${run}-`);
    await page.getByLabel('CSV file').setInputFiles({ ...file, buffer: Buffer.from(tags) });
    await press('Check the file');
    await page.getByText('2 assets can be imported').waitFor();
    await press('Import 2 assets');
    await page.waitForURL(`${server.origin}/developer/assets`);
    await page.getByText('<b>Old</b>').first().waitFor();
  });

  it('invites somebody else', async () => {
    await open('/developer/users/new');
    await page.getByLabel('Name').fill(`Noor ${run}`);
    await page.getByLabel('Email').fill(`noor.${run}@acme.example`);
    await page.getByLabel('Role').selectOption('ADMIN');
    await press('Invite');
    invitation = ((await page.getByLabel('Invitation link').textContent()) ?? '').trim();
    expect(invitation).toContain(`${server.origin}/developer/join?token=`);
  });
});

/** The link that was made last. */
let invitation = '';
