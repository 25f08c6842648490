import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ItsmClient } from '@itsm-api/client';
import type { BrowserContext } from 'playwright-core';
import { launchBrowser } from './support/browser.ts';
import { type FirstStart, firstStart } from './support/first-start.ts';
import { startReceiver } from './support/receiver.ts';
import { ticket } from './support/workspace.ts';

/*
 * Saves screenshots of the site and the developer area, in light and dark themes and in desktop and phone sizes.
 * Usage: `pnpm screenshots [folder] [page]`
 */
const [folder = 'screenshots', only] = process.argv.slice(2);

const sitePages = {
  landing: '/',
  guide: '/docs/guides/manage-webhooks',
  client: '/docs/client',
  errors: '/docs/errors',
  reference: '/docs/',
};
const areaPages = {
  'area-overview': '/developer/overview',
  'area-keys': '/developer/keys',
  'area-key-new': '/developer/keys/new',
  'area-key': '/developer/keys/1',
  'area-usage': '/developer/usage',
  'area-requests': '/developer/requests',
  'area-webhooks': '/developer/webhooks',
  'area-webhook-new': '/developer/webhooks/new',
  'area-webhook': '/developer/webhooks/2',
  'area-deliveries': '/developer/deliveries',
  'area-delivery': '/developer/deliveries/2',
  'area-users': '/developer/users',
  'area-user': '/developer/users/2',
  'area-service-account-new': '/developer/users/new-service-account',
  'area-assets': '/developer/assets',
  'area-asset': '/developer/assets/3',
  'area-assets-import': '/developer/assets/import',
  'area-projects': '/developer/projects',
  'area-project': '/developer/projects/2',
  'area-projects-import': '/developer/projects/import',
  'area-articles': '/developer/articles',
  'area-article': '/developer/articles/1',
  'area-ticket': '/developer/tickets/INC-17',
  'area-settings': '/developer/settings',
  'area-audit': '/developer/audit',
  'area-account': '/developer/account',
  'area-not-found': '/developer/nothing',
};
const sizes = { wide: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

const server = await firstStart();
const browser = await launchBrowser();
await mkdir(folder, { recursive: true });
try {
  await makeTraffic(server);
  const signedIn = await signIn(server);
  await shoot(sitePages, undefined);
  await shoot({ 'area-sign-in': '/developer/sign-in' }, undefined);
  await shoot(areaPages, signedIn);
} finally {
  await browser.close();
  await server.stop();
}

/** Sends requests and webhooks, so the pages show data. */
async function makeTraffic({ origin, key }: FirstStart): Promise<void> {
  const [well, ill] = [
    await startReceiver(),
    await startReceiver((_, response) => response.writeHead(500).end('{"error":"no database"}')),
  ];
  const client = new ItsmClient({ baseUrl: origin, apiKey: key, maxRetries: 0 });
  for (const { url } of [well, ill]) {
    await client.webhooks.create({ url, events: ['ticket.created', 'ticket.updated'], secret: 'a secret of pictures' });
  }
  for (let i = 0; i < 4; i++) await client.tickets.create(ticket);
  // Sends more requests than the rate limit allows per minute, so the server rejects some of them.
  const headers = { authorization: `Bearer ${key}` };
  for (let i = 0; i < 40; i++) await fetch(`${origin}/api/public/v1/assets?page=${i + 1}`, { headers });
  // Waits until the server has written the usage counts and has retried failed deliveries.
  await sleep(12_000);
  await Promise.all([well.close(), ill.close()]);
}

async function signIn({ link }: FirstStart): Promise<Awaited<ReturnType<BrowserContext['storageState']>>> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(link);
  await page.getByRole('button', { name: 'Skip for now' }).click();
  await page.waitForURL('**/developer/overview');
  const state = await context.storageState();
  await context.close();
  return state;
}

async function shoot(
  pages: Record<string, string>,
  storageState: Awaited<ReturnType<typeof signIn>> | undefined,
): Promise<void> {
  for (const [name, path] of Object.entries(pages).filter(([name]) => only === undefined || name.startsWith(only))) {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const [size, viewport] of Object.entries(sizes)) {
        const context = await browser.newContext({ colorScheme, viewport, ...(storageState && { storageState }) });
        const page = await context.newPage();
        await page.goto(server.origin + path, { waitUntil: 'networkidle' });
        const file = join(folder, `${name}-${size}-${colorScheme}.png`);
        // If the visitor is signed in, captures the whole page. Otherwise, captures only the visible part.
        await page.screenshot({ path: file, fullPage: storageState !== undefined });
        process.stdout.write(`${file}\n`);
        await context.close();
      }
    }
  }
}
