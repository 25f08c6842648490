import { readdirSync, readFileSync } from 'node:fs';
import { errors, groups, scopes, UserRole } from '@itsm-api/contract';
import { openApiDocument } from '@itsm-api/contract/openapi';
import { pages } from '@itsm-api/server/docs-site/site-pages.ts';
import { describe, expect, it } from 'vitest';
import * as demo from '../../prisma/demo-data.ts';

/* Compares lists and figures in pages with what they describe. */
const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const filesIn = (folder: string, extension: string) =>
  readdirSync(new URL(folder, root)).filter((name) => name.endsWith(extension));
const code = (names: readonly string[]) => names.map((name) => `\`${name}\``);

const guides = filesIn('docs/guides', '.md');
const examples = filesIn('examples', '.ts');
const codes = Object.keys(errors) as (keyof typeof errors)[];

describe('page lists', () => {
  it.each([
    ['docs/guides/api-keys.md', 'scopes', code(Object.keys(scopes))],
    ['docs/guides/rate-limits.md', 'endpoint groups', code(groups)],
    ['docs/guides/roles.md', 'roles', code(UserRole.options)],
    ['docs/decisions/errors.md', 'error codes', code(codes)],
    ['docs/README.md', 'guides', guides.map((name) => `guides/${name}`)],
    ['examples/README.md', 'examples', examples.map((name) => `(${name})`)],
    ['docs/decisions/README.md', 'decisions', filesIn('docs/decisions', '.md').filter((name) => name !== 'README.md')],
  ])('lists in %s all %s', (page, _, names) => {
    const text = read(page);
    expect(names.filter((name) => !text.includes(name))).toEqual([]);
  });

  it('gives each page in docs a base name of its own', () => {
    const names = readdirSync(new URL('docs', root), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => name.replace(/^.*\//, ''))
      .filter((name) => name !== 'README.md');
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it('has a page on the site for each example', () => {
    const sources = pages.map(({ source }) => source);
    expect(examples.filter((name) => !sources.includes(`examples/${name}`))).toEqual([]);
  });

  it('describes in the guide about errors each status, and each code of a status other than 400', () => {
    const rows = new Map(
      [...read('docs/guides/handle-errors.md').matchAll(/^\| (\d{3}) +\|(.*)\|$/gm)].map(([, status, text]) => [
        Number(status),
        text ?? '',
      ]),
    );
    const statuses = codes.map((name) => errors[name].status);
    expect([...rows.keys()].sort()).toEqual([...new Set(statuses)].sort());
    const ambiguous = codes.filter(
      (name) => errors[name].status > 400 && statuses.filter((status) => status === errors[name].status).length > 1,
    );
    expect(ambiguous.filter((name) => !rows.get(errors[name].status)?.includes(`\`${name}\``))).toEqual([]);
  });

  it('states in the page about reliability the number of operations and mutations', () => {
    const text = read('docs/reliability.md');
    const operations = Object.values(openApiDocument().paths)
      .flatMap((path) => Object.keys(path))
      .filter((method) => /^(get|post|patch|delete)$/.test(method)).length;
    expect(text).toContain(
      `for each of ${operations} operations in each run, ${(operations * 100).toLocaleString('en')} in total`,
    );
    const rows = [...read('evaluation/mutation/README.md').matchAll(/^\| .*\| +(\d+) \| +([\d.]+)% \|$/gm)];
    const mutations = rows.reduce((sum, [, count]) => sum + Number(count), 0);
    const detected = rows.map(([, , percent]) => Number(percent));
    expect(text).toContain(`Stryker made ${mutations} mutations in ${rows.length} files.`);
    expect(text.replaceAll(/\s+/g, ' ')).toContain(
      `detected between ${Math.min(...detected)}% and ${Math.max(...detected)}% of the mutations`,
    );
  });

  it.each(['docs/index.md', 'docs/guides/verify-signatures.md', 'examples/webhook-receiver.ts'])(
    'responds in %s with 400 to a webhook with an invalid signature',
    (page) => {
      const statuses = [...read(page).matchAll(/writeHead\((.*?)\)\.end/g)].map(([, status = '']) => status);
      expect(statuses.filter((status) => /401/.test(status))).toEqual([]);
      expect(statuses.some((status) => status.includes('400'))).toBe(true);
    },
  );

  it('uses only ids of the demo workspace in samples', () => {
    const counts: Record<string, number> = {
      ...{ tickets: demo.tickets.length, assets: demo.assets.length, projects: demo.projects.length },
      ...{ teams: Object.keys(demo.teams).length, users: Object.keys(demo.people).length, webhooks: 1 },
      deliveries: demo.deliveries.length,
    };
    const texts = [
      'README.md',
      'client/README.md',
      'contract/README.md',
      'docs/index.md',
      'docs/command-line.md',
      ...guides.map((name) => `docs/guides/${name}`),
    ]
      .map(read)
      .join('\n');
    const ids = [
      ...texts.matchAll(
        /\b(tickets|assets|projects|teams|users|webhooks|deliveries)(?:\/|\.\w+\(| (?:show|update|erase|activate|deactivate|test|replay) )(\d+)\b/g,
      ),
    ];
    expect(ids.length).toBeGreaterThan(20);
    expect(ids.filter(([, resource = '', id]) => Number(id) > (counts[resource] ?? 0)).map(([text]) => text)).toEqual(
      [],
    );
  });
});
