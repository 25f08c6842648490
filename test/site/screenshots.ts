import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { addSite } from '@itsm-api/server/site/site.ts';
import Fastify from 'fastify';
import { launchBrowser } from '../support/browser.ts';

/*
 * Makes pictures of the site, to be looked at: `pnpm screenshots [folder] [page]`.
 */
const [folder = 'screenshots', only] = process.argv.slice(2);

const pages = {
  landing: '/',
  guide: '/docs/guides/managing-webhooks',
  client: '/docs/client',
  errors: '/docs/errors',
  reference: '/docs/',
};
const sizes = { wide: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

const app = Fastify();
await addSite(app);
const origin = await app.listen({ host: '127.0.0.1', port: 0 });
const browser = await launchBrowser();
await mkdir(folder, { recursive: true });

for (const [name, path] of Object.entries(pages).filter(([name]) => only === undefined || only === name)) {
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const [size, viewport] of Object.entries(sizes)) {
      const context = await browser.newContext({ colorScheme, viewport });
      const page = await context.newPage();
      await page.goto(origin + path, { waitUntil: 'networkidle' });
      const file = join(folder, `${name}-${size}-${colorScheme}.png`);
      await page.screenshot({ path: file });
      process.stdout.write(`${file}\n`);
      await context.close();
    }
  }
}
await browser.close();
await app.close();
