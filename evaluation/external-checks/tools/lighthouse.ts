import { type ExternalCheck, run, toResult, versionReader } from '../external-check.ts';

interface Report {
  categories: Record<string, { score: number }>;
}

const pages = ['/', '/docs/guides/manage-webhooks', '/docs/reference/tickets_update'];

/** The minimum scores by profile. A phone has a slower processor and network, which Lighthouse simulates. */
const profiles = {
  desktop: { args: ['--preset=desktop'], performance: 95 },
  phone: { args: [], performance: 90 },
};
const runs = 3;

/**
 * Lighthouse with the installed Chromium, such as Debian's. Run it on a quiet machine, because other load lowers the
 * score of the performance.
 */
export const lighthouse: ExternalCheck = {
  name: 'Lighthouse',
  about:
    'The start page, a guide and the page of an operation, as on a desktop and on a phone. A check is the median score ' +
    'of a category in three runs: at least 95, or 90 for the performance on a phone.',
  version: versionReader('lighthouse'),
  async run({ origin }) {
    const env = { CHROME_PATH: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium' };
    const failures: { rule: string; message: string }[] = [];
    let checks = 0;
    for (const path of pages) {
      for (const [profile, { args, performance }] of Object.entries(profiles)) {
        const minimum: Record<string, number> = { accessibility: 95, 'best-practices': 95, seo: 95, performance };
        const reports: Report[] = [];
        for (let i = 0; i < runs; i++)
          reports.push(await audit(origin + path, [...args, ...categoriesOf(minimum)], env));
        for (const [category, least] of Object.entries(minimum)) {
          checks++;
          const scores = reports.map(({ categories }) => Math.round((categories[category]?.score ?? 0) * 100));
          const median = scores.sort((a, b) => a - b)[Math.floor(runs / 2)] ?? 0;
          if (median < least) failures.push({ rule: category, message: `${path} has ${median} as on a ${profile}` });
        }
      }
    }
    return toResult(checks, failures);
  },
};

function categoriesOf(minimum: Record<string, number>): string[] {
  return [`--only-categories=${Object.keys(minimum).join(',')}`];
}

async function audit(url: string, args: string[], env: Record<string, string>): Promise<Report> {
  const chromeFlags = '--chrome-flags=--headless=new --no-sandbox --disable-gpu';
  const output = await run('lighthouse', [url, '--output=json', '--quiet', chromeFlags, ...args], { env });
  return JSON.parse(output) as Report;
}
