import { listAssets } from '@itsm-api/server/resources/assets/queries.ts';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, expect } from 'vitest';
import { launchBrowser } from '../support/browser.ts';
import { api, itWithApi as it } from '../support/fixture.ts';
import { signIn } from '../support/visitor.ts';
import { createWorkspace } from '../support/workspace.ts';

let origin: string;
let browser: Browser;

it.beforeAll(async () => {
  const { port } = new URL(await api.app.listen({ host: '127.0.0.1', port: 0 }));
  origin = `http://localhost:${port}`;
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
});

async function send(page: Page, text: string): Promise<void> {
  const file = { name: 'assets.csv', mimeType: 'text/csv', buffer: Buffer.from(text) };
  await page.getByLabel('CSV file').setInputFiles(file);
  await page.getByRole('button', { name: 'Check the file' }).click();
}

/** Returns the accessibility violations that axe finds. axe works only in a browser with scripts. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found = await page.evaluate<{ id: string }[]>('axe.run().then(({ violations }) => violations)');
  return found.map(({ id }) => id);
}

it.each([
  ['with script', true],
  ['without script', false],
])('imports a CSV file in a browser %s', async (_, javaScriptEnabled) => {
  const mine = await createWorkspace(api);
  const { cookies } = await signIn(api, mine);
  const context = await browser.newContext({ javaScriptEnabled });
  const all = [...cookies].map(([name, value]) => ({ name, value, domain: 'localhost', path: '/' }));
  await context.addCookies(all);
  const page = await context.newPage();
  await page.goto(`${origin}/developer/assets`);
  await page.getByRole('link', { name: 'Import CSV' }).click();

  await send(page, 'name,assetTag,type\nLaptop,L-1,LAPTOPS\n,L-2,OTHER\n');
  await page.getByRole('cell', { name: 'must be one of LAPTOP' }).waitFor();
  if (javaScriptEnabled) expect(await violations(page)).toEqual([]);

  await send(page, 'name,assetTag,type\nLaptop,L-1,LAPTOP\nPhone,L-2,MOBILE\n');
  await page.getByRole('cell', { name: 'L-2' }).waitFor();
  if (javaScriptEnabled) expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Import 2 assets' }).click();
  await page.getByText('Imported 2 assets.').waitFor();
  expect((await listAssets(mine.context, { page: 1, perPage: 10 })).data).toHaveLength(2);

  await page.getByRole('searchbox', { name: 'Search' }).fill('phone');
  // Without scripts, the list has no live search, so the test presses the Search button.
  if (!javaScriptEnabled) await page.getByRole('button', { name: 'Search' }).click();
  await page.waitForURL(/q=phone/);
  await page.getByText('1 in total').waitFor();
  expect(await page.getByRole('cell', { name: 'L-1' }).count()).toBe(0);
  await context.close();
});
