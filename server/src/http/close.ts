import type { FastifyInstance } from 'fastify';

/**
 * Has connections end with the answers that are given while the server closes (RFC 9112 §9.6). Those that are idle then
 * are closed at once; one whose request is under way would stay open for its keep-alive, and the process with it.
 */
export function endConnectionsOnClose(app: FastifyInstance): void {
  let closing = false;
  app.addHook('preClose', (done) => {
    closing = true;
    done();
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (closing) reply.header('connection', 'close');
    done(null, payload);
  });
}
