import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import inject, { type InjectOptions } from 'light-my-request';

/** Sends a request to an endpoint within the process, and resolves to what it answers. */
export type InternalRequest = (options: InjectOptions) => Promise<{ headers: OutgoingHttpHeaders; body: unknown }>;

/**
 * What is answered is taken before it becomes JSON, which would be read again at once. To be called before the endpoints
 * are registered, and before whatever makes JSON of their answers.
 */
export function internalRequest(app: FastifyInstance): InternalRequest {
  const bodies = new WeakMap<IncomingMessage, unknown>();

  app.addHook('preSerialization', ({ raw }, _reply, body, done) => {
    if (!bodies.has(raw)) return done(null, body);
    bodies.set(raw, body);
    done(null, null);
  });

  // Not `app.inject`, which refuses while the server ends: what has come in is answered.
  const dispatch = (request: IncomingMessage, response: ServerResponse) => {
    bodies.set(request, undefined);
    app.routing(request, response);
  };

  return async (options) => {
    const { headers, raw, json } = await inject(dispatch, options);
    // The last resort of the error handler writes JSON itself.
    return { headers, body: bodies.get(raw.req) ?? json() };
  };
}
