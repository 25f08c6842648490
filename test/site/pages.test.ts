import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { errors } from '@itsm-api/contract';
import { openApiDocument } from '@itsm-api/contract/openapi';
import { escapeHtml } from '@itsm-api/server/docs-site/escape-html.ts';
import { describe, expect } from 'vitest';
import { api, itWithApi as it } from '../support/fixture.ts';

async function get(path: string) {
  const { status, headers, text } = await api.call({ method: 'GET', path });
  expect(status, path).toBe(200);
  return { headers, text };
}

const linksIn = (html: string) => [...html.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href = '']) => href);
const anchorsIn = (html: string) => new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id));

/**
 * Returns all pages that links from the first page reach, directly or through other pages. Ignores links in the API
 * reference, because a script renders these links.
 */
async function walk(): Promise<Map<string, { headers: Record<string, string>; text: string }>> {
  const found = new Map<string, Awaited<ReturnType<typeof get>>>();
  const open = ['/'];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path)) continue;
    const page = await get(path);
    found.set(path, page);
    if (!page.headers['content-type']?.startsWith('text/html') || path === '/docs/') continue;
    const links = linksIn(page.text).map((href) => new URL(href, `http://site${path}`));
    const onSite = links.filter(({ host, pathname }) => host === 'site' && !pathname.startsWith('/developer'));
    open.push(...onSite.map(({ pathname }) => pathname));
  }
  return found;
}

