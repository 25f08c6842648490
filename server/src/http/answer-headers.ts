import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { requestIdHeader } from './request-id.ts';

/** What every answer says of itself, whatever it is: nobody may keep it, and nobody guess what it is. */
export const answerHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** Has browsers use https for this host for a year. Other hosts of the domain decide for themselves. */
const strictTransport = 'max-age=31536000';

/**
 * Sets what every answer carries before anything else is looked at; files that may be kept say so instead.
 * @param publicUrl where browsers find the server
 */
export function addAnswerHeaders(app: FastifyInstance, publicUrl?: string): void {
  app.addHook('onRequest', (request, reply, done) => {
    setAnswerHeaders(request, reply);
    if (publicUrl?.startsWith('https:')) reply.header('strict-transport-security', strictTransport);
    // For whoever keeps answers all the same: that of one key is none of another's.
    if (request.routeOptions.config.tsRestRoute?.metadata.scope) reply.header('vary', 'Authorization, X-API-Key');
    done();
  });
}

export function setAnswerHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.headers({ [requestIdHeader]: request.id, ...answerHeaders });
}
