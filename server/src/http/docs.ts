import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { changelogPath, downgrade, openApiDocument } from '@itsm-api/contract/openapi';
import reference from '@scalar/fastify-api-reference';
import type { FastifyInstance } from 'fastify';
import { stringify } from 'yaml';
import { isPage, shareFiles } from './shared-files.ts';

/** The OpenAPI document in its three forms, the reference pages made from it, and the changelog; `/` leads there. */
export async function addDocs(app: FastifyInstance): Promise<void> {
  const document = openApiDocument();
  const yaml = stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 });
  await app.register(async (scope) => {
    shareFiles(scope);
    serveText(scope, '/openapi.json', 'application/json; charset=utf-8', JSON.stringify(document));
    serveText(scope, '/openapi.yaml', 'application/yaml; charset=utf-8', yaml);
    serveText(scope, '/openapi-3.0.json', 'application/json; charset=utf-8', JSON.stringify(downgrade(document)));
    serveText(scope, changelogPath, 'text/plain; charset=utf-8', await readFile(changelog, 'utf8'));
    serveText(scope, '/favicon.ico', 'image/svg+xml', icon);
    scope.get('/', (_request, reply) => reply.redirect('/docs'));
    await scope.register(addReference);
  });
}

const changelog = new URL('../../../docs/changelog.md', import.meta.url);

function serveText(app: FastifyInstance, path: string, type: string, text: string): void {
  app.get(path, (_request, reply) => reply.type(type).send(text));
}

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#2563eb" ' +
  'd="M1 4h14v2.5a1.5 1.5 0 0 0 0 3V12H1V9.5a1.5 1.5 0 0 0 0-3z"/></svg>';

/** Stands in the page where each answer has a nonce of its own. */
const noncePlaceholder = 'NONCE-OF-THIS-ANSWER';

/** Scalar, from this host alone: what it would ask of others is off, and the policy forbids the rest. */
async function addReference(app: FastifyInstance): Promise<void> {
  app.addHook('onSend', async (_request, reply, payload) => {
    if (!isPage(reply)) return payload;
    const nonce = randomBytes(16).toString('base64');
    reply.headers({ 'content-security-policy': policy(nonce), 'referrer-policy': 'no-referrer' });
    return String(payload).replaceAll(noncePlaceholder, nonce);
  });
  await app.register(reference, {
    routePrefix: '/docs',
    logLevel: 'silent',
    configuration: {
      url: '/openapi.json',
      nonce: noncePlaceholder,
      pageTitle: 'ITSM Public API',
      telemetry: false,
      withDefaultFonts: false,
      defaultOpenAllTags: true,
      hideClientButton: true,
      // The document has samples of its own.
      hiddenClients: true,
      showDeveloperTools: 'never',
      agent: { disabled: true },
      mcp: { disabled: true },
    },
  });
}

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
