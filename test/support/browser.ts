import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';

/**
 * Launches the installed Chromium, or the Chromium from npm. The browser sends no background requests to other servers.
 */
export async function launchBrowser(): Promise<Browser> {
  const installed = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
  const quiet = ['--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update'];
  return chromium.launch({
    executablePath: existsSync(installed) ? installed : await unpackBrowser(),
    args: [...quiet, '--disable-sync', '--no-sandbox', '--disable-gpu'],
  });
}

/**
 * Unpacks Chromium and the libraries that minimal machines lack. Sets `AWS_LAMBDA_JS_RUNTIME`, because
 * @sparticuz/chromium unpacks the libraries only on AWS Lambda.
 */
async function unpackBrowser(): Promise<string> {
  process.env.AWS_LAMBDA_JS_RUNTIME ??= 'nodejs22.x';
  const { default: packed } = await import('@sparticuz/chromium');
  return packed.executablePath();
}

/** Adds a virtual passkey device to a page. The device always confirms that the user is present. */
export async function addAuthenticator(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

interface Violation {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}

/**
 * The axe rules that depend on colors and positions. Other rules have the same result in every theme and window width.
 */
export const rulesOfLooks = ['color-contrast', 'link-in-text-block', 'scrollable-region-focusable', 'target-size'];

/**
 * Returns the violations that axe finds on a page. Runs axe in an isolated world, because the page's content security
 * policy blocks added scripts. Loads axe only once per page, because loading axe takes as long as running the checks.
 * @param rules the rules to check. By default, all rules.
 */
export async function violations(page: Page, rules?: string[]): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  const { frameTree } = await session.send('Page.getFrameTree');
  const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', {
    frameId: frameTree.frame.id,
    worldName: 'axe',
  });
  const known = await session.send('Runtime.evaluate', { expression: 'typeof axe', contextId });
  if (known.result.value === 'undefined') {
    await session.send('Runtime.evaluate', { expression: axe.source, contextId });
  }
  const { result } = await session.send('Runtime.evaluate', {
    expression: `axe.run(${JSON.stringify(rules === undefined ? {} : { runOnly: rules })}).then(({ violations }) => violations)`,
    contextId,
    awaitPromise: true,
    returnByValue: true,
  });
  await session.detach();
  return (result.value as Violation[]).flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}
