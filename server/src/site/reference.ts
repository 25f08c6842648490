import { createHash, randomBytes } from 'node:crypto';
import Fastify, { type FastifyInstance } from 'fastify';
import { ApiError } from '../errors.ts';
import { shareFiles } from '../http/shared-files.ts';
import { lazily } from '../lazily.ts';
import { referenceStyles } from './inlined.ts';
import { layOut } from './layout.ts';
import { linkToMarkdown, reference } from './pages.ts';

/** Stands in the page where each answer has a nonce of its own. */
const noncePlaceholder = 'NONCE-OF-THIS-ANSWER';

/**
 * The reference: Scalar, from this host alone. What it would ask of others is off, and the policy forbids the rest. It is
 * loaded when somebody reads the reference: it is a module of 4 MB.
 */
export async function addReference(app: FastifyInstance): Promise<void> {
  const script = lazily(readScript);
  const page = lazily(async () => render((await script()).path));

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
    shareFiles(scope, 'public, max-age=31536000, immutable');
    scope.get('/docs/js/:name', async (request, reply) => {
      const { path, text } = await script();
      if (request.url !== path) throw new ApiError('NOT_FOUND', `File not found. The script of the reference is at ${path}.`);
      return reply.type('text/javascript; charset=utf-8').send(text);
    });
  });
}

/** The script as the plugin serves it, at a path that changes with it. */
async function readScript(): Promise<{ path: string; text: string }> {
  const { default: plugin } = await import('@scalar/fastify-api-reference');
  const server = Fastify();
  await server.register(plugin, { routePrefix: '/', configuration: { url: '/openapi.json' } });
  const { body: text } = await server.inject('/js/scalar.js');
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 16);
  return { path: `/docs/js/scalar-${hash}.js`, text };
}

function render(script: string): string {
  // Scalar takes what is in its place for its own, from a server: what is seen before it comes stands beside it.
  const body = `<div id="content" tabindex="-1">
<div id="reference"></div>
<div class="coming"><h1>API reference</h1><p>Loading operations and fields …</p></div>
</div>
<script defer nonce="${noncePlaceholder}" src="${script}"></script>
<script nonce="${noncePlaceholder}">addEventListener('DOMContentLoaded', () =>
  Scalar.createApiReference('#reference', ${JSON.stringify(configuration)}));</script>`;
  return layOut({ page: reference, styles: referenceStyles, body, listed: false, nonce: noncePlaceholder });
}

const configuration = {
  url: '/openapi.json',
  nonce: noncePlaceholder,
  theme: 'none',
  telemetry: false,
  withDefaultFonts: false,
  defaultOpenAllTags: true,
  hideClientButton: true,
  // The document has samples of its own.
  hiddenClients: true,
  hideDarkModeToggle: true,
  // That of the header finds guides and errors, too.
  hideSearch: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
};

function policy(nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    // Scalar and what it is made of write styles into the page in many places, not all of which know the nonce.
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
