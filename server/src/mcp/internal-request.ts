import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import inject, { type InjectOptions } from 'light-my-request';

/** Sends a request to an endpoint of the API within the process. Resolves to the response. */
export type InternalRequest = (options: InjectOptions) => Promise<{ headers: OutgoingHttpHeaders; body: unknown }>;

/**
 * Creates the function that sends internal requests. That function gets the response body before the server serializes
 * it, so the response needs no JSON parsing. Call `createInternalRequest` before you register the endpoints and any
 * hook that serializes responses.
 */
export function createInternalRequest(app: FastifyInstance): InternalRequest {
  const bodies = new WeakMap<IncomingMessage, unknown>();

  app.addHook('preSerialization', ({ raw }, _reply, body, done) => {
    if (!bodies.has(raw)) return done(null, body);
    bodies.set(raw, body);
    done(null, null);
  });

  // Doesn't use `app.inject`, because `app.inject` rejects requests during a graceful shutdown. The internal requests
  // of accepted messages must still run.
  const dispatch = (request: IncomingMessage, response: ServerResponse) => {
    bodies.set(request, undefined);
    app.routing(request, response);
  };

  return async (options) => {
    const { headers, raw, json } = await inject(dispatch, options);
    // If the fallback error handler of Fastify responds, the body is already serialized JSON, which must be parsed.
    return { headers, body: bodies.get(raw.req) ?? json() };
  };
}
