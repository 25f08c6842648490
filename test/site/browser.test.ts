import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, describe, expect } from 'vitest';
import { launchBrowser, violations } from '../support/browser.ts';
import { api, itWithApi as it } from '../support/fixture.ts';

let origin: string;
let browser: Browser;

it.beforeAll(async () => {
  origin = await api.app.listen({ host: '127.0.0.1', port: 0 });
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
});

const wide = { width: 1400, height: 900 };
const phone = { width: 390, height: 844 };

async function openPage(context: BrowserContext, path: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(origin + path);
  return page;
}

/** Some elements are visible only at one window width or in one theme, so the tests cover each width and theme once. */
const looks = [
  { colorScheme: 'light', viewport: wide },
  { colorScheme: 'dark', viewport: phone },
] as const;

describe.each(looks)('site in $colorScheme theme, $viewport.width px wide', ({ colorScheme, viewport }) => {
  let context: BrowserContext;
  it.beforeAll(async () => {
    context = await browser.newContext({ colorScheme, viewport });
  });
  afterAll(() => context.close());

  it.each([
    ...['/', '/docs/guides/manage-webhooks', '/docs/client', '/docs/webhooks', '/docs/errors', '/docs/'],
    ...['/docs/reference', '/docs/reference/tickets_update', '/docs/security'],
  ])(
    'has no accessibility violations and no horizontal overflow on the page %s',
    async (path) => {
      const page = await openPage(context, path);
      if (path === '/docs/') await page.getByRole('heading', { name: 'ITSM Public API' }).waitFor();
      await page.waitForLoadState('networkidle');
      expect(await violations(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(viewport.width);
      await page.close();
    },
    60_000,
  );

  it('has no accessibility violations in the site search', async () => {
    const page = await openPage(context, '/');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('combobox', { name: 'Search' }).fill('secret');
    await page.getByRole('option').first().waitFor();
    expect(await violations(page)).toEqual([]);
    await page.close();
  });
});

describe('keyboard navigation of the site', () => {
  let context: BrowserContext;
  let page: Page;
  it.beforeAll(async () => {
    context = await browser.newContext({ viewport: wide });
    page = await openPage(context, '/docs/guides/sync-changes');
  });
  afterAll(() => context.close());

  it('offers a link that skips the page header as the first Tab stop', async () => {
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
  });

  it('supports keyboard navigation in the site search', async () => {
    await page.keyboard.press('/');
    await page.keyboard.type('rate_limit');
    await page.getByRole('option', { name: 'RATE_LIMIT_EXCEEDED' }).first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/errors#RATE_LIMIT_EXCEEDED');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('replay events');
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('Escape');
    expect(await page.getByRole('dialog').isVisible()).toBe(false);
  });
});

it('ranks pages by rare search words if no page contains all search words', async () => {
  const context = await browser.newContext({ viewport: wide });
  const page = await openPage(context, '/');
  await page.getByRole('button', { name: 'Search' }).click();
  const input = page.getByRole('combobox', { name: 'Search' });
  await input.fill('zebra client INVALID_TRANSITION');
  const status = page.getByRole('status');
  // The first search loads the search index.
  await expect.poll(() => status.textContent()).toContain('some of them');
  const firstResult = async () => (await page.getByRole('option').allTextContents())[0];
  await expect.poll(firstResult).toContain('INVALID_TRANSITION');
  await input.fill('zebraxyz');
  await expect.poll(() => status.textContent()).toBe('No results. Try other words.');
  expect(await page.getByRole('option').count()).toBe(0);
  await input.fill('rotate signing secret');
  await page.getByRole('option', { name: /^Rotate the signing secret/ }).waitFor();
  expect(await page.locator('dialog.search .none').textContent()).toBe('');
  await context.close();
});

it.each([
  ['sla', 'Set response targets'],
  ['retire assets', 'Change the status'],
  ['java', 'API reference'],
  ['requests left', 'Stay within the rate limits'],
  ['status transitions', 'Change the status'],
  ['find a ticket by the id of another system', 'Search and filter'],
  ['How do I upgrade without downtime?', 'Upgrade without downtime'],
  ['What can it not do?', 'Limits of the API'],
])('finds for the words "%s" first: %s', async (words, title) => {
  const context = await browser.newContext({ viewport: wide });
  const page = await openPage(context, '/');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('combobox', { name: 'Search' }).fill(words);
  await expect.poll(() => page.getByRole('option').locator('b').first().textContent()).toBe(title);
  await context.close();
});

it('shows code in the chosen language, also on the next page', async () => {
  const context = await browser.newContext({ viewport: wide });
  const page = await openPage(context, '/');
  const code = (text: string) => page.locator('.code', { hasText: text }).first();
  expect(await code('import { ItsmClient }').isVisible()).toBe(false);
  await page.getByText('TypeScript', { exact: true }).first().click();
  expect(await code('client.tickets.get(40)').isVisible()).toBe(true);
  expect(await code('curl "').isVisible()).toBe(false);
  await page.goto(`${origin}/docs/reference/webhooks_create`);
  expect(await page.getByRole('radio', { name: 'TypeScript' }).isChecked()).toBe(true);
  await context.close();
});

it('opens the page of an operation from the search results', async () => {
  const context = await browser.newContext({ viewport: wide });
  const page = await openPage(context, '/');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('combobox', { name: 'Search' }).fill('create many tickets');
  await page.getByRole('option', { name: /^Create many tickets POST/ }).click();
  await page.waitForURL('**/docs/reference/tickets_createMany');
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Create many tickets');
  await context.close();
});

it('shows the page menu and the theme switch on small screens', async () => {
  const context = await browser.newContext({ viewport: phone, colorScheme: 'light' });
  const page = await openPage(context, '/');
  await page.getByRole('button', { name: 'All pages' }).click();
  await page.getByRole('navigation', { name: 'All pages' }).getByRole('link', { name: 'Paginate lists' }).click();
  await page.waitForURL('**/docs/guides/pagination');
  await page.getByRole('button', { name: 'Dark theme' }).click();
  await page.reload();
  expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('dark');
  await context.close();
});

it('inserts the origin of the server into copied code samples', async () => {
  const context = await browser.newContext({ viewport: wide });
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin });
  const page = await openPage(context, '/docs/guides/first-request');
  await page.getByRole('button', { name: 'Copy' }).first().click();
  expect(await page.evaluate('navigator.clipboard.readText()')).toContain(`export ITSM_URL=${origin}`);
  await context.close();
});

it('loads each page of the site with a single request', async () => {
  const context = await browser.newContext({ viewport: wide });
  const requested: string[] = [];
  context.on('request', (request) => requested.push(request.url()));
  const complaints: string[] = [];
  context.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  for (const path of ['/', '/docs/guides/first-request']) {
    requested.length = 0;
    const page = await openPage(context, path);
    await page.waitForLoadState('networkidle');
    expect(requested.filter((url) => !url.endsWith('/favicon.ico'))).toEqual([origin + path]);
    await page.close();
  }
  expect(complaints).toEqual([]);
  await context.close();
});
