import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import inject, { type InjectOptions } from 'light-my-request';

/** Sends a request to an API endpoint in this process. Resolves to the response. */
export type InternalRequest = (options: InjectOptions) => Promise<{ headers: OutgoingHttpHeaders; body: unknown }>;

/**
 * Creates a function that sends internal requests. The function gets the response body before the server serializes it,
 * so the body usually doesn't need to be parsed. Call `createInternalRequest` before you register endpoints or hooks
 * that serialize responses.
 */
export function createInternalRequest(app: FastifyInstance): InternalRequest {
  const bodies = new WeakMap<IncomingMessage, unknown>();

  app.addHook('preSerialization', ({ raw }, _reply, body, done) => {
    if (!bodies.has(raw)) return done(null, body);
    bodies.set(raw, body);
    done(null, null);
  });

  // Doesn't use `app.inject`, because it rejects requests during a graceful shutdown. Even then, internal requests for
  // accepted messages must run.
  const dispatch = (request: IncomingMessage, response: ServerResponse) => {
    bodies.set(request, undefined);
    app.routing(request, response);
  };

  return async (options) => {
    const { headers, raw, json } = await inject(dispatch, options);
    // If Fastify's fallback error handler responds, the body is already serialized, so it must be parsed.
    return { headers, body: bodies.get(raw.req) ?? json() };
  };
}
