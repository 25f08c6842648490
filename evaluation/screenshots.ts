import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ItsmClient } from '@itsm-api/client';
import type { BrowserContextOptions } from 'playwright-core';
import { launchBrowser } from '../test/support/browser.ts';
import { type FirstStart, firstStart } from '../test/support/first-start.ts';
import { startReceiver } from '../test/support/receiver.ts';
import { ticket } from '../test/support/workspace.ts';

/*
 * Saves screenshots of the site and the developer area, in light and dark themes and in desktop and phone sizes.
 * Usage: `pnpm screenshots [folder] [page]`
 * `pnpm screenshots --readme` replaces the pictures in the README instead.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { readme: { type: 'boolean', default: false } },
});
const [folder = 'screenshots', only] = positionals;

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
  'area-webhook': '/developer/webhooks/3',
  'area-deliveries': '/developer/deliveries',
  'area-delivery': '/developer/deliveries/4',
  'area-users': '/developer/users',
  'area-user': '/developer/users/2',
  'area-service-account-new': '/developer/users/new-service-account',
  'area-assets': '/developer/assets',
  'area-asset': '/developer/assets/one?id=3',
  'area-assets-import': '/developer/assets/import',
  'area-approvals': '/developer/approvals',
  'area-approval': '/developer/approvals/1',
  'area-proposals': '/developer/proposals',
  'area-proposal': '/developer/proposals/1',
  'area-teams': '/developer/teams',
  'area-team': '/developer/teams/one?id=1',
  'area-fields': '/developer/custom-fields',
  'area-field': '/developer/custom-fields/one?resource=TICKET&key=site',
  'area-ticket-categories': '/developer/ticket-categories',
  'area-request-forms': '/developer/request-forms',
  'area-request-form': '/developer/request-forms/one?key=laptop',
  'area-projects': '/developer/projects',
  'area-project': '/developer/projects/one?id=2',
  'area-projects-import': '/developer/projects/import',
  'area-articles': '/developer/articles',
  'area-article': '/developer/articles/1',
  'area-tickets': '/developer/tickets',
  'area-ticket': '/developer/tickets/INC-17',
  'area-change': '/developer/tickets/CHG-4',
  'area-business-hours': '/developer/business-hours',
  'area-settings': '/developer/settings',
  'area-audit': '/developer/audit',
  'area-account': '/developer/account',
  'area-not-found': '/developer/nothing',
};
type SignedIn = NonNullable<BrowserContextOptions['storageState']>;
const sizes = { wide: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

/** The address of a server with the default settings. Pages show it instead of the server's random port. */
const address = 'http://localhost:3000';
/** Replaces a font of code blocks, because Chromium from npm has no monospaced font. */
const font = await readFile(
  fileURLToPath(import.meta.resolve('@fontsource/dejavu-mono/files/dejavu-mono-latin-400-normal.woff2')),
  'base64',
);
const fontFace = `@font-face { font-family: Menlo; src: url(data:font/woff2;base64,${font}) }`;

const server = await firstStart();
const browser = await launchBrowser();
try {
  await makeTraffic(server);
  const signedIn = await signIn(server);
  if (values.readme) {
    const docs = join(import.meta.dirname, '../docs');
    for (const [name, colorScheme] of [['developer-area', 'light'] as const, ['developer-area-dark', 'dark'] as const])
      await shoot(areaPages['area-overview'], join(docs, `${name}.png`), { storageState: signedIn, colorScheme });
  } else {
    await mkdir(folder, { recursive: true });
    await shootAll({ ...sitePages, 'area-sign-in': '/developer/sign-in' });
    await shootAll(areaPages, signedIn);
  }
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

async function signIn({ link }: FirstStart): Promise<SignedIn> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(link);
  await page.getByRole('button', { name: 'Skip for now' }).click();
  await page.waitForURL('**/developer/overview');
  const state = await context.storageState();
  await context.close();
  return state;
}

/**
 * Saves screenshots of pages in both themes and sizes. If the visitor is signed in, captures whole pages. Otherwise,
 * captures only the visible part.
 */
async function shootAll(pages: Record<string, string>, storageState?: SignedIn): Promise<void> {
  for (const [name, path] of Object.entries(pages).filter(([name]) => only === undefined || name.startsWith(only))) {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const [size, viewport] of Object.entries(sizes)) {
        const file = join(folder, `${name}-${size}-${colorScheme}.png`);
        await shoot(
          path,
          file,
          { colorScheme, viewport, ...(storageState && { storageState }) },
          storageState !== undefined,
        );
      }
    }
  }
}

/** Saves a screenshot of a page, by default of the visible part on a desktop. */
async function shoot(path: string, file: string, options: BrowserContextOptions = {}, fullPage = false): Promise<void> {
  const context = await browser.newContext({ viewport: sizes.wide, bypassCSP: true, ...options });
  await context.route(`${address}/**`, async (route) => {
    const url = route.request().url().replace(address, server.origin);
    await route.fulfill({ response: await route.fetch({ url }) });
  });
  const page = await context.newPage();
  await page.goto(address + path, { waitUntil: 'networkidle' });
  await page.addStyleTag({ content: fontFace });
  await page.evaluate("document.fonts.load('1em Menlo')");
  await page.screenshot({ path: file, fullPage });
  process.stdout.write(`${file}\n`);
  await context.close();
}
