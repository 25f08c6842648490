import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { requestIdHeader } from './request-id.ts';

/** What every answer says of itself, whatever it is: nobody may keep it, and nobody guess what it is. */
const answerHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** Has browsers use https for this host for a year. Other hosts of the domain decide for themselves. */
const strictTransport = { 'strict-transport-security': 'max-age=31536000' };

/** Sets what every answer carries before anything else is looked at; files that may be kept say so instead. */
export function addDefaultHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    setDefaultHeaders(request, reply);
    // For whoever keeps answers all the same: that of one key is none of another's.
    if (request.routeOptions.config.tsRestRoute?.metadata.scope) reply.header('vary', 'Authorization, X-API-Key');
    done();
  });
}

export function setDefaultHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.headers(defaultHeadersOf(request.id, request.server.publicUrl));
}

/**
 * Returns the headers that every response carries.
 * @param publicUrl where browsers find the server
 */
export function defaultHeadersOf(requestId: string, publicUrl: string | undefined): Record<string, string> {
  return { [requestIdHeader]: requestId, ...answerHeaders, ...(publicUrl?.startsWith('https:') && strictTransport) };
}
