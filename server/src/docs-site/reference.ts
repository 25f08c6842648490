import { createHash, randomBytes } from 'node:crypto';
import Fastify, { type FastifyInstance } from 'fastify';
import { serveSharedFiles } from '../http/shared-files.ts';
import { ApiError } from '../shared/errors.ts';
import { lazy } from '../shared/lazy.ts';
import { referenceStyles } from './inlined-assets.ts';
import { renderLayout } from './site-layout.ts';
import { linkToMarkdown, reference } from './site-pages.ts';

/** The HTML of the page is cached. In each response, the server replaces this placeholder with a new nonce. */
const noncePlaceholder = 'NONCE-OF-THIS-RESPONSE';

/**
 * Adds the API reference. The page runs the Scalar app, which this server hosts. The app's configuration disables
 * requests to other hosts, and the content security policy blocks them. The app is 4 MB in size, so the server loads it
 * only when a client first requests the reference.
 */
export async function addReference(app: FastifyInstance): Promise<void> {
  const script = lazy(readScript);
  const page = lazy(async () => render((await script()).path));

  app.get('/docs', (_request, reply) => reply.redirect(reference.path, 301));
  app.get(reference.path, async (_request, reply) => {
    const nonce = randomBytes(16).toString('base64');
    reply.headers({
      'content-security-policy': policy(nonce),
      'referrer-policy': 'no-referrer',
      link: linkToMarkdown(reference),
    });
    return reply.type('text/html; charset=utf-8').send((await page()).replaceAll(noncePlaceholder, nonce));
  });
  await app.register(async (scope) => {
    serveSharedFiles(scope, 'public, max-age=31536000, immutable');
    scope.get('/docs/js/:name', async (request, reply) => {
      const { path, text } = await script();
      if (request.url !== path)
        throw new ApiError('NOT_FOUND', `File not found. The script of the reference is at ${path}.`);
      return reply.type('text/javascript; charset=utf-8').send(text);
    });
  });
}

/** Reads Scalar's script from its Fastify plugin. The path contains a hash of the script. */
async function readScript(): Promise<{ path: string; text: string }> {
  const { default: plugin } = await import('@scalar/fastify-api-reference');
  const server = Fastify();
  await server.register(plugin, { routePrefix: '/', configuration: { url: '/openapi.json' } });
  const { body: text } = await server.inject('/js/scalar.js');
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 16);
  return { path: `/docs/js/scalar-${hash}.js`, text };
}

function render(script: string): string {
  // The loading message is outside Scalar's element, because Scalar would treat the message as server-rendered content.
  const body = `<div id="content" tabindex="-1">
<div id="reference"></div>
<div class="coming"><h1>API reference</h1><p>Loading operations and fields …</p></div>
</div>
<script defer nonce="${noncePlaceholder}" src="${script}"></script>
<script nonce="${noncePlaceholder}">addEventListener('DOMContentLoaded', () =>
  Scalar.createApiReference('#reference', ${JSON.stringify(configuration)}));</script>`;
  return renderLayout({ page: reference, styles: referenceStyles, body, listed: false, nonce: noncePlaceholder });
}

const configuration = {
  url: '/openapi.json',
  nonce: noncePlaceholder,
  theme: 'none',
  telemetry: false,
  withDefaultFonts: false,
  defaultOpenAllTags: true,
  hideClientButton: true,
  // Hides the code samples that Scalar generates, because the OpenAPI document contains samples.
  hiddenClients: true,
  hideDarkModeToggle: true,
  // Hides Scalar's search, because the search in the header also finds guides and errors.
  hideSearch: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
};

function policy(nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    // Allows all styles, because Scalar and its dependencies add styles without the nonce.
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
