import { EventType } from '@itsm-api/contract';
import { downgrade, eventJsonSchema } from '@itsm-api/contract/openapi';
import type { FastifyInstance } from 'fastify';
import { stringify } from 'yaml';
import { serveSharedFiles } from '../http/shared-files.ts';
import { findApiDocument } from '../shared/api-document.ts';
import { lazy } from '../shared/lazy.ts';
import { policy } from './inlined-assets.ts';
import { listOfPages, sourceOf, withLinksToMarkdown } from './page-source.ts';
import { addReference } from './reference.ts';
import { linkToMarkdown, markdownPath, notFoundPage, type Page, pages, redirects, reference } from './site-pages.ts';

/**
 * Serves the documentation: the OpenAPI document in three formats, the JSON Schemas of events, all pages as HTML and
 * Markdown, the API reference and the search index. Building the files takes time and memory, so the server builds each
 * file when a client first requests it (docs/decisions/api-documentation.md).
 */
export async function addSite(app: FastifyInstance): Promise<void> {
  await app.register(async (scope) => {
    serveSharedFiles(scope, 'public, no-cache');
    addDocument(scope);
    for (const type of EventType.options) {
      serve(scope, `/schemas/${type}.json`, json, () => JSON.stringify(eventJsonSchema(type)));
    }
    for (const page of pages) addPage(scope, page);
    for (const [from, to] of Object.entries(redirects)) {
      scope.get(from, (_request, reply) => reply.redirect(to, 301));
      scope.get(`${from}.md`, (_request, reply) => reply.redirect(`${to}.md`, 301));
    }
    serve(scope, '/llms.txt', { 'content-type': 'text/plain; charset=utf-8' }, listOfPages);
    serve(scope, '/docs/search.json', json, async () => {
      const { searchIndex } = await import('./search-index.ts');
      return JSON.stringify(await searchIndex());
    });
    serve(scope, '/favicon.ico', { 'content-type': 'image/svg+xml' }, () => icon);
  });
  await app.register(addReference);
  app.sendNotFoundPage = async (reply) => {
    const { toPage } = await import('./article.ts');
    await reply
      .code(404)
      .headers({ ...htmlHeaders, 'cache-control': 'no-store' })
      .send(toPage(notFoundPage, await sourceOf(notFoundPage)));
  };
}

const htmlHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': policy,
  'referrer-policy': 'no-referrer',
};

const json = { 'content-type': 'application/json; charset=utf-8' };

function addDocument(scope: FastifyInstance): void {
  serve(scope, '/openapi.json', json, async () => JSON.stringify(await findApiDocument()));
  serve(scope, '/openapi-3.0.json', json, async () => JSON.stringify(downgrade(await findApiDocument())));
  serve(scope, '/openapi.yaml', { 'content-type': 'application/yaml; charset=utf-8' }, async () =>
    stringify(await findApiDocument(), { aliasDuplicateObjects: false, lineWidth: 0 }),
  );
}

function addPage(scope: FastifyInstance, page: Page): void {
  serve(scope, markdownPath(page), { 'content-type': 'text/markdown; charset=utf-8' }, async () =>
    withLinksToMarkdown(page, await sourceOf(page)),
  );
  // Skips the HTML of the API reference, because reference.ts serves it.
  if (page === reference) return;
  serve(scope, page.path, { ...htmlHeaders, link: linkToMarkdown(page) }, async () => {
    const { toPage } = await import('./article.ts');
    return toPage(page, await sourceOf(page));
  });
}

/** Serves a text. The server builds the text on the first request and caches it. */
function serve(
  scope: FastifyInstance,
  path: string,
  headers: Record<string, string>,
  build: () => string | Promise<string>,
): void {
  const text = lazy(build);
  scope.get(path, async (_request, reply) => {
    const payload = await text();
    return reply.headers(headers).send(payload);
  });
}

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#2563eb" ' +
  'd="M1 4h14v2.5a1.5 1.5 0 0 0 0 3V12H1V9.5a1.5 1.5 0 0 0 0-3z"/></svg>';
