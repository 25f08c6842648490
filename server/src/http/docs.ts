import { openApiDocument } from '@itsm-api/contract/openapi';
import reference from '@scalar/fastify-api-reference';
import type { FastifyInstance } from 'fastify';

/** The OpenAPI document, and the reference pages made from it; `/` leads there. */
export async function addDocs(app: FastifyInstance): Promise<void> {
  const document = JSON.stringify(openApiDocument());

  app.get('/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(document));
  app.get('/', (_request, reply) => reply.redirect('/docs'));
  await app.register(reference, {
    routePrefix: '/docs',
    logLevel: 'silent',
    configuration: {
      url: '/openapi.json',
      pageTitle: 'ITSM Public API',
      telemetry: false,
      withDefaultFonts: false,
      hideClientButton: true,
      showDeveloperTools: 'never',
      agent: { disabled: true },
      mcp: { disabled: true },
    },
  });
}
