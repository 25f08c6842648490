import type { FastifyInstance } from 'fastify';
import type { Lifecycle } from '../shared/lifecycle.ts';

/** Asked every second by balancers and supervisors: no line in the log tells of it. */
export const healthPaths = ['/livez', '/readyz'];

/** Says in a word whether the process lives, and whether it wants requests (docs/operations.md). */
export function addHealth(app: FastifyInstance, lifecycle: Lifecycle): void {
  app.get('/livez', (_request, reply) => reply.type('text/plain').send('ok'));
  app.get('/readyz', (_request, reply) => {
    const { phase } = lifecycle;
    reply.type('text/plain');
    return phase === 'ready' ? reply.send('ok') : reply.code(503).send(phase);
  });
}
