import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';

/** The Chromium that is installed, or the one that comes from the npm registry; it talks to nobody by itself. */
export async function launchBrowser(): Promise<Browser> {
  const installed = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
  const quiet = ['--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update'];
  return chromium.launch({
    executablePath: existsSync(installed) ? installed : await unpackBrowser(),
    args: [...quiet, '--disable-sync', '--no-sandbox', '--disable-gpu'],
  });
}

/** The package brings the libraries that a bare machine lacks, and unpacks them where it believes to be in a Lambda. */
async function unpackBrowser(): Promise<string> {
  process.env.AWS_LAMBDA_JS_RUNTIME ??= 'nodejs22.x';
  const { default: packed } = await import('@sparticuz/chromium');
  return packed.executablePath();
}

/** Gives a page a passkey device that signs by itself wherever somebody is asked for a finger. */
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

/** What of axe's rules depends on colours and on where things stand; all others find the same in every theme and width. */
export const rulesOfLooks = ['color-contrast', 'link-in-text-block', 'scrollable-region-focusable', 'target-size'];

/**
 * What axe finds wrong with a page. It is run apart from the page, whose policy lets nobody add a script, and is read once
 * for each page: that takes as long as a run.
 * @param rules the only ones that are looked at; all unless given
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
