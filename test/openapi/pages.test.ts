import type { Browser, Page } from 'playwright-core';
import { afterAll, expect } from 'vitest';
import { launchBrowser } from '../support/browser.ts';
import { api, it, workspace } from '../support/fixture.ts';

let origin: string;
let browser: Browser;

it.beforeAll(async () => {
  origin = await api.app.listen({ host: '127.0.0.1', port: 0 });
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
});

it('sends a test request from the API reference without contacting other hosts', async () => {
  await workspace.createTicket({ title: 'Seen in the browser' });
  const context = await browser.newContext({ viewport: { width: 1400, height: 1000 } });
  const requested: string[] = [];
  context.on('request', (request) => requested.push(request.url()));
  const page = await context.newPage();
  const problems = await collectProblems(page);

  await page.goto(`${origin}/docs`);
  expect(new URL(page.url()).pathname).toBe('/docs/');
  await page.getByRole('heading', { name: 'ITSM Public API' }).waitFor();
  await page.getByPlaceholder('Token').first().fill(workspace.key);
  await page.getByText('List tickets').first().click();
  await page.getByRole('button', { name: 'get /tickets' }).first().click();
  const responded = page.waitForResponse(`${origin}/api/public/v1/tickets*`);
  await page.getByRole('button', { name: /^send/i }).first().click();
  expect((await responded).status()).toBe(200);
  await page.getByText('"Seen in the browser"').first().waitFor();

  expect([...new Set(requested.filter(isSent).map((url) => new URL(url).origin))]).toEqual([origin]);
  expect(problems).toEqual([]);
  await context.close();
});

it('shows only samples in TypeScript, Python and the shell in the API reference', async () => {
  const page = await browser.newPage();
  await page.goto(`${origin}/docs/#tag/tickets/POST/tickets`);
  await page.getByText('client.tickets.create').first().waitFor();
  const chosen = page.getByRole('button', { name: 'TypeScript', exact: true });
  await chosen.first().click();
  expect(await page.getByRole('option').allInnerTexts()).toEqual(['TypeScript', 'Python', 'curl']);
  await page.close();
});

it('allows only scripts with a nonce in the API reference', async () => {
  const policies = await Promise.all(
    [1, 2].map(async () => (await fetch(`${origin}/docs/`)).headers.get('content-security-policy') ?? ''),
  );
  expect(new Set(policies).size).toBe(2);
  for (const policy of policies) {
    expect(policy).toMatch(/^default-src 'none'; script-src 'nonce-[\w+/=]{24}';/);
    expect(policy).toContain("connect-src 'self';");
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
  }
});

/** Returns true if the browser sends a network request for a URL. */
function isSent(url: string): boolean {
  return !/^(data|blob|about):/.test(url);
}

/** Collects the errors of a page and the violations of its content security policy. */
async function collectProblems(page: Page): Promise<string[]> {
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(`thrown: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(`console: ${message.text()}`);
  });
  await page.exposeFunction('reportViolation', (what: string) => {
    // Ignores violations that eval causes, because a library in Scalar tries to call eval but also works without eval.
    if (what !== 'script-src eval') problems.push(`forbidden: ${what}`);
  });
  await page.addInitScript(`addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
    reportViolation(violatedDirective + ' ' + blockedURI))`);
  return problems;
}
