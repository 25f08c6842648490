import type { FastifyInstance } from 'fastify';
import { healthPaths } from './health.ts';

/**
 * One line per request when it is answered, but for the health of the process. Without the query, headers and body: they
 * may hold keys, secrets and people's data.
 */
export function addRequestLog(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    if (healthPaths.includes(request.routeOptions.url ?? '')) return done();
    request.log.info(
      {
        requestId: request.id,
        method: request.method,
        route: request.routeOptions.url,
        status: reply.statusCode,
        milliseconds: Math.round(reply.elapsedTime),
        tenantId: request.identity?.tenantId.toString(),
        keyId: request.identity?.keyId.toString(),
      },
      'request',
    );
    done();
  });
}
