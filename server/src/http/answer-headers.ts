import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { requestIdHeader } from './request-id.ts';

/** What every answer says of itself, whatever it is: nobody may keep it, and nobody guess what it is. */
export const answerHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** Sets what every answer carries before anything else is looked at; files that may be kept say so instead. */
export function addAnswerHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    setAnswerHeaders(request, reply);
    // For whoever keeps answers all the same: that of one key is none of another's.
    if (request.routeOptions.config.tsRestRoute?.metadata.scope) reply.header('vary', 'Authorization, X-API-Key');
    done();
  });
}

export function setAnswerHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.headers({ [requestIdHeader]: request.id, ...answerHeaders });
}
