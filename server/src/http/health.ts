import type { FastifyInstance } from 'fastify';
import type { Lifecycle } from '../shared/lifecycle.ts';

/** The paths of the health checks. Load balancers request them every second, so the request log omits them. */
export const healthPaths = ['/livez', '/readyz'];

/**
 * Adds the health checks. `/livez` returns 200 while the process runs. `/readyz` returns 200 if the process accepts
 * requests, otherwise 503 (docs/operations/monitor-and-repair.md).
 */
export function addHealth(app: FastifyInstance, lifecycle: Lifecycle): void {
  app.get('/livez', (_request, reply) => reply.type('text/plain').send('ok'));
  app.get('/readyz', (_request, reply) => {
    const { phase } = lifecycle;
    reply.type('text/plain');
    return phase === 'ready' ? reply.send('ok') : reply.code(503).send(phase);
  });
}
