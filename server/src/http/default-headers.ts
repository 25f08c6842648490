import { deprecationHeaders } from '@itsm-api/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { requestIdHeader } from './request-id.ts';

/**
 * The headers of every response. They prevent caches from storing the response and browsers from guessing its content
 * type.
 */
const responseHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** The headers of deprecated endpoints, and null for other endpoints. The first request for an endpoint adds them. */
const deprecations = new WeakMap<object, ReturnType<typeof deprecationHeaders> | null>();

function findDeprecation(route: Parameters<typeof deprecationHeaders>[0]) {
  const known = deprecations.get(route);
  if (known !== undefined) return known;
  const found = deprecationHeaders(route) ?? null;
  deprecations.set(route, found);
  return found;
}

/** The header that makes browsers use HTTPS for this host for one year. It doesn't affect subdomains. */
const strictTransport = { 'strict-transport-security': 'max-age=31536000' };

/**
 * Sets the default headers before all other hooks run, so that error responses also have them. Routes for cacheable
 * files override the defaults.
 */
export function addDefaultHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    setDefaultHeaders(request, reply);
    const { tsRestRoute: route } = request.routeOptions.config;
    const deprecation = route && findDeprecation(route);
    if (deprecation) reply.headers(deprecation);
    // Some caches ignore `no-store`. `Vary` prevents them from returning the response to a client with a different API
    // key.
    if (route?.metadata.scope) reply.header('vary', 'Authorization, X-API-Key');
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
