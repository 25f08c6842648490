import { pages } from '@itsm-api/server/developer/pages.ts';
import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Api, startApi } from '../support/api.ts';
import { launchBrowser, rulesOfLooks, violations } from '../support/browser.ts';
import { signIn } from '../support/visitor.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';
import { addressOf, samples } from './samples.ts';

/* Uses axe to check the accessibility of all pages of the developer area. */
let api: Api;
let mine: Workspace;
let origin: string;
let browser: Browser;
let cookies: Parameters<BrowserContext['addCookies']>[0];

beforeAll(async () => {
  api = await startApi();
  mine = await createWorkspace(api);
  const { port } = new URL(await api.app.listen({ host: '127.0.0.1', port: 0 }));
  origin = `http://localhost:${port}`;
  const visitor = await signIn(api, mine);
  cookies = [...visitor.cookies].map(([name, value]) => ({ name, value, domain: 'localhost', path: '/developer' }));
  browser = await launchBrowser();
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await api.close();
});

const seen = pages.filter(({ path }) => samples[path]?.kind === undefined);

const looks = [
  { colorScheme: 'light', width: 1400, height: 900, rules: undefined },
  { colorScheme: 'dark', width: 390, height: 844, rules: rulesOfLooks },
] as const;

it.each(seen)('has no accessibility violations and no horizontal scrolling on $path', async ({ path, roles }) => {
  const context = await browser.newContext();
  if (roles !== 'everyone') await context.addCookies(cookies);
  const page = await context.newPage();
  await page.goto(origin + (await addressOf(path, mine)));
  for (const { colorScheme, rules, ...viewport } of looks) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport);
    const look = `in ${colorScheme}, ${viewport.width} wide`;
    expect(await violations(page, rules), look).toEqual([]);
    // A wide table can scroll horizontally, but the page must not.
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), look).toBeLessThanOrEqual(0);
  }
  await context.close();
});

it('has no accessibility violations in the preview of an article', async () => {
  const context = await browser.newContext();
  await context.addCookies(cookies);
  const page = await context.newPage();
  await page.goto(`${origin}/developer/articles/new`);
  const body =
    '# Steps\n\n- [x] Read [this](https://example.com)\n\n```\ncode\n```\n\n| Code | Place |\n| --- | --- |\n| 1 | Flap |';
  await page.getByLabel('Text').fill(body);
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByRole('heading', { name: 'Steps' }).waitFor();
  expect(await violations(page, undefined)).toEqual([]);
  await context.close();
});
