import { deprecationHeaders } from '@itsm-api/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { requestIdHeader } from './request-id.ts';

/**
 * The headers of every response. They prevent caches from storing the response and browsers from guessing its content
 * type.
 */
const responseHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The headers of a deprecated endpoint. */
    deprecationHeaders?: ReturnType<typeof deprecationHeaders>;
  }
}

/** The header that makes browsers use HTTPS for this host for one year. It doesn't affect subdomains. */
const strictTransport = { 'strict-transport-security': 'max-age=31536000' };

/**
 * Sets the default headers before all other hooks run, so that error responses also have them. Routes for cacheable
 * files override the defaults.
 */
export function addDefaultHeaders(app: FastifyInstance): void {
  app.addHook('onRoute', ({ config }) => {
    if (config?.tsRestRoute !== undefined) config.deprecationHeaders = deprecationHeaders(config.tsRestRoute);
  });
  app.addHook('onRequest', (request, reply, done) => {
    setDefaultHeaders(request, reply);
    const { deprecationHeaders: deprecation } = request.routeOptions.config;
    if (deprecation !== undefined) reply.headers(deprecation);
    // Some caches ignore `no-store`. `Vary` prevents them from returning the response to a client with a different API
    // key.
    if (request.routeOptions.config.tsRestRoute?.metadata.scope) reply.header('vary', 'Authorization, X-API-Key');
    done();
  });
}

export function setDefaultHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.headers(defaultHeadersOf(request.id, request.server.publicUrl));
}

/**
 * Returns the headers of every response.
 * @param publicUrl the URL that browsers use to reach the server
 */
export function defaultHeadersOf(requestId: string, publicUrl: string | undefined): Record<string, string> {
  return { [requestIdHeader]: requestId, ...responseHeaders, ...(publicUrl?.startsWith('https:') && strictTransport) };
}
