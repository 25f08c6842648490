import { pages } from '@itsm-api/server/developer/pages.ts';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, expect } from 'vitest';
import { launchBrowser, rulesOfLooks, violations } from '../support/browser.ts';
import { api, it, workspace as mine } from '../support/fixture.ts';
import { signIn } from '../support/visitor.ts';
import { addressOf, samples } from './samples.ts';

/* Uses axe to check the accessibility of all pages of the developer area. */
let origin: string;
let browser: Browser;
let signedIn: BrowserContext;
let signedOut: BrowserContext;
/** The open pages of each context that no test uses. Opening a page takes as long as a check. */
let idle: Map<BrowserContext, Page[]>;

it.beforeAll(async () => {
  const { port } = new URL(await api.app.listen({ host: '127.0.0.1', port: 0 }));
  origin = `http://localhost:${port}`;
  const visitor = await signIn(api, mine);
  const cookies = [...visitor.cookies].map(([name, value]) => ({
    name,
    value,
    domain: 'localhost',
    path: '/developer',
  }));
  await makeProblems();
  browser = await launchBrowser();
  [signedIn, signedOut] = [await browser.newContext(), await browser.newContext()];
  await signedIn.addCookies(cookies);
  idle = new Map([
    [signedIn, []],
    [signedOut, []],
  ]);
});
afterAll(async () => {
  await browser?.close();
});

/** Creates a key that expires and a failing webhook, so that the overview shows problems. */
async function makeProblems(): Promise<void> {
  await mine.createKey({ expiresAt: new Date(Date.now() + 86_400_000) });
  const { id } = await mine.createWebhook();
  const where = { tenantId: mine.tenantId, id: BigInt(id) };
  await api.prisma.webhookSubscription.updateMany({ where, data: { failures: 2, failingSince: new Date() } });
}

const seen = pages.filter(({ path }) => samples[path]?.kind === undefined);

const looks = [
  { colorScheme: 'light', width: 1280, height: 900, rules: undefined },
  { colorScheme: 'dark', width: 1280, height: 900, rules: rulesOfLooks },
  { colorScheme: 'light', width: 390, height: 844, rules: rulesOfLooks },
] as const;

it.concurrent.each(seen)('has no violations and no horizontal scrolling on $path', async ({ path, roles }) => {
  const context = roles === 'everyone' ? signedOut : signedIn;
  const page = idle.get(context)?.pop() ?? (await context.newPage());
  await page.goto(origin + (await addressOf(path, mine)));
  for (const { colorScheme, rules, ...viewport } of looks) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport);
    const look = `in ${colorScheme}, ${viewport.width} wide`;
    expect(await violations(page, rules), look).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), look).toBeLessThanOrEqual(0);
    const wideTables = await page.evaluate(
      "[...document.querySelectorAll('.table')].filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.ariaLabel)",
    );
    expect(wideTables, look).toEqual([]);
  }
  idle.get(context)?.push(page);
});

it('has no accessibility violations in the preview of an article', async () => {
  const page = await signedIn.newPage();
  await page.goto(`${origin}/developer/articles/new`);
  const body =
    '# Steps\n\n- [x] Read [this](https://example.com)\n\n```\ncode\n```\n\n| Code | Place |\n| --- | --- |\n| 1 | Flap |';
  await page.getByLabel('Text').fill(body);
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByRole('heading', { name: 'Steps' }).waitFor();
  expect(await violations(page, undefined)).toEqual([]);
});
