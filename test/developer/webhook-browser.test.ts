import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser } from '../support/browser.ts';
import { type Receiver, type Sender, startReceiver, startSender } from '../support/receiver.ts';
import { signIn } from '../support/visitor.ts';

/* Creates a webhook in a browser, shows its failed test event, and replays the delivery. */
let sender: Sender;
let browser: Browser;
let origin: string;
let receiver: Receiver;
let status: number;

beforeAll(async () => {
  sender = await startSender();
  await sender.startWorker();
  const { port } = new URL(await sender.api.app.listen({ host: '127.0.0.1', port: 0 }));
  origin = `http://localhost:${port}`;
  // Delays each response, so that the page loads before the response arrives.
  receiver = await startReceiver((_, response) => setTimeout(() => response.writeHead(status).end(), 1500));
  browser = await launchBrowser();
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await receiver.close();
  await sender.close();
});

describe.each([
  { script: 'with', javaScriptEnabled: true },
  { script: 'without', javaScriptEnabled: false },
])('$script a script', ({ javaScriptEnabled }) => {
  it('creates a webhook, shows its failed test event and replays the delivery', { timeout: 60_000 }, async () => {
    status = 503;
    const { cookies } = await signIn(sender.api, sender.workspace);
    const context = await browser.newContext({ javaScriptEnabled });
    await context.addCookies([...cookies].map(([name, value]) => ({ name, value, url: `${origin}/developer` })));
    const page = await context.newPage();
    const pageErrors: string[] = [];
    page.on('console', (message) => message.type() === 'error' && pageErrors.push(message.text()));
    page.on('pageerror', (error) => pageErrors.push(error.message));

    await page.goto(`${origin}/developer/webhooks/new`);
    await page.getByLabel('URL').fill(receiver.url);
    await page.getByLabel('ticket.created').check();
    await page.getByRole('button', { name: 'Create and send test event' }).click();
    const secret = page.getByLabel('Signing secret', { exact: true }).first();
    expect(await secret.textContent()).toMatch(/^whsec_/);
    await page.getByText('Sending.').waitFor();
    if (javaScriptEnabled) {
      // The page shows the result of the test event without hiding the secret.
      await page.locator('#test').getByText('503').waitFor();
      expect(await secret.textContent()).toMatch(/^whsec_/);
    }

    await page.getByRole('link', { name: 'View the test event' }).click();
    await page.locator('#outcome').getByText('503').first().waitFor();
    status = 200;
    await page.getByRole('button', { name: 'Replay delivery' }).click();
    await page.locator('#outcome').getByText('delivered').waitFor();
    expect(await page.locator('.attempts li').count()).toBe(2);

    await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
    await page.getByLabel('Status').selectOption('EXHAUSTED');
    if (!javaScriptEnabled) await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByText('No deliveries match your filters.').waitFor();
    expect(new URL(page.url()).searchParams.get('state')).toBe('EXHAUSTED');
    expect(pageErrors).toEqual([]);
    await context.close();
  });
});