describe('site pages', async () => {
  let found: Awaited<ReturnType<typeof walk>>;
  let pages: [path: string, page: Awaited<ReturnType<typeof get>>][];
  it.beforeAll(async () => {
    found = await walk();
    pages = [...found].filter(([, { headers }]) => headers['content-type'] === 'text/html; charset=utf-8');
  });

  it('makes all guides and main pages reachable from the first page', async () => {
    expect(pages.map(([path]) => path)).toEqual(
      expect.arrayContaining([
        ...['/', '/docs/', '/docs/client', '/docs/webhooks', '/docs/errors', '/docs/changelog'],
        ...['/docs/security', '/docs/guidelines', '/docs/examples', '/docs/scaling', '/docs/command-line'],
        ...['/docs/reliability', '/docs/measurements', '/docs/performance', '/docs/external-checks'],
        ...['/docs/operations/install-and-upgrade', '/docs/operations/monitor-and-repair'],
      ]),
    );
    const guides = await readdir(new URL('../../docs/guides', import.meta.url));
    const shown = pages.filter(([path]) => path.startsWith('/docs/guides/')).map(([path]) => `${basename(path)}.md`);
    expect(shown.sort()).toEqual(guides.sort());
  });

  it.each(['plan-changes', 'type-your-fields', 'client-examples'])(
    'redirects the earlier address of the guide %s to a page and its Markdown',
    async (name) => {
      for (const extension of ['', '.md']) {
        const { status, headers } = await api.call({ method: 'GET', path: `/docs/guides/${name}${extension}` });
        expect(status).toBe(301);
        await get(headers.location ?? '');
      }
    },
  );

  it('has no broken links on any page of the site', () => {
    const broken = pages.flatMap(([path, { text }]) =>
      linksIn(text).filter((href) => {
        const { host, pathname, hash } = new URL(href, `http://site${path}`);
        if (host !== 'site' || hash === '' || pathname === '/docs/') return false;
        return !anchorsIn(found.get(pathname)?.text ?? '').has(decodeURIComponent(hash.slice(1)));
      }),
    );
    expect(broken).toEqual([]);
  });

  it('has one main heading and no duplicate ids on each page of the site', () => {
    for (const [path, { text }] of pages) {
      const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
      expect(new Set(ids).size, path).toBe(ids.length);
      expect(text.match(/<h1/g), path).toHaveLength(1);
    }
  });

  it('allows only scripts and styles with a known hash on each page', () => {
    for (const [path, { headers, text }] of pages.filter(([path]) => path !== '/docs/')) {
      const policy = headers['content-security-policy'] ?? '';
      expect(policy, path).toMatch(
        /^default-src 'none'; script-src 'sha256-[\w+/=]{44}'; style-src 'sha256-[\w+/=]{44}';/,
      );
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
      expect(text.match(/<(script|style|link|img)[^>]*(src|style)=/g), path).toBeNull();
      expect(text, path).not.toMatch(/ style="| on\w+="/);
    }
  });

  it('keeps the compressed size of each page below 25 kB', () => {
    for (const [path, { text }] of pages) {
      expect(brotliCompressSync(text).length, path).toBeLessThan(25_000);
      if (path !== '/docs/') expect(text, path).not.toMatch(/<script[^>]+src|<link[^>]+stylesheet/);
    }
  });

  it('serves every page of the site as Markdown', async () => {
    for (const [path, { headers, text }] of pages) {
      const alternate = /<link rel="alternate" type="text\/markdown" href="([^"]+)">/.exec(text)?.[1] ?? '';
      expect(alternate).toBe(path.endsWith('/') ? `${path}index.md` : `${path}.md`);
      expect(headers.link).toBe(`<${alternate}>; rel="alternate"; type="text/markdown"`);
      const markdown = await get(alternate);
      expect(markdown.headers['content-type']).toBe('text/markdown; charset=utf-8');
      expect(markdown.text, alternate).toMatch(/^# /);
      const links = [...markdown.text.matchAll(/\]\(([^)#\s]*\.(?:md|ts))/g)].map(([, href = '']) => href);
      for (const href of links) await get(new URL(href, `http://site${alternate}`).pathname);
    }
  });

  it('describes each operation on a page that needs no script', () => {
    const page = (id: string) => found.get(`/docs/reference/${id}`)?.text ?? '';
    for (const operations of Object.values(openApiDocument().paths)) {
      for (const { operationId, summary = '' } of Object.values(operations)) {
        expect(page(operationId), operationId).toContain(`<h1>${escapeHtml(summary)}</h1>`);
      }
    }
    const text = page('tickets_update');
    expect(text).toContain('<code>PATCH /tickets/{id}</code>');
    for (const part of ['If-Match', 'addTags', 'TicketStatus', 'href="/docs/errors#INVALID_TRANSITION"']) {
      expect(text).toContain(part);
    }
    expect(text).toMatch(/<label><input type="radio"[^>]*value="curl"/);
  });

  it('shows drawings with text alternatives in the colors of the page', () => {
    const drawings = pages.flatMap(([, { text }]) => text.match(/<svg class="drawing"[^>]*>/g) ?? []);
    expect(drawings).toHaveLength(3);
    for (const drawing of drawings) expect(drawing).toMatch(/role="img" aria-label="[^"]{40,}"/);
  });

  it('responds to an unknown path with a page in a browser, and with an error to programs', async () => {
    const read = (path: string, accept: string) => api.call({ method: 'GET', path, headers: { accept } });
    const page = await read('/docs/guides/unknown', 'text/html,*/*;q=0.8');
    expect(page.status).toBe(404);
    expect(page.text).toContain('<h1>Page not found</h1>');
    expect(page.headers).toMatchObject({ 'cache-control': 'no-store', 'content-type': 'text/html; charset=utf-8' });
    for (const [path, accept] of [
      ['/docs/guides/unknown', 'application/json'],
      ['/api/public/v1/unknown', 'text/html'],
    ] as const) {
      const { status, body } = await read(path, accept);
      expect([status, body.error.code], path).toEqual([404, 'NOT_FOUND']);
    }
  });

  it.each(['/docs/security.md', '/docs/client.md'])('names only test files that exist in %s', async (path) => {
    const { text } = await get(path);
    const names = [...text.matchAll(/`(test\/[\w/.-]+)`/g)].map(([, name = '']) => name);
    expect(names).not.toEqual([]);
    expect(names.filter((name) => !existsSync(new URL(`../../${name}`, import.meta.url)))).toEqual([]);
  });

  it('lists every page of the site in llms.txt', async () => {
    const { text } = await get('/llms.txt');
    expect(text).toMatch(/^# ITSM Public API\n\n> /);
    const listed = [...text.matchAll(/^- \[.+\]\((\/.*?)\): .+$/gm)].map(([, path = '']) => path);
    for (const path of listed) await get(path);
    expect(listed.filter((path) => path.endsWith('.md'))).toHaveLength(pages.length);
    expect(new Set(listed).size).toBe(listed.length);
  });

  it('includes operations, error codes and guides in the search index of the site', async () => {
    const entries: { title: string; place: string; href: string; text: string }[] = JSON.parse(
      (await get('/docs/search.json')).text,
    );
    const places = entries.map(({ place }) => place);
    for (const [path, operations] of Object.entries(openApiDocument().paths)) {
      for (const method of Object.keys(operations)) expect(places).toContain(`${method.toUpperCase()} ${path}`);
    }
    expect(new Set(places.filter((place) => /^[A-Z]+ \//.test(place))).size).toBe(
      places.filter((place) => /^[A-Z]+ \//.test(place)).length,
    );
    for (const code of Object.keys(errors)) {
      const entry = entries.find(({ title }) => title === code);
      expect(entry).toMatchObject({ href: `/docs/errors#${code}`, text: expect.stringContaining('What to do:') });
    }
    expect(entries.find(({ title }) => title === 'Rotate the signing secret')).toMatchObject({
      place: 'Manage webhooks',
      href: '/docs/guides/manage-webhooks#rotate-the-signing-secret',
    });
  });
});
