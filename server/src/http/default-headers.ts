import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { requestIdHeader } from './request-id.ts';

/** Sent with every response: caches must not store it, and browsers must not guess its content type. */
const responseHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** Makes browsers use HTTPS for this host for one year. Other hosts of the domain are not affected. */
const strictTransport = { 'strict-transport-security': 'max-age=31536000' };

/**
 * Sets the default headers before all other hooks, so that error responses also carry them. Cacheable files override
 * them.
 */
export function addDefaultHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    setDefaultHeaders(request, reply);
    // Some caches ignore `no-store`. They must not share responses between API keys.
    if (request.routeOptions.config.tsRestRoute?.metadata.scope) reply.header('vary', 'Authorization, X-API-Key');
    done();
  });
}

export function setDefaultHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.headers(defaultHeadersOf(request.id, request.server.publicUrl));
}

/**
 * Returns the headers that every response carries.
 * @param publicUrl the URL at which browsers reach the server
 */
export function defaultHeadersOf(requestId: string, publicUrl: string | undefined): Record<string, string> {
  return { [requestIdHeader]: requestId, ...responseHeaders, ...(publicUrl?.startsWith('https:') && strictTransport) };
}
